package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

const (
	// Routes is how many kinds of work a stack tells apart. What has a larger
	// number shares the last one.
	Routes = 64
	// known is how many answers make a route's expectation one.
	known = 8
	// doubt is how long an expectation holds without an answer that confirms
	// it. Then one call is let through to see: an expectation that refuses
	// everybody would never learn that it is wrong.
	doubt = time.Second
)

// A route is what is known of how long one kind of work takes.
type route struct {
	mean    time.Duration
	quick   time.Duration // about the least: falls at once, rises slowly
	answers uint32
	tried   policy.Instant // the last answer, or the last call that was let through to see
}

func (r *route) add(now policy.Instant, took time.Duration) {
	if r.answers < known {
		if r.answers == 0 {
			r.mean, r.quick = took, took
		}
		r.answers++
	}
	r.mean += (took - r.mean) / 8
	if off := took - r.quick; off > 0 {
		r.quick += off / 32
	} else {
		r.quick = took
	}
	r.tried = now
}

// sure reports whether the expectation may refuse somebody. When it is in
// doubt, whoever asks is the one that is let through to see.
func (r *route) sure(now policy.Instant) bool {
	if r.answers < known {
		return false
	}
	if now.Sub(r.tried) >= doubt {
		r.tried = now
		return false
	}
	return true
}

func (s *Stack) routeOf(n uint8) *route { return &s.routes[min(n, Routes-1)] }

// expected is how long the call's work will take as the n-th in flight: what
// the limit predicts for all work, in the proportion of the call's route. 0
// means that it is not known.
func (s *Stack) expected(c *Call, n int) time.Duration {
	all, mean := s.limit.Predict(s.now, n), s.latency.Mean()
	r := s.routeOf(c.Ask.Route)
	if all == 0 || mean <= 0 || r.answers < known {
		return 0
	}
	return span.Scale(all, float64(r.mean)/float64(mean))
}

// hopeless reports whether a call that could start now cannot end in time.
// While at least half of the slots are free, nobody is kept from anything by
// an attempt that may well succeed, so only what the route has hardly ever
// managed is refused; above that, what is not to be expected.
func (s *Stack) hopeless(c *Call) bool {
	if c.Ask.Deadline == policy.Never {
		return false
	}
	left := c.Ask.Deadline.Sub(s.now)
	r := s.routeOf(c.Ask.Route)
	need := r.quick
	if n := s.limit.InFlight() + 1; 2*n > s.limit.Max() {
		need = max(need, s.expected(c, n))
	}
	return left < need && r.sure(s.now)
}
