package bench

import (
	"sync"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/throttle"
	"github.com/kalan-go/kalan/slots"
)

// exchange is the attempt timeout of everything that has one.
const exchange = 800 * time.Millisecond

// A driver is what a policy needs to be used by many: a lock and a clock.
type driver struct {
	mu    sync.Mutex
	epoch time.Time
}

func newDriver() driver { return driver{epoch: time.Now()} }

func (d *driver) now() policy.Instant { return policy.Instant(time.Since(d.epoch)) }

// locked puts a policy behind the driver's lock.
type locked[P any] struct {
	driver
	policy P
}

func behindLock[P any](p P) *locked[P] { return &locked[P]{newDriver(), p} }

func kalanBreaker() call {
	k := behindLock(breaker.New(breaker.Config{Exchange: exchange}))
	return func(fn work) error {
		began := k.now()
		k.mu.Lock()
		pass, ok := k.policy.Admit(began)
		k.mu.Unlock()
		if !ok {
			return policy.Open
		}
		_, err := fn()
		now := k.now()
		k.mu.Lock()
		k.policy.Settle(now, &pass, outcome(err), now.Sub(began))
		k.mu.Unlock()
		return err
	}
}

func kalanThrottle() call {
	k := behindLock(throttle.New(throttle.Config{}))
	return func(fn work) error {
		now := k.now()
		k.mu.Lock()
		mark, ok := k.policy.Admit(now, 0, uint64(now))
		k.mu.Unlock()
		if !ok {
			return policy.Throttled
		}
		_, err := fn()
		now = k.now()
		k.mu.Lock()
		k.policy.Settle(now, &mark, outcome(err), false)
		k.mu.Unlock()
		return err
	}
}

func outcome(err error) policy.Outcome {
	if err != nil {
		return policy.Failure
	}
	return policy.Success
}

func kalanRate() call {
	k := behindLock(bucket.New(bucket.Config{Rate: 1e9}))
	return func(fn work) error {
		now := k.now()
		k.mu.Lock()
		ok := k.policy.Allow(now)
		k.mu.Unlock()
		if !ok {
			return policy.Rate
		}
		_, err := fn()
		return err
	}
}

// kalanSlots only counts, as the peers do.
func kalanSlots(n int) call {
	s, err := slots.New(slots.Config{Max: n})
	if err != nil {
		panic(err)
	}
	return func(fn work) error {
		token, ok := s.Take()
		if !ok {
			return policy.Full
		}
		_, err := fn()
		token.Give()
		return err
	}
}

// kalanLimit runs calls in the slots of a limit. Peers that are a counter read
// no clock, and then it reads none either.
func kalanLimit(c limit.Config, clock bool) call {
	k := behindLock(limit.New(c))
	now := func() policy.Instant { return 0 }
	if clock {
		now = k.now
	}
	return func(fn work) error {
		began := now()
		k.mu.Lock()
		if !k.policy.Free() {
			k.mu.Unlock()
			return policy.Full
		}
		token := k.policy.Take(began)
		k.mu.Unlock()
		_, err := fn()
		ended := now()
		k.mu.Lock()
		k.policy.Give(ended, &token, limit.Sample{Outcome: outcome(err)})
		k.mu.Unlock()
		return err
	}
}

func kalanRetry() call {
	type machines struct {
		plan   *retry.Plan
		budget *budget.Budget
	}
	k := behindLock(machines{retry.New(retry.Config{}), budget.New(budget.Config{})})
	return func(fn work) error {
		now := k.now()
		k.mu.Lock()
		c := k.policy.plan.Begin(policy.Never, 1)
		_, _ = k.policy.plan.Next(now, &c, k.policy.budget)
		mark := k.policy.plan.Launched(&c)
		k.mu.Unlock()
		_, err := fn()
		now = k.now()
		k.mu.Lock()
		k.policy.plan.Settle(now, &c, policy.Report{Outcome: outcome(err)}, policy.None, k.policy.budget)
		k.policy.budget.Heard(err == nil)
		k.policy.budget.End(now, &mark)
		k.mu.Unlock()
		return err
	}
}

// guard is the full stack: retry with its budget, breaker, rate where it is
// asked for, limit with its room, and an attempt timeout where it is asked for.
func guard(tb testing.TB, change func(*kalan.Config)) *kalan.Guard {
	tb.Helper()
	c := kalan.Config{Name: "bench"}
	c.Limit = limit.Fixed(100)
	c.Breaker.Slow = exchange / 2
	if change != nil {
		change(&c)
	}
	g, err := kalan.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func withTimeout(c *kalan.Config) { c.Exchange = exchange }
