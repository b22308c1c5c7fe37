package breaker

import "github.com/kalan-go/kalan/policy"

// countBad enters a failed or slow attempt, and opens when it is one too many.
// A good one never opens anything, although a good twentieth call may be what
// makes a window judgeable: the next bad one is soon enough.
func (b *Breaker) countBad(now policy.Instant, k kind) {
	b.window.add(now, k)
	b.score.bad(now, &b.rules)
	if b.tooMany(now) && b.mode != ForcedClosed {
		b.open(now, b.rules.Open)
	}
}

// tooMany weighs the evidence. Failures open at once. Twenty slow calls after
// an idle time, or a pause of one second, are no outage: they need the score
// as a second witness, or a rate that lasts.
func (b *Breaker) tooMany(now policy.Instant) bool {
	r, t := &b.rules, &b.window.total
	enough := int64(t.calls) >= int64(r.Calls)
	if enough && share(t.failed, t.calls) >= r.FailureRate {
		return true
	}
	needed := r.Calls
	if b.isOver(now, enough && t.over(t.calls, r)) {
		if now.Sub(b.over) >= r.Window {
			return true
		}
		needed = r.points
	}
	return b.score.points >= needed && b.score.lasted(now, r.patience)
}

// isOver remembers since when the window has been over a rate. Above a slow
// rate of two thirds the score sees it; below, only time tells a tail that has
// become too long from a moment's bad luck.
func (b *Breaker) isOver(now policy.Instant, over bool) bool {
	switch {
	case !over:
		b.over = policy.Never
	case b.over == policy.Never:
		b.over = now
	}
	return over
}
