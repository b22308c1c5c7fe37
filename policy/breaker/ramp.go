package breaker

import "github.com/kalan-go/kalan/policy"

const (
	whole      = 1_000_000 // one call, in the unit of credit
	firstShare = whole / 10
)

// admitRamped admits a share of the calls by error diffusion: each call earns
// the share, and one that finds a whole call's credit passes. Drawing lots
// would let bursts through just when they hurt most.
func (b *Breaker) admitRamped(now policy.Instant) (Pass, bool) {
	b.credit += b.ramped(now)
	if b.credit < whole {
		return b.refuse()
	}
	b.credit -= whole
	return Pass{generation: b.generation, flags: isRamped}, true
}

// repay undoes an admission. However many are undone, no more than one call's
// credit is kept: saved-up credit would be a burst.
func (b *Breaker) repay(now policy.Instant) {
	if b.due != policy.Never {
		b.credit = min(b.credit+whole-b.ramped(now), whole)
	}
}

// ramped is the share that passes: a tenth first (F26), then more in
// proportion to the time, in millionths.
func (b *Breaker) ramped(now policy.Instant) uint32 {
	if b.state != Closed || b.due == policy.Never {
		return whole
	}
	done := float64(now.Sub(b.since)) / float64(b.due.Sub(b.since))
	return firstShare + uint32(float64(whole-firstShare)*min(max(done, 0), 1))
}
