package breaker

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// seen returns now, or the last instant seen where that is later, and makes
// the moves that have become due by it.
func (b *Breaker) seen(now policy.Instant) policy.Instant {
	b.last = max(b.last, now)
	if b.last >= b.due {
		b.move(b.last)
	}
	return b.last
}

// move makes every timed move up to now, each at the instant at which it was
// due, so that nothing depends on how often somebody looks.
func (b *Breaker) move(now policy.Instant) {
	for now >= b.due && b.due != policy.Never {
		switch b.state {
		case Open:
			b.enter(HalfOpen, b.due, policy.Never)
		case HalfOpen:
			b.judgeLate(b.due)
		case Closed: // the ramp is over
			b.due = policy.Never
		}
	}
}

// enter begins a state, and with it a generation.
func (b *Breaker) enter(s State, at, due policy.Instant) {
	b.state, b.since, b.due = s, at, due
	b.generation++
	b.probes = probes{}
}

// reopen opens a half-open breaker for twice as long as the last time.
func (b *Breaker) reopen(at policy.Instant) {
	b.open(at, min(span.Add(b.delay, b.delay), b.rules.OpenMax))
}

func (b *Breaker) open(at policy.Instant, delay time.Duration) {
	b.delay = max(delay, b.rules.Open)
	b.opened++
	spread := span.Scale(b.delay, b.rules.OpenJitter*b.random.next())
	b.enter(Open, at, at.Add(span.Add(b.delay, max(spread, 0))))
}

// close begins anew: what was counted before says nothing about a dependency
// that has recovered.
func (b *Breaker) close(at policy.Instant, ramp time.Duration) {
	due := policy.Never
	if ramp > 0 {
		due = at.Add(ramp)
	}
	b.enter(Closed, at, due)
	b.window.clear()
	b.score = score{}
	b.over = policy.Never
	b.credit = whole
}

// A splitmix is the generator of Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators" (2014): one word of state, any seed is good.
type splitmix uint64

// next returns a number in [0, 1).
func (s *splitmix) next() float64 {
	drawn := policy.Draw(uint64(*s))
	*s += 0x9e3779b97f4a7c15
	return drawn
}
