package kalan_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// Invariant 14: a panic and a Goexit free the slot and reach the caller, in
// every mode, in half-open, and while another body is held.
func TestPanicAndGoexitReachTheCaller(t *testing.T) {
	for mode, call := range modes {
		for how, end := range endings {
			if how == "returns" {
				continue
			}
			t.Run(fmt.Sprintf("%s %s", mode, how), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { breakLoose(t, call, how, end) })
			})
		}
	}
}

func breakLoose(t *testing.T, call caller, how string, end func(context.Context) (int, error)) {
	g := guard(t, all(slots(3), tripsAt(1, 10*time.Second, 1)))
	check := func(when string) {
		t.Helper()
		if got := ending(func() { _ = call(context.Background(), g, end) }); got != how {
			t.Errorf("%s: the caller of a function that %s %s", when, how, got)
		}
	}
	check("closed")
	idle(t, g)

	trip(t, g)
	time.Sleep(10 * time.Second)
	for range 5 {
		check("half-open")
		if s := g.Snapshot().Breaker; s.State != breaker.HalfOpen || s.ProbesOut != 0 {
			t.Errorf("after it: %v with %d probes out", s.State, s.ProbesOut)
		}
	}
	if _, err := kalan.Do(t.Context(), g, nothing); err != nil {
		t.Errorf("the probe after them: %v", err)
	}
	state(t, g, breaker.Closed)

	_, held, err := kalan.Hold(t.Context(), g, kalan.Way[int]{}, nothing)
	if err != nil {
		t.Fatal(err)
	}
	check("beside a held body")
	if n := g.Snapshot().InFlight; n != 1 {
		t.Errorf("%d in flight beside a held body", n)
	}
	held.Release(policy.Success)
	idle(t, g)
	admitsExactly(t, g, 3)
}

// Code of the caller's that judges, classifies or discards may have bugs, too.
func TestPanicsInTheCallersOtherCode(t *testing.T) {
	bug := func(int, error) policy.Report { panic("a bug") }
	exit := func(int, error) policy.Report { runtime.Goexit(); return policy.Report{} }
	fail := func(int, error) policy.Report { return policy.Report{Outcome: policy.Failure} }
	for name, test := range map[string]struct {
		way  kalan.Way[int]
		want string
	}{
		"judge panics":   {kalan.Way[int]{Judge: bug}, "panics"},
		"judge exits":    {kalan.Way[int]{Judge: exit}, "exits"},
		"discard panics": {kalan.Way[int]{Judge: fail, Discard: func(int) error { panic("a bug") }}, "panics"},
		"discard exits":  {kalan.Way[int]{Judge: fail, Discard: func(int) error { runtime.Goexit(); return nil }}, "exits"},
	} {
		for _, leave := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, leave %v", name, leave), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := guard(t, all(slots(2), atOnce)) // the next attempt is due when the value is discarded
					test.way.Leave = leave
					for range 10 {
						if got := ending(func() { _ = holding(test.way)(context.Background(), g, nothing) }); got != test.want {
							t.Fatalf("the caller %s", got)
						}
						time.Sleep(20 * time.Second) // the budget's window
					}
					idle(t, g)
					admitsExactly(t, g, 2)
				})
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(slots(2), func(c *kalan.Config) { c.Classify = func(error) policy.Report { panic("a bug") } }))
		if got := ending(func() { _, _ = kalan.Do(context.Background(), g, nothing) }); got != "panics" {
			t.Errorf("classify panics: the caller %s", got)
		}
		idle(t, g)
	})
}

// Once its caller has left, a panic has nobody to reach. It must not take the
// process down, and it is counted.
func TestAPanicAfterTheCallerHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, once)
		for _, end := range endings {
			_, _, err := kalan.Hold(t.Context(), g, kalan.Way[int]{Leave: true}, func(ctx context.Context) (int, error) {
				time.Sleep(time.Minute)
				return end(ctx)
			})
			if !errors.Is(err, policy.Timeout) {
				t.Errorf("%v", err)
			}
			time.Sleep(time.Hour)
		}
		if n := g.Snapshot().Panics; n != 1 {
			t.Errorf("%d panics counted, there was one", n)
		}
		idle(t, g)
	})
}

// A waiter is told of the slot that a panic frees.
func TestAPanicWakesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, slots(1))
		go ending(func() {
			_, _ = kalan.Do(context.Background(), g, func(context.Context) (int, error) {
				time.Sleep(20 * ms)
				panic("a bug")
			})
		})
		synctest.Wait()
		start := time.Now()
		if _, err := kalan.Do(t.Context(), g, nothing); err != nil || time.Since(start) != 20*ms {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}
