package stack_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// Hundreds of seeds, thousands of verbs: every one is followed by the checks of
// check_test.go.
func TestWalk(t *testing.T) {
	for seed := range often(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWalk(t, random.IntN)
		for range 600 {
			w.step()
		}
		w.finish()
	}
}

// often is n, or a part of it where only a glance is wanted, or where the race
// detector slows down a machine that has no goroutine to race with.
func often(n uint64) uint64 {
	switch {
	case underRace:
		return max(n/16, 1)
	case testing.Short():
		return max(n/4, 1)
	}
	return n
}

// A waiter is granted its slot and leaves before the driver has unlocked: its
// wake-up goes with it, and the next one has the slot.
func TestAGrantThatIsLeftAtOnce(t *testing.T) {
	s := stack.New(stack.Config{Limit: limit.Fixed(1)})
	var calls [3]stack.Call
	var steps [3]stack.Step
	for i := range calls {
		calls[i].Ask.Deadline = policy.Never
		s.Begin(0, &calls[i])
		steps[i] = s.Next(0, &calls[i])
	}
	s.Settle(1, &calls[0], steps[0].Ticket, policy.Report{Outcome: policy.Success})
	s.Cancel(1, &calls[1])
	if woken, ok := s.Woken(); !ok || woken != steps[2].Ticket {
		t.Errorf("woken is %v, want the third's %v", woken, steps[2].Ticket)
	}
	if woken, ok := s.Woken(); ok || s.Tangled(false) != "" {
		t.Errorf("and then %v; %s", woken, s.Tangled(false))
	}
}

// The same walk under rapid, which shortens what it finds.
func TestWalkShortened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "roll") }
		w := newWalk(t, draw)
		for range rapid.IntRange(0, 80).Draw(t, "verbs") {
			w.step()
		}
		w.finish()
	})
}

// Bytes to verbs.
func FuzzWalk(f *testing.F) {
	f.Add([]byte("nobody waits while a slot is free"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 4000 {
			t.Skip("a longer script says nothing new")
		}
		next := 0
		roll := func(n int) int {
			if next >= len(script) {
				return 0
			}
			next++
			return int(script[next-1]) * n >> 8
		}
		w := newWalk(t, roll)
		for next < len(script) {
			w.step()
		}
		w.finish()
	})
}
