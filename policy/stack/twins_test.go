package stack_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// twins walks twice by the same dice, changes the second walk, and holds it to
// the log of the first: every step, instant and reason.
func twins(t *testing.T, change func(w *walk, own dice)) {
	for seed := range often(100) {
		plain, changed := twin(t, seed), twin(t, seed)
		change(changed, rand.New(rand.NewPCG(seed, 2)).IntN)
		for range 400 {
			plain.step()
			changed.step()
			if n := len(plain.log); !slices.Equal(plain.log[max(0, n-8):], changed.log[max(0, len(changed.log)-8):]) {
				changed.fail("seed %d: the first walk ends with\n%q\nand this one differs", seed, plain.log[max(0, n-8):])
			}
		}
		plain.finish()
		changed.finish()
	}
}

// twin returns a walk without a ramp and a throttle and with a fixed limit: a call
// that the ramp refuses has earned the next one its place, one that the throttle
// refuses was asked for, and a limit that adapts learns from what it turns away.
// Nothing else may know of a refusal.
func twin(t *testing.T, seed uint64) *walk {
	w := newWalk(t, rand.New(rand.NewPCG(seed, 1)).IntN)
	w.cfg.Breaker.Ramp, w.cfg.Throttle, w.still, w.cfg.Observe = 0, nil, true, false
	w.cfg.Limit = limit.Fixed(max(w.cfg.Limit.Max, 1))
	w.s = stack.New(w.cfg)
	return w
}

// Invariant 11: a smaller now equals the last one, and results depend on
// configuration, verbs, times and seeds alone.
func TestBackwardsTimeIsNothingElapsed(t *testing.T) {
	twins(t, func(w *walk, _ dice) { w.clamp = true })
}

// Nothing depends on how often somebody looks.
func TestLookingChangesNothing(t *testing.T) {
	twins(t, func(w *walk, own dice) {
		w.aside = func(w *walk, to policy.Instant) {
			for range own(3) {
				ahead := int(max(to.Sub(w.s.Now()), 0)/time.Microsecond) + 1
				w.s.Look(min(w.s.Now().Add(time.Duration(own(ahead))*time.Microsecond), max(to, w.s.Now())))
				w.check()
			}
		}
	})
}

// Invariants 3 and 7: calls that are refused or leave before they start are as
// if they had never been, for everybody else and for all time.
func TestRefusedCallsHaveNeverBeen(t *testing.T) {
	twins(t, func(w *walk, own dice) {
		w.aside = func(w *walk, _ policy.Instant) {
			for range own(4) {
				w.guest(own)
			}
		}
	})
}

// guest makes a call that does not start.
func (w *walk) guest(own dice) {
	g := &caller{call: stack.Call{Ask: stack.Ask{Deadline: policy.Never, Seed: uint64(own(1000))}}}
	if own(3) == 0 {
		g.call.Ask.Deadline = w.s.Now()
	}
	w.s.Look(w.now)
	w.s.Begin(w.now, &g.call)
	if g.call.Ask.Deadline != policy.Never || w.crowded() {
		if step := w.s.Next(w.now, &g.call); step.Kind == stack.Start {
			w.fail("a guest started")
		}
	}
	w.s.Cancel(w.now, &g.call)
	if step := w.s.Next(w.now, &g.call); step.Kind != stack.Done || g.call.Attempts() != 0 {
		w.fail("a guest stays")
	}
	w.check()
}

// crowded reports whether a call that comes now is certain not to start, and
// not to push anybody out of the room.
func (w *walk) crowded() bool {
	shot := w.s.Snapshot(w.now)
	return shot.InFlight >= shot.Limit && (shot.Breaker.State == 0 || w.s.Reserved()) &&
		(w.cfg.Checkout < 0 || shot.Waiting < w.cfg.Room.Waiting)
}
