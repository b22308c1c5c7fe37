package kalan_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// trip opens g's breaker, which must be set to open at one failure.
func trip(t *testing.T, g *kalan.Guard) {
	t.Helper()
	_, _ = kalan.Do(t.Context(), g, fails)
	state(t, g, breaker.Open)
}

func state(t *testing.T, g *kalan.Guard, want breaker.State) {
	t.Helper()
	if s := g.Snapshot().Breaker; s.State != want {
		t.Errorf("the breaker is %v with %d probes out, want %v", s.State, s.ProbesOut, want)
	}
}

// O-01: probes that end with an error that says nothing give their places back.
func TestIgnoredProbesGiveTheirPlacesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(once, tripsAt(1, 10*time.Second, 3)))
		trip(t, g)
		time.Sleep(10 * time.Second)
		for range 3 {
			_, err := kalan.Do(t.Context(), g, func(context.Context) (int, error) { return 0, errBusiness })
			if !errors.Is(err, errBusiness) {
				t.Errorf("a probe with a business error: %v", err)
			}
		}
		if s := g.Snapshot().Breaker; s.State != breaker.HalfOpen || s.ProbesOut != 0 || s.ProbesCounted != 0 {
			t.Errorf("%v, %d probes out, %d counted", s.State, s.ProbesOut, s.ProbesCounted)
		}
		for range 3 {
			if _, err := kalan.Do(t.Context(), g, nothing); err != nil {
				t.Errorf("a good call after three that said nothing: %v", err)
			}
		}
		state(t, g, breaker.Closed)
	})
}

// O-04: what was begun before the trip decides nothing after it.
func TestLateResultsOfAnOlderState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(once, tripsAt(5, time.Second, 1), func(c *kalan.Config) { c.Exchange = 20 * time.Second }))
		late := make(chan error)
		go func() { // begun at 0, back at 2.8 s
			_, err := kalan.Do(context.Background(), g, takes(2800*ms))
			late <- err
		}()
		time.Sleep(time.Second)
		for range 5 {
			_, _ = kalan.Do(t.Context(), g, fails)
		}
		state(t, g, breaker.Open)
		time.Sleep(1500 * ms) // 2.5 s
		probe := make(chan error)
		go func() {
			_, err := kalan.Do(context.Background(), g, func(context.Context) (int, error) {
				time.Sleep(500 * ms)
				return 0, errDown
			})
			probe <- err
		}()
		if err := <-late; err != nil {
			t.Errorf("the slow call of old: %v", err)
		}
		state(t, g, breaker.HalfOpen)
		<-probe
		state(t, g, breaker.Open)
	})
}

// O-05: a thousand callers at the instant at which one probe may pass.
func TestHalfOpenLetsOnePass(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(once, tripsAt(1, 10*time.Second, 1)))
		for range rounds {
			trip(t, g)
			time.Sleep(10 * time.Second)
			var hits, refused atomic.Int32
			together(1000, func(int) {
				_, err := kalan.Do(context.Background(), g, func(context.Context) (int, error) {
					hits.Add(1)
					time.Sleep(100 * ms)
					return 0, nil
				})
				if errors.Is(err, policy.Open) {
					refused.Add(1)
				}
			})
			if hits.Load() != 1 || refused.Load() != 999 {
				t.Fatalf("%d reached the backend, %d were refused", hits.Load(), refused.Load())
			}
			state(t, g, breaker.Closed)
		}
		idle(t, g)
	})
}

// O-06: what the breaker refused is in no window, and does not keep it open.
func TestRefusalsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window, open = 10 * time.Second, time.Second
		g := guard(t, all(once, tripsAt(20, open, 5), func(c *kalan.Config) { c.Breaker.Window, c.Rate = window, 0 }))
		start, admitted, offered := time.Now(), 0, 0
		backend := func(context.Context) (int, error) {
			if time.Since(start) < 10*time.Second {
				return 0, errDown
			}
			return 1, nil
		}
		for range 12000 { // 100 a second for two minutes
			_, err := kalan.Do(t.Context(), g, backend)
			if time.Since(start) >= 10*time.Second+open+window {
				if offered++; err == nil {
					admitted++
				}
			}
			time.Sleep(10 * ms)
		}
		s := g.Snapshot()
		if admitted != offered || s.Breaker.Failures != 0 {
			t.Errorf("%d of %d admitted after the recovery, %d failures in the window", admitted, offered, s.Breaker.Failures)
		}
		if failed := s.Counts.Outcomes[policy.Failure]; failed > 100 || s.Counts.Refused[policy.Open] < 800 {
			t.Errorf("%d failures and %d refusals in ten seconds of a dead backend", failed, s.Counts.Refused[policy.Open])
		}
	})
}

// caller is a way to call that forgets the value.
type caller func(context.Context, *kalan.Guard, func(context.Context) (int, error)) error

