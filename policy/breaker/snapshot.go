package breaker

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Due returns when the breaker changes by itself if nothing happens before;
// policy.Never when time alone changes nothing, as in a half-open state that
// nobody has probed yet.
func (b *Breaker) Due() policy.Instant { return b.due }

// Look returns the state after making the moves that are due: open to
// half-open, and the end of a half-open state that lasted too long. Nothing
// depends on how often it is called.
func (b *Breaker) Look(now policy.Instant) State {
	b.seen(now)
	return b.state
}

// SlowAfter returns how long an attempt may go unanswered before its owner
// calls Overdue; span.Max when slow calls are not judged.
func (b *Breaker) SlowAfter() time.Duration { return b.rules.slow }

// RetryAt returns when a refused caller may come back. Open, that is the end of
// the open time (forced open, one open time from now). Half-open with every
// place taken, and while the ramp holds calls back, it is soon: the least of
// what is left of that state, SlowAfter, and a tenth of the open time.
// Otherwise it is now.
func (b *Breaker) RetryAt(now policy.Instant) policy.Instant {
	now = b.seen(now)
	switch {
	case b.mode == ForcedOpen:
		return now.Add(b.rules.Open)
	case b.state == Open:
		return b.due
	case b.state == HalfOpen && b.probes.free(b.rules.Probes) > 0, b.due == policy.Never:
		return now
	}
	return min(b.due, now.Add(b.rules.soon))
}

// A Snapshot is a breaker at one instant, for display.
type Snapshot struct {
	State State
	Mode  Mode
	// Since is when the state began.
	Since policy.Instant
	// Calls, Failures and Slow are the counts of the window; a call that both
	// failed and was slow is in both. While it is not closed, they are what is
	// left of the counts that it opened on.
	Calls, Failures, Slow int
	// Score is between 0 and Config.Calls.
	Score int
	// Generation grows with every change of state.
	Generation uint32
	// ProbesOut and ProbesCounted are the half-open probes that have not come
	// back and those whose verdict is in. An overdue probe is both.
	ProbesOut, ProbesCounted int
	// Share is the share of the calls that the ramp admits; 1 without one.
	Share float64
	// RetryAt is when a refused caller may come back.
	RetryAt policy.Instant
	// Opened counts how often it opened by itself, Refused the calls that it
	// refused, or, observing, would have, and Ignored the attempts that ended
	// without a verdict: business errors, and callers that left.
	Opened, Refused, Ignored uint64
}

// Snapshot returns what the breaker is at now, also after an idle time. It
// changes nothing, not even the last instant seen.
func (b *Breaker) Snapshot(now policy.Instant) Snapshot {
	c := *b // the count window's slice is shared, and only read
	now = c.seen(now)
	c.window.see(now)
	c.score.see(now, &c.rules)
	t := c.window.total
	return Snapshot{
		State: c.state, Mode: c.mode, Since: c.since,
		Calls: int(t.calls), Failures: int(t.failed), Slow: int(t.slow),
		Score: c.score.points, Generation: c.generation,
		ProbesOut: c.probes.out, ProbesCounted: int(c.probes.counted.calls),
		Share: float64(c.ramped(now)) / whole, RetryAt: c.RetryAt(now),
		Opened: c.opened, Refused: c.refused, Ignored: c.ignored,
	}
}
