package kalan_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/retry"
)

func stops(c *kalan.Config) { c.Cancels = true }

var leave = kalan.Way[int]{Leave: true}

// Invariant 13: the caller is back at its own end, to the instant, whatever the
// function does; the slot stays until the function returns.
func TestTheCallerLeavesOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, nil)
		for _, by := range []policy.Reason{policy.Expired, policy.Gone, policy.Timeout} {
			ctx, cancel := context.WithCancel(t.Context())
			want := 300 * ms
			switch by {
			case policy.Expired:
				ctx, cancel = context.WithTimeout(t.Context(), 300*ms)
			case policy.Gone:
				time.AfterFunc(300*ms, cancel)
			case policy.Timeout:
				want = 800 * ms
			}
			start := time.Now()
			_, _, err := kalan.Hold(ctx, g, kalan.Way[int]{Leave: true, Ask: kalan.Ask{Once: true}}, takes(5*time.Second))
			if took := time.Since(start); took != want || !errors.Is(err, by) {
				t.Errorf("%v: back after %v with %v", by, took, err)
			}
			cancel()
			if s := g.Snapshot(); s.Kept != 1 {
				t.Errorf("%v: %d kept", by, s.Kept)
			}
			time.Sleep(5*time.Second - want - ms)
			if s := g.Snapshot(); s.Kept != 1 {
				t.Errorf("%v: %d kept a millisecond before it returns", by, s.Kept)
			}
			time.Sleep(2 * ms)
			idle(t, g)
		}
	})
}

// The attempt's context is not its caller's: it ends when the dependency is
// presumed dead. Where the dependency stops with its caller, it ends with it.
func TestTheContextOfAnAttemptThatIsLeft(t *testing.T) {
	for _, test := range []struct {
		change func(*kalan.Config)
		lives  time.Duration
	}{{nil, 800 * ms}, {stops, 300 * ms}} {
		synctest.Test(t, func(t *testing.T) {
			g := guard(t, test.change)
			start := time.Now()
			var lived time.Duration
			var wanted time.Time
			ctx, cancel := context.WithTimeout(t.Context(), 300*ms)
			defer cancel()
			_, _, err := kalan.Hold(ctx, g, leave, func(ctx context.Context) (int, error) {
				wanted = kalan.AttemptOf(ctx).Until
				<-ctx.Done()
				lived = time.Since(start)
				return 0, ctx.Err()
			})
			if !errors.Is(err, policy.Expired) {
				t.Error(err)
			}
			time.Sleep(time.Second)
			idle(t, g)
			if lived != test.lives || wanted.Sub(start) != 300*ms {
				t.Errorf("lived %v, want %v; its answer was wanted for %v", lived, test.lives, wanted.Sub(start))
			}
		})
	}
}

// The attempt passes its limit and hangs, its retry answers, and the first
// comes back at last: with an answer that nobody wants.
func TestARetryBesideAnAttemptThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(slots(2), atOnce))
		var discarded atomic.Int32
		way := kalan.Way[int]{Leave: true, Discard: func(n int) error { discarded.Store(int32(n)); return nil }}
		start := time.Now()
		n, held, err := kalan.Hold(t.Context(), g, way, func(ctx context.Context) (int, error) {
			n := kalan.AttemptOf(ctx).Number
			if n == 1 {
				time.Sleep(3 * time.Second)
			}
			return n, nil
		})
		if took := time.Since(start); n != 2 || err != nil || took != 800*ms {
			t.Fatalf("attempt %d after %v: %v", n, took, err)
		}
		if s := g.Snapshot(); s.InFlight != 2 || s.Counts.Timeouts != 1 {
			t.Errorf("%d in flight, %d timeouts", s.InFlight, s.Counts.Timeouts)
		}
		held.Release(policy.Success)
		time.Sleep(3 * time.Second)
		if discarded.Load() != 1 {
			t.Errorf("attempt %d was discarded, want 1", discarded.Load())
		}
		idle(t, g)
	})
}

// An answer that comes after its hedge has started and just before its limit is
// still the answer.
func TestAnAnswerBetweenHedgeAndLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(atOnce, func(c *kalan.Config) {
			c.Exchange, c.Retry.Hedge, c.Budget = 100*ms, retry.Hedge{After: 99500 * time.Microsecond}, generous
		}))
		way := kalan.Way[int]{Leave: true, Ask: kalan.Ask{Hedge: true}}
		start := time.Now()
		n, held, err := kalan.Hold(t.Context(), g, way, func(ctx context.Context) (int, error) {
			n := kalan.AttemptOf(ctx).Number
			time.Sleep(99800 * time.Microsecond)
			return n, nil
		})
		if took := time.Since(start); n != 1 || err != nil || took != 99800*time.Microsecond {
			t.Errorf("attempt %d after %v: %v", n, took, err)
		}
		held.Release(policy.Success)
		time.Sleep(time.Second)
		idle(t, g)
	})
}

// Attempts, limits and callers that all end at one instant, in every order that
// the scheduler likes: exactly one answer, nothing lost, nothing left.
func TestEverythingAtOneInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(slots(64), atOnce, func(c *kalan.Config) {
			c.Exchange, c.Retry.Hedge, c.Retry.Attempts = 100*ms, retry.Hedge{After: 50 * ms}, 3
			c.Breaker.Calls, c.Budget = 1<<20, generous
		}))
		way := kalan.Way[int]{Leave: true, Ask: kalan.Ask{Hedge: true}}
		for round := range 300 {
			ends := [][3]time.Duration{
				{100 * ms, 50 * ms, 50 * ms}, // first, hedge and limit at 100 ms
				{150 * ms, 100 * ms, 50 * ms},
				{200 * ms, 100 * ms, 0},
			}[round%3]
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+round%4)*50*ms)
			together(8, func(i int) {
				n, held, err := kalan.Hold(ctx, g, way, func(ctx context.Context) (int, error) {
					n := kalan.AttemptOf(ctx).Number
					time.Sleep(ends[n-1])
					if (i+n)%3 == 0 {
						return 0, errDown
					}
					return n, nil
				})
				if (err == nil) != (n > 0) {
					t.Errorf("value %d with %v", n, err)
				}
				held.Release(policy.Success)
			})
			cancel()
			time.Sleep(time.Second)
			idle(t, g)
		}
	})
}
