package kalan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// both are the ways to hold: inline, and in flight mode.
var both = []kalan.Way[int]{{}, {Leave: true}}

// A held slot is taken until Release, which is said once: a second time, also
// from a copy, also after the slot has gone to somebody else, changes nothing.
func TestReleaseOnceAndForAll(t *testing.T) {
	for _, way := range both {
		synctest.Test(t, func(t *testing.T) {
			t.Logf("leave: %v", way.Leave)
			g := guard(t, all(slots(1), noWait))
			_, held, err := kalan.Hold(t.Context(), g, way, nothing)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := kalan.Do(t.Context(), g, nothing); !errors.Is(err, policy.Full) {
				t.Errorf("beside a held body: %v", err)
			}
			duplicate := held
			held.Release(policy.Success)
			duplicate.Release(policy.Failure)
			_, next, err := kalan.Hold(t.Context(), g, way, nothing)
			if err != nil {
				t.Fatal(err)
			}
			together(8, func(int) { held.Release(policy.Failure); duplicate.Release(policy.Failure) })
			if s := g.Snapshot(); s.InFlight != 1 || s.Counts.Outcomes != [4]uint64{policy.Success: 1} {
				t.Errorf("%d in flight, outcomes %v", s.InFlight, s.Counts.Outcomes)
			}
			next.Release(policy.Success)
			kalan.Held{}.Release(policy.Failure)
			idle(t, g)
		})
	}
}

// The body's end has an outcome of its own: a success counts at the last byte,
// and one that broke is a failure.
func TestTheBodysEndIsWhatCounts(t *testing.T) {
	for _, way := range both {
		synctest.Test(t, func(t *testing.T) {
			t.Logf("leave: %v", way.Leave)
			g := guard(t, nil)
			for _, end := range []policy.Outcome{policy.Success, policy.Failure, policy.Cut, policy.Ignored} {
				before := g.Snapshot().Counts.Outcomes
				_, held, err := kalan.Hold(t.Context(), g, way, nothing)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(ms)
				if now := g.Snapshot().Counts.Outcomes; now != before {
					t.Errorf("an answer that is still being read counts: %v", now)
				}
				held.Release(end)
				before[end]++
				if now := g.Snapshot().Counts.Outcomes; now != before {
					t.Errorf("released with %v: %v", end, now)
				}
			}
			idle(t, g)
		})
	}
}

// The context of an answer lives until it is released, and no longer than the
// attempt may: until then the body can be read.
func TestTheContextLivesUntilRelease(t *testing.T) {
	for _, way := range both {
		synctest.Test(t, func(t *testing.T) {
			t.Logf("leave: %v", way.Leave)
			g := guard(t, nil)
			var body context.Context
			hold := func() kalan.Held {
				_, held, err := kalan.Hold(t.Context(), g, way,
					func(ctx context.Context) (int, error) { body = ctx; return 0, nil })
				if err != nil {
					t.Fatal(err)
				}
				return held
			}
			held := hold()
			time.Sleep(700 * ms)
			if body.Err() != nil {
				t.Errorf("after 700 ms of 800: %v", body.Err())
			}
			held.Release(policy.Success)
			if <-body.Done(); !errors.Is(body.Err(), context.Canceled) {
				t.Errorf("after Release: %v", body.Err())
			}
			start := time.Now()
			held = hold()
			<-body.Done()
			if took := time.Since(start); took < 800*ms || took > 1600*ms || !errors.Is(body.Err(), context.DeadlineExceeded) {
				t.Errorf("a body that is never read to its end lives %v: %v", took, body.Err())
			}
			held.Release(policy.Failure)
			idle(t, g)
		})
	}
}

// answers plays one answer after the other, and keeps what is discarded.
type answers struct {
	mu        sync.Mutex
	give      []int
	discarded []int
}

func (a *answers) next(context.Context) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.give[0]
	a.give = a.give[1:]
	return n, nil
}