// modes are the ways to run a function behind a guard.
var modes = map[string]caller{
	"do": func(ctx context.Context, g *kalan.Guard, f func(context.Context) (int, error)) error {
		_, err := kalan.Do(ctx, g, f)
		return err
	},
	"inline": holding(kalan.Way[int]{}),
	"flight": holding(kalan.Way[int]{Leave: true}),
}

// holding holds and releases at once.
func holding(way kalan.Way[int]) caller {
	return func(ctx context.Context, g *kalan.Guard, f func(context.Context) (int, error)) error {
		_, held, err := kalan.Hold(ctx, g, way, f)
		held.Release(policy.Success)
		return err
	}
}

// O-07: callers that cancel, whatever the function makes of it, in every mode.
func TestCancellationsNeverOpen(t *testing.T) {
	for _, cancels := range []bool{false, true} {
		for name, call := range modes {
			t.Run(fmt.Sprintf("%s, the dependency stops: %v", name, cancels), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { cancelAll(t, cancels, name == "flight" && !cancels, call) })
			})
		}
	}
}

// cancelAll cancels a hundred calls and then a probe; runsOn says that an attempt
// whose caller has left goes on.
func cancelAll(t *testing.T, cancels, runsOn bool, call caller) {
	g := guard(t, all(once, tripsAt(5, time.Second, 1), slots(200), func(c *kalan.Config) { c.Cancels, c.Breaker.Window = cancels, 10*time.Second }))
	cancelled := func(i int) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(5*ms, cancel)
		err := call(ctx, g, func(ctx context.Context) (int, error) {
			if _, err := obeys(100 * ms)(ctx); err != nil && i%2 == 0 {
				return 0, errDown // a driver that hides the cause
			} else if err != nil {
				return 0, err
			}
			return 1, nil
		})
		if !errors.Is(err, policy.Gone) || !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call: %v", err)
		}
	}
	together(100, cancelled)
	time.Sleep(time.Second)
	s := g.Snapshot()
	if s.Breaker.State != breaker.Closed || s.Breaker.Failures != 0 || s.Breaker.Slow != 0 || s.Counts.Outcomes[policy.Failure] != 0 {
		t.Errorf("%+v", s.Breaker)
	}
	for n := 0; n < 500 && g.Snapshot().Breaker.State != breaker.Open; n++ {
		_, _ = kalan.Do(t.Context(), g, fails)
	}
	time.Sleep(time.Second)
	cancelled(0)
	time.Sleep(ms)
	out := 0
	if runsOn {
		out = 1
	}
	if s := g.Snapshot().Breaker; s.State != breaker.HalfOpen || s.ProbesOut != out || s.ProbesCounted != 0 {
		t.Errorf("after a cancelled probe: %v with %d out, want half-open with %d", s.State, s.ProbesOut, out)
	}
	time.Sleep(time.Second)
	idle(t, g)
}

// F18, F26: half-open is reached, and told of, without a call.
func TestHalfOpenIsSeenWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(once, tripsAt(1, 10*time.Second, 1)))
		trip(t, g)
		time.Sleep(10 * time.Second)
		state(t, g, breaker.HalfOpen) // at once, by whoever reads
		time.Sleep(time.Second)
		events, _ := g.Events(0, nil)
		last := events[len(events)-1]
		if last.Kind != policy.Moved || breaker.State(last.Count) != breaker.HalfOpen {
			t.Fatalf("the last event is %v", last)
		}
		if late := last.At.Sub(events[0].At) - 10*time.Second; late < 0 || late > time.Second {
			t.Errorf("announced %v after it was due", late)
		}
	})
}

// A hang with no further traffic is seen all the same, within two looks of the
// slow threshold.
func TestAHangIsSeenWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, once)
		for range 20 {
			go func() { _, _, _ = kalan.Hold(t.Context(), g, kalan.Way[int]{Leave: true}, takes(5*time.Second)) }()
		}
		time.Sleep(2 * time.Second)
		if s := g.Snapshot().Breaker; s.Slow != 20 || s.Score != 20 {
			t.Errorf("%d slow, score %d after two seconds of hanging", s.Slow, s.Score)
		}
		time.Sleep(4 * time.Second)
		idle(t, g)
	})
}

// After a night without a call everything reads as it is now.
func TestStateAfterIdleIsNotStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(once, tripsAt(20, 10*time.Second, 1)))
		for range 10 {
			_, _ = kalan.Do(t.Context(), g, fails)
		}
		if s := g.Snapshot(); s.Breaker.Failures != 10 || s.Budget.Calls != 10 {
			t.Errorf("%+v", s)
		}
		time.Sleep(12 * time.Hour)
		if s := g.Snapshot(); s.Breaker.Failures != 0 || s.Breaker.Score != 0 || s.Budget.Calls != 0 || s.Budget.Extra != 0 {
			t.Errorf("twelve hours later: %+v", s)
		}
	})
}
