package kalan_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
)

// generous is a budget that never binds.
var generous = budget.Config{Ratio: 1e6}

func retrying(r retry.Config, b budget.Config) func(*kalan.Config) {
	return func(c *kalan.Config) { c.Retry, c.Budget, c.Breaker.Calls = r, b, 1<<20 }
}

// O-13 (a): a thousand calls fail together, and back off together. The retries
// that are waiting hold their budget.
func TestRetriesInBackoffHoldTheirBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(slots(1000), retrying(
			retry.Config{Base: time.Second, Jitter: retry.Constant}, budget.Config{Ratio: .2, Floor: -1})))
		var first, retries atomic.Int32
		together(1000, func(int) {
			_, _ = kalan.Do(t.Context(), g, func(ctx context.Context) (int, error) {
				if kalan.AttemptOf(ctx).Number > 1 {
					retries.Add(1)
				} else {
					first.Add(1)
				}
				time.Sleep(ms)
				return 0, errDown
			})
		})
		if n := retries.Load(); first.Load() != 1000 || n > 200 || n < 190 {
			t.Errorf("%d retries of %d calls, at most 200 are allowed", n, first.Load())
		}
		idle(t, g)
	})
}

// O-13 (b): with a budget of 100 % every call that fails has its one retry.
func TestABudgetOfAllGivesEachItsRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, retrying(retry.Config{}, budget.Config{Ratio: 1, Floor: -1}))
		for range 100 {
			runs := 0
			_, err := kalan.Do(t.Context(), g, func(context.Context) (int, error) { runs++; return 0, errDown })
			if runs != 2 || !errors.Is(err, errDown) {
				t.Fatalf("%d runs, %v", runs, err)
			}
		}
	})
}

// O-15: a sleep that cannot fit is not slept, and both causes are found.
func TestNoSleepBeyondTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, retrying(retry.Config{Base: 600 * time.Second, Jitter: retry.Constant}, generous))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Second)
		defer cancel()
		start := time.Now()
		_, err := kalan.Do(ctx, g, fails)
		if took := time.Since(start); took != 0 {
			t.Errorf("slept %v for a retry that cannot run", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, policy.Expired) || !errors.Is(err, errDown) {
			t.Errorf("%v: want the deadline and the real error", err)
		}
	})
}

// O-15: the total time ends the retries, however many are allowed.
func TestRetriesEndWithTheTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, retrying(retry.Config{Attempts: 1 << 30, Base: 100 * ms, Factor: 1, Jitter: retry.Constant}, generous))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start, runs := time.Now(), 0
		_, err := kalan.Do(ctx, g, func(context.Context) (int, error) { runs++; return 0, errDown })
		if took := time.Since(start); took < 4900*ms || took > 5*time.Second || runs != 50 {
			t.Errorf("ended after %v and %d runs, want about 5s and 50", took, runs)
		}
		if !errors.Is(err, errDown) {
			t.Errorf("the real error is lost: %v", err)
		}
	})
}

// The retry that the budget refuses leaves the real error, whole.
func TestTheRealErrorSurvivesTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, retrying(retry.Config{Attempts: 5, Jitter: retry.AtOnce}, budget.Config{Ratio: 1e-9, Floor: -1}))
		_, _ = kalan.Do(t.Context(), g, fails) // the first of all has one retry
		runs := 0
		_, err := kalan.Do(t.Context(), g, func(context.Context) (int, error) { runs++; return 0, errDown })
		if runs != 1 || err != error(errDown) {
			t.Errorf("%d runs, %v; want the one attempt's own error", runs, err)
		}
	})
}

// The last attempt's own limit passed: a Rejection that is also the context's
// error, with what the function made of it as the cause.
func TestATimeoutSaysSo(t *testing.T) {
	for name, call := range modes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := guard(t, once)
				start := time.Now()
				err := call(t.Context(), g, obeys(time.Hour))
				var r *kalan.Rejection
				if took := time.Since(start); took != 800*ms || !errors.As(err, &r) || r.Reason != policy.Timeout || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after %v: %v", took, err)
				}
				time.Sleep(time.Second)
				idle(t, g)
			})
		})
	}
}

