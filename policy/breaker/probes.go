package breaker

import "github.com/kalan-go/kalan/policy"

// probes is the half-open state's account. Every probe that was admitted is
// either open (nothing known yet) or counted; an overdue one is counted and
// still out.
type probes struct {
	out     int            // admitted and not come back
	open    int            // out and not counted yet
	counted tally          // verdicts
	from    policy.Instant // when the first of them was admitted
}

// free is how many more probes may be admitted before the judgement.
func (p *probes) free(of int) int { return max(of-p.open-int(p.counted.calls), 0) }

// over reports whether these verdicts on n calls reach a rate.
func (t *tally) over(n uint32, r *rules) bool {
	return share(t.failed, n) >= r.FailureRate ||
		r.Slow > 0 && share(t.slow, n) >= r.SlowRate ||
		share(t.bad, n) >= r.worst
}

// admitProbe takes a place. The first probe starts the clock of the stay.
func (b *Breaker) admitProbe(now policy.Instant) (Pass, bool) {
	if b.probes.free(b.rules.Probes) == 0 {
		return b.refuse()
	}
	if b.probes.open == 0 && b.probes.counted.calls == 0 {
		b.probes.from = now
		b.due = now.Add(b.rules.HalfOpen)
	}
	b.probes.out++
	b.probes.open++
	return Pass{generation: b.generation, flags: isProbe}, true
}

// countProbe enters a verdict.
func (b *Breaker) countProbe(now policy.Instant, k kind) {
	b.probes.open--
	b.probes.counted.add(k)
	b.judge(now)
}

// dropProbe gives a place back as if it had never been taken (O-01, O-07).
func (b *Breaker) dropProbe() {
	b.probes.open--
	if b.probes.open == 0 && b.probes.counted.calls == 0 {
		b.probes.from, b.due = 0, policy.Never
	}
}

// judge ends half-open once the outcome is certain to be bad, or all probes
// have counted.
func (b *Breaker) judge(now policy.Instant) {
	switch {
	case b.probes.counted.over(uint32(b.rules.Probes), &b.rules):
		b.reopen(now)
	case int(b.probes.counted.calls) >= b.rules.Probes:
		b.close(now, b.rules.Ramp)
	}
}

// judgeLate ends a half-open state that has lasted too long, by what is known.
// A probe that is still out by then is as good as failed.
func (b *Breaker) judgeLate(at policy.Instant) {
	known := b.probes.counted
	for range b.probes.open {
		known.add(failed)
	}
	if known.over(known.calls, &b.rules) {
		b.reopen(at)
	} else {
		b.close(at, b.rules.Ramp)
	}
}
