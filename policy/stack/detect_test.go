package stack_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// The setting in which a hang is looked for: 25 slots, an exchange of 800 ms,
// slow from 400 ms on, and a window full of healthy traffic before anything
// happens.
const (
	exchange = 800 * ms
	healthy  = policy.Instant(time.Minute)
	forever  = time.Duration(math.MaxInt64)
)

func standing() stack.Config {
	return stack.Config{Exchange: exchange, Limit: limit.Fixed(25)}
}

// normal service takes 20 ms on average and 300 ms at most.
func normal(_ policy.Instant, u float64) reply {
	return reply{took: min(time.Duration(-math.Log(1-u)*float64(20*ms)), 300*ms), outcome: policy.Success}
}

// between lets the dependency answer with bad from one instant to another.
func between(from, to policy.Instant, bad reply) func(policy.Instant, float64) reply {
	return func(now policy.Instant, u float64) reply {
		if now >= from && now < to {
			return bad
		}
		return normal(now, u)
	}
}

var (
	hang    = reply{took: forever}
	grey    = reply{took: 5 * time.Second, outcome: policy.Success} // no error, and useless (F25)
	drip    = reply{headers: 5 * ms, took: forever, outcome: policy.Success}
	refused = reply{took: ms, outcome: policy.Failure}
)

// TestAHangIsSeenInTwoSeconds also holds the callers with tight deadlines: they
// are gone before anything is slow, and must not hide it.
func TestAHangIsSeenInTwoSeconds(t *testing.T) {
	for name, bad := range map[string]reply{"hang": hang, "grey": grey, "drip": drip, "refused": refused} {
		for _, patience := range []time.Duration{0, 300 * ms} {
			for _, stops := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, callers leave after %v, it stops then: %v", name, patience, stops), func(t *testing.T) {
					for _, perSecond := range []float64{20, 50, 100, 200} {
						detect(t, bad, perSecond, patience, stops)
					}
				})
			}
		}
	}
}

func detect(t *testing.T, bad reply, perSecond float64, patience time.Duration, stops bool) {
	for seed := range often(4) {
		cfg := standing()
		if seed%2 == 1 { // also with a limit that finds itself, and that the hang brings down
			cfg.Limit = limit.Config{}
		}
		cfg.Cancels = stops
		w := newWorld(cfg, perSecond, seed, between(healthy, policy.Never, bad))
		w.patience = patience
		w.run(healthy.Add(time.Minute), 1)
		if len(w.opened) == 0 {
			t.Fatalf("%v a second, seed %d: did not open", perSecond, seed)
		}
		if after := w.opened[0].Sub(healthy); after < 1500*ms || after > 2600*ms {
			t.Errorf("%v a second, seed %d: opened after %v", perSecond, seed, after)
		}
	}
}

// What is short or nobody's fault opens nothing.
func TestWhatMustNotOpen(t *testing.T) {
	pause := func(at policy.Instant) policy.Instant {
		if at >= healthy && at < healthy.Add(1500*ms) {
			return healthy.Add(1500 * ms)
		}
		return at
	}
	for name, change := range map[string]func(w *world){
		"a blip of one second":       func(w *world) { w.answer = between(healthy, healthy.Add(time.Second), hang) },
		"a restart of one second":    func(w *world) { w.answer = between(healthy, healthy.Add(time.Second), refused) },
		"a drip of one second":       func(w *world) { w.answer = between(healthy, healthy.Add(time.Second), drip) },
		"a pause of the driver":      func(w *world) { w.late = pause },
		"callers that cancel (O-07)": func(w *world) { w.patience, w.cancelled = 5*ms, true },
		"one that stops with them":   func(w *world) { w.patience, w.cancelled, w.stops = 5*ms, true, true },
	} {
		t.Run(name, func(t *testing.T) {
			for _, perSecond := range []float64{20, 50, 100, 200} {
				for seed := range often(2) {
					cfg := standing()
					w := newWorld(cfg, perSecond, seed, normal)
					change(w)
					w.run(healthy.Add(time.Minute), 1)
					if len(w.opened) > 0 {
						t.Errorf("%v a second, seed %d: opened at %v", perSecond, seed, w.opened[0].Sub(healthy))
					}
				}
			}
		})
	}
}

// Ghosts hold every slot, and the dependency is well again for whoever comes
// new: the reserved slot lets the breaker find out.
func TestGhostsDoNotKeepABreakerOpen(t *testing.T) {
	w := ghostTown()
	w.answer = func(now policy.Instant, u float64) reply {
		if now >= healthy && len(w.opened) == 0 {
			return hang
		}
		return normal(now, u)
	}
	w.run(policy.Never, 1)
	probing := w.opened[0].Add(time.Second)
	w.run(probing, math.MaxInt)
	if shot := w.s.Snapshot(probing); shot.Breaker.State != breaker.HalfOpen || shot.Kept < shot.Limit {
		t.Fatalf("when it probes: %v with %d kept", shot.Breaker.State, shot.Kept)
	}
	w.run(probing.Add(time.Second), math.MaxInt)
	if shot := w.s.Snapshot(probing.Add(time.Second)); shot.Breaker.State != breaker.Closed || shot.Kept < 20 {
		t.Errorf("one second later: %v with %d kept", shot.Breaker.State, shot.Kept)
	}
}

