package kalan_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/retry"
)

// Whatever a crowd of callers does, with functions that do whatever they like:
// in the end everything is back, and until then no count is off.
func TestChaos(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() || underRace {
		seeds = 15
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { chaos(t, seed) })
	}
}

func chaos(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	capacity := 1 + random.IntN(8)
	g := guard(t, func(c *kalan.Config) {
		slots(capacity)(c)
		c.Exchange = time.Duration(random.IntN(3)) * 50 * ms
		c.Cancels = random.IntN(2) == 0
		c.Room.Waiting = 1 + random.IntN(20)
		c.Rate = []float64{0, 1e9, 500}[random.IntN(3)]
		c.Breaker = breaker.Config{Calls: 1 + random.IntN(20), Open: time.Duration(1+random.IntN(300)) * ms, Probes: 1 + random.IntN(3), Slow: 20 * ms}
		c.Retry = retry.Config{Attempts: 1 + random.IntN(4), Jitter: retry.Jitter(random.IntN(5)), Base: 5 * ms, Hedge: retry.Hedge{After: 10 * ms}}
		c.Budget = generous
		c.Budget.InFlight = random.IntN(2) == 0
	})
	done := make(chan struct{})
	go watch(t, g, capacity, done)
	together(200, func(i int) {
		for round := range 5 {
			one := rand.New(rand.NewPCG(uint64(i*5+round), seed))
			time.Sleep(time.Duration(one.IntN(100)) * ms)
			ending(func() { visit(one, g) })
		}
	})
	close(done)
	time.Sleep(time.Minute) // the last ghost, and the breaker
	idle(t, g)
	for range 3 { // probes, if it needs them
		_, _ = kalan.Do(context.Background(), g, nothing)
	}
	state(t, g, breaker.Closed)
	if b := g.Snapshot().Budget; b.Running != 0 || g.Config().Budget.InFlight && b.Calls != 0 {
		t.Errorf("%d first attempts and %d extra ones are under way at the end", b.Calls, b.Running)
	}
	admitsExactly(t, g, capacity)
}

// visit makes one call of some kind.
func visit(r *rand.Rand, g *kalan.Guard) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch r.IntN(4) {
	case 0:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(80))*ms)
		defer cancel()
	case 1:
		time.AfterFunc(time.Duration(r.IntN(80))*ms, cancel)
	}
	if r.IntN(3) == 0 {
		_, _ = kalan.Do(ctx, g, deed(r))
		return
	}
	way := kalan.Way[int]{Leave: r.IntN(2) == 0, Ask: kalan.Ask{Hedge: r.IntN(2) == 0, Once: r.IntN(8) == 0}}
	if r.IntN(2) == 0 {
		way.Judge = func(n int, err error) policy.Report {
			if err == nil && n%2 == 0 {
				return policy.Report{Outcome: policy.Failure}
			}
			return kalan.Classify(err)
		}
		way.Discard = func(n int) error {
			if n%8 == 0 {
				panic("a bug")
			}
			return errDown
		}
	}
	_, held, err := kalan.Hold(ctx, g, way, deed(r))
	if err == nil {
		time.Sleep(time.Duration(r.IntN(60)) * ms)
		for range 1 + r.IntN(2) {
			held.Release(policy.Outcome(r.IntN(4)))
		}
	}
}

// deed is a function that does something; several attempts may run it at once.
func deed(r *rand.Rand) func(context.Context) (int, error) {
	what, took, value := r.IntN(9), time.Duration(r.IntN(60))*ms, r.IntN(100)
	return func(ctx context.Context) (int, error) {
		switch what {
		case 0:
			return obeys(took * 4)(ctx)
		case 1:
			time.Sleep(took * 4) // ignores its context
		case 2, 3:
			return obeys(took)(ctx)
		case 4:
			return 0, errDown
		case 5:
			return 0, errBusiness
		case 6:
			time.Sleep(took)
			panic("a bug")
		case 7:
			time.Sleep(took)
			runtime.Goexit()
		}
		return value, nil
	}
}

// watch holds every count to what it may be while it all goes on.
func watch(t *testing.T, g *kalan.Guard, capacity int, done chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(ms):
		}
		s := g.Snapshot()
		b := s.Budget
		if s.InFlight < 0 || s.InFlight > capacity+1 || s.Waiting < 0 || s.Kept < 0 || s.Breaker.ProbesOut < 0 ||
			b.Running < 0 || b.Calls < 0 || b.Extra < 0 || s.Waiting > 0 && s.InFlight < capacity ||
			s.Waiting > 0 && s.Breaker.State != breaker.Closed {
			t.Errorf("%+v", s)
		}
	}
}

// What comes out of chaos is what the function returned, or a Rejection that
// names a reason, and never both or neither.
func TestEveryErrorIsTheirsOrARejection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(slots(2), tripsAt(10, 50*ms, 2), func(c *kalan.Config) { c.Exchange = 30 * ms }))
		together(100, func(i int) {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			for range 20 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.IntN(80))*ms)
				want := []error{nil, errDown, errBusiness}[r.IntN(3)]
				n, err := kalan.Do(ctx, g, func(ctx context.Context) (int, error) {
					time.Sleep(time.Duration(r.IntN(20)) * ms)
					return 7, want
				})
				var rejection *kalan.Rejection
				switch {
				case errors.As(err, &rejection):
					if rejection.Reason == policy.None || rejection.Reason == policy.Spent || rejection.Reason == policy.Budget {
						t.Errorf("a rejection for %v", rejection.Reason)
					}
				case err != want || n != 7:
					t.Errorf("%d, %v; the function returned 7, %v", n, err, want)
				}
				cancel()
			}
		})
		idle(t, g)
	})
}
