package bucket

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A Rule is a rate and a burst, made by NewRule. It is a value without state:
// one rule serves all the levels that obey it.
type Rule struct {
	interval time.Duration // from one call to the next at the rate; 0 at rate 0
	depth    time.Duration // burst intervals; at rate 0 the burst itself
	burst    int
}

// A Level is how full one bucket is. The zero Level is an unused bucket, with
// its whole burst to give.
type Level struct {
	// free is when the bucket is unused again; at rate 0, how many calls it
	// has ever allowed.
	free policy.Instant
	last policy.Instant
}

// NewRule returns the rule for config, whose zero fields are the documented
// defaults. What Validate refuses is read as the nearest thing it allows.
func NewRule(config Config) Rule {
	config = config.WithDefaults()
	r := Rule{burst: min(max(0, config.Burst), maxBurst)}
	if config.Rate > 0 {
		r.interval = interval(config.Rate)
		r.interval = min(r.interval, maxFill/time.Duration(max(1, r.burst)))
		r.depth = span.Mul(r.interval, int64(r.burst))
	} else {
		r.depth = time.Duration(r.burst)
	}
	return r
}

// interval returns the spacing of calls at a rate above 0.
func interval(rate float64) time.Duration {
	return max(1, span.Scale(1, math.Ceil(float64(time.Second)/rate)))
}

// Take takes n calls out of the bucket at once, or none of them when there are
// not as many.
func (r Rule) Take(now policy.Instant, l *Level, n int) bool {
	if n == 1 && r.interval > 0 && r.burst > 0 { // nearly every call: no product
		now = l.see(now)
		base := max(l.free, now)
		if base-now > policy.Instant(r.depth-r.interval) {
			return false
		}
		l.free = base.Add(r.interval)
		return true
	}
	_, ok := r.Reserve(now, l, n, l.see(now))
	return ok
}

// Reserve takes n calls out of the bucket, also ones that it does not have
// yet, and returns when they may be made. It takes nothing when that is later
// than by; the instant is then when to ask again, policy.Never if n is more
// than there can ever be.
func (r Rule) Reserve(now policy.Instant, l *Level, n int, by policy.Instant) (policy.Instant, bool) {
	now = l.see(now)
	n = max(0, n)
	at := r.ready(now, l, n)
	if at == policy.Never || at > by && at > now {
		return at, false
	}
	l.free = r.base(now, l).Add(r.cost(n))
	return at, true
}

// At returns when n calls may be made: now, later, or policy.Never.
func (r Rule) At(now policy.Instant, l *Level, n int) policy.Instant {
	return r.ready(max(now, l.last), l, max(0, n))
}

// Undo gives back n calls that were there when they were taken, and not made.
func (r Rule) Undo(now policy.Instant, l *Level, n int) {
	l.see(now)
	l.giveBack(r.cost(max(0, n)))
}

// Cancel gives back n calls that were reserved for at, later than they were
// asked for, and not made. Turns that were given since stay where they are, so
// what they are behind is not free again: a call that got it would be made
// together with the last of them.
func (r Rule) Cancel(now policy.Instant, l *Level, n int, at policy.Instant) {
	l.see(now)
	since := max(l.free.Sub(at.Add(r.depth)), 0)
	l.giveBack(max(r.cost(max(0, n))-since, 0))
}

func (l *Level) giveBack(cost time.Duration) {
	l.free = max(0, policy.Instant(span.Sub(time.Duration(l.free), cost)))
}

// Left returns how many calls may be made now. It is negative while reserved
// calls have not come due.
func (r Rule) Left(now policy.Instant, l *Level) float64 {
	now = max(now, l.last)
	left := r.depth - r.base(now, l).Sub(r.start(now))
	if r.interval == 0 {
		return float64(left)
	}
	return float64(left) / float64(r.interval)
}

// Move changes l, which obeyed the rule old, so that it has under r the same
// number of calls left, but at most r's burst.
func (r Rule) Move(now policy.Instant, l *Level, old Rule) {
	now = l.see(now)
	left := min(old.Left(now, l), float64(r.burst))
	used := r.depth - span.Scale(max(1, r.interval), left)
	l.free = r.start(now).Add(used)
}

// ready returns when n calls may be made.
func (r Rule) ready(now policy.Instant, l *Level, n int) policy.Instant {
	if n > r.burst {
		return policy.Never
	}
	over := r.base(now, l).Add(r.cost(n)).Sub(r.start(now)) - r.depth
	switch {
	case over <= 0:
		return now
	case r.interval == 0:
		return policy.Never
	}
	return now.Add(over)
}

// start is the instant that an unused bucket counts from: now, and at rate 0,
// where nothing ever comes back, 0.
func (r Rule) start(now policy.Instant) policy.Instant {
	if r.interval == 0 {
		return 0
	}
	return now
}

// base is what the next call's cost is added to.
func (r Rule) base(now policy.Instant, l *Level) policy.Instant {
	return max(l.free, r.start(now))
}

// cost is what n calls add to a level.
func (r Rule) cost(n int) time.Duration {
	return span.Mul(max(1, r.interval), int64(n))
}

// see returns now, or the last instant seen if now lies before it.
func (l *Level) see(now policy.Instant) policy.Instant {
	l.last = max(l.last, now)
	return l.last
}
