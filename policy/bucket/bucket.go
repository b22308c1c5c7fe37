package bucket

import "github.com/kalan-go/kalan/policy"

// A Bucket limits the rate of calls. Make one with New. It does no locking; all
// verbs are told the time. Most callers use Allow.
type Bucket struct {
	rule    Rule
	level   Level
	observe bool

	allowed, refused uint64
}

// A Mark is what was taken out of a bucket and may be given back. The zero
// Mark is nothing, and a mark that was given back is zero again.
type Mark struct {
	n  int
	at policy.Instant // the turn of what was not there yet; 0: it was there
}

// A Snapshot is how a bucket stands at one instant.
type Snapshot struct {
	// Left is how many calls may be made at once; negative while reserved
	// calls have not come due.
	Left float64
	// Burst is how many there can be.
	Burst int
	// RetryAt is when one call may be made: now, later, or policy.Never.
	RetryAt policy.Instant
	// Allowed and Refused count calls; when only observing, Refused counts
	// those that would have been.
	Allowed, Refused uint64
}

// New returns an unused bucket; config's zero fields are the documented
// defaults.
func New(config Config) *Bucket {
	return &Bucket{rule: NewRule(config), observe: config.Observe}
}

// Allow reports whether one call may be made now, and takes it.
func (b *Bucket) Allow(now policy.Instant) bool {
	_, ok := b.Take(now, 1)
	return ok
}

// Take reports whether n calls may be made now, and takes all of them or none.
// A refusal costs nothing.
func (b *Bucket) Take(now policy.Instant, n int) (Mark, bool) {
	if b.rule.Take(now, &b.level, n) {
		b.allowed++
		return Mark{n: max(0, n)}, true
	}
	b.refused++
	return Mark{}, b.observe
}

// Reserve takes n calls, also ones that are not there yet, and returns when
// they may be made, which is not later than by. Otherwise it takes nothing,
// returns false and when to ask again: policy.Never if n is more than there
// can ever be. When only observing, what would be refused may be made now.
func (b *Bucket) Reserve(now policy.Instant, n int, by policy.Instant) (Mark, policy.Instant, bool) {
	at, ok := b.rule.Reserve(now, &b.level, n, by)
	if ok {
		b.allowed++
		m := Mark{n: max(0, n)}
		if at > b.level.last {
			m.at = at
		}
		return m, at, true
	}
	b.refused++
	if b.observe {
		return Mark{}, b.level.last, true
	}
	return Mark{}, at, false
}

// Undo gives back calls that were taken and not made; of reserved ones, those
// behind which nobody has a turn.
func (b *Bucket) Undo(now policy.Instant, m *Mark) {
	switch {
	case *m == Mark{}:
		return
	case m.at > 0:
		b.rule.Cancel(now, &b.level, m.n, m.at)
	default:
		b.rule.Undo(now, &b.level, m.n)
	}
	b.allowed--
	*m = Mark{}
}

// RetryAt returns when n calls may be made: now, later, or policy.Never.
func (b *Bucket) RetryAt(now policy.Instant, n int) policy.Instant {
	return b.rule.At(now, &b.level, n)
}

// Configure changes the rate and the burst, and keeps what is left of the
// burst and the counts.
func (b *Bucket) Configure(now policy.Instant, config Config) {
	rule := NewRule(config)
	rule.Move(now, &b.level, b.rule)
	b.rule, b.observe = rule, config.Observe
}

// Snapshot returns how the bucket stands. It changes nothing.
func (b *Bucket) Snapshot(now policy.Instant) Snapshot {
	return Snapshot{
		Left:    b.rule.Left(now, &b.level),
		Burst:   b.rule.burst,
		RetryAt: b.RetryAt(now, 1),
		Allowed: b.allowed,
		Refused: b.refused,
	}
}
