package kalan_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy/retry"
)

func hedging(h retry.Hedge) func(*kalan.Config) {
	return func(c *kalan.Config) { c.Retry.Hedge = h }
}

// The first attempt hangs, the hedge answers: the caller is back after the
// delay and one quick answer, and the loser's slot comes back when it returns.
func TestHedgeCutsTheTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, hedging(retry.Hedge{After: 50 * time.Millisecond}))
		way := kalan.Way[int]{Leave: true, Ask: kalan.Ask{Hedge: true}}
		start := time.Now()
		n, held, err := kalan.Hold(t.Context(), g, way, func(ctx context.Context) (int, error) {
			n := kalan.AttemptOf(ctx).Number
			if n == 1 {
				time.Sleep(700 * time.Millisecond)
			}
			time.Sleep(10 * time.Millisecond)
			return n, nil
		})
		if took := time.Since(start); n != 2 || err != nil || took != 60*time.Millisecond {
			t.Errorf("attempt %d answered after %v, %v; want the hedge after 60ms", n, took, err)
		}
		held.Release(1)
		if f := g.Snapshot().InFlight; f != 1 {
			t.Errorf("%d in flight while the loser runs, want 1", f)
		}
		time.Sleep(time.Second)
		if s := g.Snapshot(); s.InFlight != 0 || s.Budget.Running != 0 {
			t.Errorf("%d in flight, %d hold budget at the end", s.InFlight, s.Budget.Running)
		}
	})
}

// A hedge at a measured percentile is launched only once there are enough
// answers to measure, and then for the slow ones only.
func TestHedgeAtAPercentile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, hedging(retry.Hedge{Quantile: .95}))
		way := kalan.Way[int]{Leave: true, Ask: kalan.Ask{Hedge: true}}
		var runs atomic.Int64
		call := func(took time.Duration) time.Duration {
			start := time.Now()
			_, held, err := kalan.Hold(t.Context(), g, way, func(ctx context.Context) (int, error) {
				runs.Add(1)
				if kalan.AttemptOf(ctx).Number > 1 {
					time.Sleep(10 * time.Millisecond)
				} else {
					time.Sleep(took)
				}
				return 0, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			held.Release(1)
			return time.Since(start)
		}
		for range 32 {
			call(10 * time.Millisecond)
		}
		if n := runs.Load(); n != 32 {
			t.Fatalf("%d runs for 32 quick calls", n)
		}
		if took := call(300 * time.Millisecond); took > 25*time.Millisecond {
			t.Errorf("a slow attempt beside a hedge at p95 = 10ms took %v", took)
		}
		time.Sleep(time.Second)
	})
}

// Do runs its function on one goroutine: nothing is hedged there.
func TestDoNeverHedges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, hedging(retry.Hedge{After: time.Millisecond}))
		runs := 0
		_, err := kalan.Do(t.Context(), g, func(context.Context) (int, error) {
			runs++
			time.Sleep(100 * time.Millisecond)
			return 0, nil
		})
		if runs != 1 || err != nil {
			t.Errorf("%d runs, %v", runs, err)
		}
	})
}