func (a *answers) way(leave bool) kalan.Way[int] {
	return kalan.Way[int]{
		Leave: leave,
		Judge: func(n int, _ error) policy.Report {
			if n >= 500 {
				return policy.Report{Outcome: policy.Failure}
			}
			return policy.Report{Outcome: policy.Success}
		},
		Discard: func(n int) error {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.discarded = append(a.discarded, n)
			return fmt.Errorf("status %d", n)
		},
	}
}

// A value that is followed by another attempt is given back; the last one is the
// answer, whatever it is.
func TestValuesThatNobodyGetsAreDiscarded(t *testing.T) {
	for _, way := range both {
		synctest.Test(t, func(t *testing.T) {
			t.Logf("leave: %v", way.Leave)
			for _, test := range []struct {
				give, discarded []int
				want            int
			}{
				{[]int{200}, nil, 200},
				{[]int{503, 200}, []int{503}, 200},
				{[]int{503, 502}, []int{503}, 502},
			} {
				g := guard(t, nil)
				a := answers{give: test.give}
				got, held, err := kalan.Hold(t.Context(), g, a.way(way.Leave), a.next)
				if got != test.want || err != nil || !slices.Equal(a.discarded, test.discarded) {
					t.Errorf("%v: got %d, %v, discarded %v", test.give, got, err, a.discarded)
				}
				held.Release(policy.Success)
				idle(t, g)
			}
		})
	}
}

// What a discarded answer was is the cause of the refusal that follows it.
func TestADiscardedAnswerIsTheCause(t *testing.T) {
	for _, way := range both {
		synctest.Test(t, func(t *testing.T) {
			t.Logf("leave: %v", way.Leave)
			g := guard(t, tripsAt(1, 10*time.Second, 1)) // opens at the first
			a := answers{give: []int{503}}
			_, _, err := kalan.Hold(t.Context(), g, a.way(way.Leave), a.next)
			var r *kalan.Rejection
			if !errors.As(err, &r) || r.Reason != policy.Open || r.Cause == nil || r.Cause.Error() != "status 503" {
				t.Errorf("%v", err)
			}
			idle(t, g)
		})
	}
}

// An answer that comes when its caller has left is given back, and its slot
// with it; what it says of the dependency still counts.
func TestALateAnswerIsDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, nil)
		a := answers{give: []int{200, 503}}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			start := time.Now()
			_, _, err := kalan.Hold(ctx, g, a.way(true), func(ctx context.Context) (int, error) {
				time.Sleep(200 * ms)
				return a.next(ctx)
			})
			if took := time.Since(start); took != 100*ms || !errors.Is(err, policy.Expired) {
				t.Errorf("after %v: %v", took, err)
			}
			cancel()
			if s := g.Snapshot(); s.Kept != 1 {
				t.Errorf("%d kept while the dependency works", s.Kept)
			}
			time.Sleep(100 * ms)
			idle(t, g)
		}
		if !slices.Equal(a.discarded, []int{200, 503}) {
			t.Errorf("discarded %v", a.discarded)
		}
		if o := g.Snapshot().Counts.Outcomes; o != [4]uint64{policy.Success: 1, policy.Failure: 1} {
			t.Errorf("outcomes %v", o)
		}
	})
}

// Callers with tight deadlines that read a drip do not hide it.
func TestATightReaderSeesADrip(t *testing.T) {
	for _, way := range both {
		synctest.Test(t, func(t *testing.T) {
			t.Logf("leave: %v", way.Leave)
			g := guard(t, all(once, func(c *kalan.Config) { c.Exchange = 800 * ms }))
			start := time.Now()
			for g.Snapshot().Breaker.State == breaker.Closed && time.Since(start) < 10*time.Second {
				go func() {
					ctx, cancel := context.WithTimeout(context.Background(), 300*ms)
					defer cancel()
					_, held, err := kalan.Hold(ctx, g, way, nothing)
					if err == nil {
						<-ctx.Done() // the body never ends
						held.Release(policy.Cut)
					}
				}()
				time.Sleep(20 * ms)
			}
			if took := time.Since(start); took < 1500*ms || took > 2600*ms {
				t.Errorf("opened after %v", took)
			}
			time.Sleep(time.Second)
			idle(t, g)
		})
	}
}
