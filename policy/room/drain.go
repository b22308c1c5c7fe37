package room

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

const (
	// enough is the number of grants that are averaged before they count.
	enough = 16
	// jitter is the least spread of the callers' return once the rate is known.
	jitter = 3 * time.Second
	// longest is the longest that a caller is sent away for by the queue alone:
	// one that seems to need longer will not look like that any more by then.
	longest = 5 * time.Minute
)

// A drain measures how fast waiters are served while there are any.
type drain struct {
	rate   float64 // grants a second; 0 until it is known
	grants int
	busy   time.Duration
	last   policy.Instant
}

// pass lets time pass up to now, in which somebody waited or nobody did.
func (d *drain) pass(now policy.Instant, waited bool) {
	if waited {
		d.busy = span.Add(d.busy, now.Sub(d.last))
	}
	d.last = now
	if d.grants < enough || d.busy <= 0 {
		return
	}
	rate := float64(d.grants) / d.busy.Seconds()
	if d.rate > 0 {
		rate = (d.rate + rate) / 2
	}
	*d = drain{rate: rate, last: now}
}

// RetryAfter returns how long a caller that was refused now should stay away.
// u is a random number in [0, 1) that spreads the callers' return. Until it is
// known how fast waiters are served, it is drawn from the configured range;
// then it is the time that those who wait now will take, but at least the
// range's start, plus up to the range's width, but at least 3 s.
func (r *Room) RetryAfter(now policy.Instant, u float64) time.Duration {
	if math.IsNaN(u) {
		u = 0
	}
	u = min(max(u, 0), 1)
	ra := r.config.RetryAfter
	if r.drain.rate == 0 {
		return ra.Pick(u)
	}
	queue := span.Scale(time.Second, float64(r.len)/r.drain.rate)
	return span.Add(min(max(ra.Min, queue), max(ra.Min, longest)), span.Scale(max(ra.Max-ra.Min, jitter), u))
}
