package stack

import (
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/throttle"
)

// Configure changes the configuration while running. What was learned and
// counted is kept, whoever waits goes on waiting, and what runs ends by the
// limits it was started with. It does not validate c; Trace stays as it is.
func (s *Stack) Configure(now policy.Instant, c Config) {
	s.advance(now)
	c.Trace = s.cfg.Trace
	if c.Breaker.Seed == 0 {
		c.Breaker.Seed = s.cfg.Breaker.Seed
	}
	s.cfg = c.WithDefaults()
	c = s.cfg.observed()
	s.breaker.Configure(s.now, c.Breaker)
	s.limit.Configure(s.now, c.Limit)
	s.room.Configure(s.now, c.Room)
	s.budget.Configure(s.now, c.Budget)
	s.plan = retry.New(c.Retry)
	s.setRate(c)
	s.setThrottle(c)
	was := s.lenient
	s.lenient = c.Breaker.Mode == breaker.Observe
	s.lookAtBreaker(s.now)
	if was && s.seen != breaker.Closed { // what it only saw until now holds from now on
		s.enforce()
	}
	s.rewatch()
	s.dispatch()
}

// observed returns c with every policy that refuses told to observe only.
func (c Config) observed() Config {
	if !c.Observe {
		return c
	}
	if c.Breaker.Mode == breaker.Auto {
		c.Breaker.Mode = breaker.Observe
	}
	c.Limit.Observe, c.Room.Observe, c.Budget.Observe = true, true, true
	if c.Throttle != nil {
		watched := *c.Throttle
		watched.Observe = true
		c.Throttle = &watched
	}
	return c
}

func (s *Stack) setThrottle(c Config) {
	switch {
	case c.Throttle == nil:
		s.throttle = nil
	case s.throttle == nil:
		s.throttle = throttle.New(*c.Throttle)
	default:
		s.throttle.Configure(s.now, *c.Throttle)
	}
	s.shares = c.Throttle != nil && !c.Throttle.Observe
}

func (s *Stack) setRate(c Config) {
	rate := bucket.Config{Rate: c.Rate, Observe: c.Observe}
	switch {
	case c.Rate <= 0:
		s.rate = nil
		for i := range s.slots { // or the next bucket would be given back what was never its own
			s.slots[i].drawn = bucket.Mark{}
		}
	case s.rate == nil:
		s.rate = bucket.New(rate)
	default:
		s.rate.Configure(s.now, rate)
	}
}

// rewatch applies a new slow threshold to what is watched. Without one nothing
// is watched any more.
func (s *Stack) rewatch() {
	s.hedge, s.hedgedAt = never, 0
	head := s.watch.head
	if head == none {
		return
	}
	s.slowest = s.slots[head].started.Add(s.breaker.SlowAfter())
	s.countSlow()
}