// A probe that hangs holds the reserve itself, but not longer than its bound.
func TestAHangingProbeGivesTheReserveBack(t *testing.T) {
	w := ghostTown()
	well := healthy.Add(time.Minute)
	w.answer = between(healthy, well, hang)
	w.run(well, math.MaxInt)
	if shot := w.s.Snapshot(well); shot.Breaker.State == breaker.Closed {
		t.Fatal("a dependency that hangs for a minute, and the breaker is closed")
	}
	w.run(well.Add(6*time.Second), math.MaxInt)
	if shot := w.s.Snapshot(well.Add(6 * time.Second)); shot.Breaker.State != breaker.Closed || shot.Kept > 0 {
		t.Errorf("six seconds after it is well: %v with %d kept", shot.Breaker.State, shot.Kept)
	}
}

// ghostTown is a world whose callers leave long before an attempt ends, without
// a deadline that would keep them out when ghosts are what there is to expect,
// and whose breaker probes while the attempts that opened it still hold their slots.
func ghostTown() *world {
	cfg := standing()
	cfg.Exchange, cfg.Breaker.Slow, cfg.Breaker.Open = 3*time.Second, 400*ms, time.Second
	w := newWorld(cfg, 100, 1, normal)
	w.patience, w.cancelled = 300*ms, true
	return w
}

// A ghost whose caller had 300 ms counts when it passes 400, and is cut off one
// expected service time after the exchange limit; until then it has its slot.
func TestAGhostIsBounded(t *testing.T) {
	w := newWorld(standing(), 20, 1, between(healthy, policy.Never, hang))
	w.patience = 300 * ms
	w.run(healthy.Add(700*ms), 1)
	shot := w.s.Snapshot(healthy.Add(700 * ms))
	if shot.Kept < 5 || shot.Kept != int(shot.Counts.Left) {
		t.Errorf("after 700 ms %d slots are kept, %d callers have left", shot.Kept, shot.Counts.Left)
	}
	if shot.Breaker.Slow < 3 || shot.Breaker.Slow >= shot.Kept {
		t.Errorf("of %d ghosts %d are past the slow threshold after 700 ms", shot.Kept, shot.Breaker.Slow)
	}
	w.run(healthy.Add(20*time.Second), 1)
	end := w.opened[0].Add(exchange + 2*shot.Mean)
	w.run(end, 2)
	if shot := w.s.Snapshot(end); shot.Kept != 0 || shot.Counts.Presumed < 10 {
		t.Errorf("%v after nothing has started: %d kept, %d presumed dead", end.Sub(w.opened[0]), shot.Kept, shot.Counts.Presumed)
	}
}

// Where the dependency stops with its caller, deadlines far below the usual
// time say nothing, however many they are: snapshot and doc say that such
// callers are blind.
func TestHastyCallersAreBlindWhereItStops(t *testing.T) {
	cfg := standing()
	cfg.Cancels = true
	steady := func(policy.Instant, float64) reply { return reply{took: 100 * ms, outcome: policy.Success} }
	w := newWorld(cfg, 50, 1, steady)
	w.run(healthy, 1)
	w.patience = 90 * ms
	w.run(healthy.Add(time.Minute), 1)
	if len(w.opened) > 0 {
		t.Errorf("opened %v after callers had become hasty", w.opened[0].Sub(healthy))
	}
	w.patience, w.answer = 210*ms, between(0, policy.Never, hang)
	w.run(healthy.Add(2*time.Minute), 1)
	if len(w.opened) == 0 {
		t.Error("callers that wait twice the usual time do not see a hang")
	}
}

// What is left of the retry budget's floor once hardly anything succeeds.
func TestTheFloorOfTheBudgetGoesWithTheDependency(t *testing.T) {
	cfg := standing()
	cfg.Breaker.Calls = 1 << 20 // this is about the budget alone
	w := newWorld(cfg, 1, 1, between(healthy, policy.Never, refused))
	w.run(healthy.Add(10*time.Second), 1)
	before := w.s.Snapshot(healthy.Add(10 * time.Second)).Counts.Retries
	w.run(healthy.Add(time.Minute), 1)
	after := w.s.Snapshot(healthy.Add(time.Minute))
	if after.Budget.Floor || after.Counts.Retries-before > 10 {
		t.Errorf("%d retries in 50 s of failing, 50 calls and a budget of 10 %%; floor: %v",
			after.Counts.Retries-before, after.Budget.Floor)
	}
}
