package breaker

import (
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// Configure changes the configuration while running and keeps the state, the
// score, what is out and what was counted. An open time and a ramp that have
// begun end when they would have. Only a change between a time window and a
// count window starts an empty one: counts in a bucket have no order, outcomes
// in a list have no time.
func (b *Breaker) Configure(now policy.Instant, c Config) {
	now = b.seen(now)
	r := c.rules()
	if r.Window != b.rules.Window || r.Count != b.rules.Count {
		b.window = b.window.into(&r)
	}
	if r.Seed != b.rules.Seed {
		b.random = splitmix(r.Seed)
	}
	b.rules = r
	b.score.points = min(b.score.points, r.Calls)
	b.SetMode(now, r.Mode)
	b.reprobe(now)
}

// reprobe applies new figures to a half-open state that is under way: it may
// have all the verdicts that it needs, or have lasted too long.
func (b *Breaker) reprobe(now policy.Instant) {
	if b.state != HalfOpen || b.probes.out == 0 && b.probes.counted.calls == 0 {
		return // no probe yet: nothing has begun
	}
	b.due = b.probes.from.Add(b.rules.HalfOpen)
	b.judge(now)
}

// into returns a window for r that holds what w does.
func (w *window) into(r *rules) window {
	fresh := newWindow(r)
	switch {
	case w.last != nil && fresh.last != nil:
		for i := range w.last {
			if j := (w.next + i) % len(w.last); w.full || j < w.next {
				fresh.push(w.last[j])
			}
		}
	case w.last == nil && fresh.last == nil:
		for age := buckets - 1; age >= 0; age-- {
			w.pour(&fresh, age)
		}
	}
	return fresh
}

// pour moves the bucket of that age into another window, to where it began.
func (w *window) pour(into *window, age int) {
	t := w.ring[(w.at+buckets-age)%buckets]
	if t.calls == 0 {
		return
	}
	into.see(w.edge.Add(-span.Mul(w.width, int64(age)+1)))
	into.ring[into.at].join(t)
	into.total.join(t)
}