// A failure at the very instant of the caller's deadline is the caller's, in
// whatever order the timers fire: it says nothing about the dependency.
func TestAFailureAtTheDeadlineIsTheCallers(t *testing.T) {
	for name, call := range modes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := guard(t, all(atOnce, func(c *kalan.Config) { c.Breaker.Mode = breaker.Disabled }))
				for range 200 {
					ctx, cancel := context.WithTimeout(context.Background(), 100*ms)
					err := call(ctx, g, func(ctx context.Context) (int, error) {
						if kalan.AttemptOf(ctx).Number > 1 {
							<-ctx.Done()
							return 0, ctx.Err()
						}
						time.Sleep(100 * ms)
						return 0, errDown
					})
					if !errors.Is(err, policy.Expired) || !errors.Is(err, context.DeadlineExceeded) {
						t.Fatal(err)
					}
					cancel()
					time.Sleep(time.Second)
				}
				if o := g.Snapshot().Counts.Outcomes; o[policy.Failure] != 0 && name != "flight" {
					t.Errorf("outcomes %v", o)
				}
				idle(t, g)
			})
		})
	}
}

// A caller whose retries another layer owns gets its error at once (F20).
func TestOnceIsNotRetried(t *testing.T) {
	for _, leave := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := guard(t, nil)
			way := kalan.Way[int]{Leave: leave, Ask: kalan.Ask{Once: true}}
			var runs atomic.Int32
			_, _, err := kalan.Hold(t.Context(), g, way, func(context.Context) (int, error) {
				runs.Add(1)
				return 0, errDown
			})
			if runs.Load() != 1 || err != error(errDown) {
				t.Errorf("leave %v: %d runs, %v", leave, runs.Load(), err)
			}
			idle(t, g)
		})
	}
}

// The same, as the request says that the call is made for.
func TestARequestThatIsRepeatedElsewhereIsNotRepeatedHere(t *testing.T) {
	for name, c := range map[string]struct {
		asked carry.Asked[kalan.Ask]
		runs  int
	}{
		"nobody repeats":   {carry.Asked[kalan.Ask]{Ask: kalan.Ask{Level: 1}}, 2},
		"an owner":         {carry.Asked[kalan.Ask]{Owner: "edge"}, 1},
		"it may run once":  {carry.Asked[kalan.Ask]{Ask: kalan.Ask{Once: true}}, 1},
		"nothing is asked": {carry.Asked[kalan.Ask]{}, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, runs := guard(t, nil), 0
			_, err := kalan.Do(carry.With(t.Context(), c.asked), g, func(context.Context) (int, error) {
				runs++
				return 0, errDown
			})
			if runs != c.runs || err != error(errDown) {
				t.Errorf("%s: %d runs, %v", name, runs, err)
			}
			idle(t, g)
		})
	}
}

// A refusal is never retried (F19), spends nothing, and says when to come back.
func TestARefusalEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(slots(1), tripsAt(1, 10*time.Second, 1), func(c *kalan.Config) { c.Name = "bridge-b" }))
		go func() { _, _ = kalan.Do(t.Context(), g, takes(100*ms)) }()
		synctest.Wait()
		_, err := kalan.Do(t.Context(), g, nothing)
		var r *kalan.Rejection
		if !errors.As(err, &r) || r.Reason != policy.Waited || r.Guard != "bridge-b" || r.RetryAfter < 2*time.Second || r.RetryAfter > 5*time.Second {
			t.Errorf("%+v", r)
		}
		time.Sleep(100 * ms)
		ctx := context.Background()
		_, err = kalan.Do(ctx, g, func(context.Context) (int, error) { return 0, errDown }) // opens, and its retry finds it open
		if !errors.As(err, &r) || r.Reason != policy.Open || !errors.Is(err, errDown) {
			t.Errorf("%v: want open, with what had happened before", err)
		}
		if r.RetryAfter <= 0 || r.RetryAfter > 10*time.Second {
			t.Errorf("come back in %v, of an open time of 10s", r.RetryAfter)
		}
		s := g.Snapshot()
		if s.Counts.Started != 2 || s.Budget.Extra != 0 || s.Budget.Calls != 2 {
			t.Errorf("%d started, %d retries and %d calls in the budget", s.Counts.Started, s.Budget.Extra, s.Budget.Calls)
		}
	})
}

// A caller that is gone before it came starts nothing, and learns why.
func TestACallerWhoIsGoneAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, nil)
		cause := errors.New("the user closed the page")
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		late, stop := context.WithTimeout(t.Context(), -1)
		defer stop()
		for name, call := range modes {
			run := func(context.Context) (int, error) { t.Errorf("%s: ran", name); return 0, nil }
			if err := call(gone, g, run); !errors.Is(err, policy.Gone) || !errors.Is(err, cause) {
				t.Errorf("%s, cancelled: %v", name, err)
			}
			if err := call(late, g, run); !errors.Is(err, policy.Expired) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, too late: %v", name, err)
			}
		}
		if s := g.Snapshot(); s.Counts.Started != 0 || s.Budget.Calls != 0 {
			t.Errorf("%+v", s)
		}
	})
}
