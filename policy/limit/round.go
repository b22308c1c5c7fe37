package limit

import "math"

// endRound decides, once enough calls have ended under full load: as many as
// may be in flight, or fewer when even those take much longer than they used
// to.
func (o *own) endRound() {
	r := o.round
	whole := r.calls >= max(4, math.Round(gain*o.useful))
	slow := o.phase != starting && r.calls >= 4 && r.time > 4*o.base.latency()
	if r.time == 0 || !whole && !slow {
		return
	}
	o.round = sums{}
	switch {
	case o.wild.hung && r.ok == 0: // those that hang end together where they hold every slot
	case r.late == r.calls && r.fresh == r.calls:
		o.allLate(&r)
	case r.ok == 0 && r.fresh == r.calls:
		o.halve()
	case o.base.calls == 0:
		o.goLow(o.floor())
	case o.phase == starting:
		o.endStart(&r)
	default:
		o.remember(&r)
		o.compare()
	}
}

// allLate brings the limit down to where the latency would be half of what the
// callers could wait, but not below half of itself: a round may have been
// unlucky.
func (o *own) allLate(r *sums) {
	reach := r.rate() * (r.left / r.calls / 2) / gain
	o.useful = max(least, o.useful/2, min(o.useful, reach))
	o.wild = wild{}
	o.restart()
}

// halve follows a round of which nothing was of use.
func (o *own) halve() {
	o.wild = wild{}
	o.useful = max(least, o.useful/2)
	o.restart()
}

// endStart ends the first phase when the latency has grown, at what the round
// says is useful, and has a look at the base latency.
func (o *own) endStart(r *sums) {
	if !o.slower(r, 1) {
		return
	}
	slots := gain * o.useful
	err := errorOfMean(o.spread, o.base.calls) + errorOfMean(o.spread, r.calls)
	o.find(min(o.useful, r.began()*o.base.latency()/r.latency()*(1+err)))
	o.pool = *r
	o.goLow(max(o.floor(), quick, math.Floor(slots/4)))
}

// remember adds a round to the pool, as long as it tells the same: a rate that
// is another beyond doubt starts the pool again.
func (o *own) remember(r *sums) {
	if p := &o.pool; p.calls > 0 {
		err := errorOfRate(o.spread, o.useful, p.calls) + errorOfRate(o.spread, o.useful, r.calls)
		if math.Abs(math.Log(p.rate()/r.rate())) > 3*err {
			o.pool, o.whole = sums{}, sums{}
		}
	}
	o.whole.join(r)
	o.pool.fade(max(0, 1-r.calls/o.enough()))
	o.pool.join(r)
}

// enough is how many calls the pool remembers: sixteen for each that is
// useful, and more where single times say little.
func (o *own) enough() float64 { return max(16*o.useful, 70*o.spread) }

// compare holds what the pool says is useful against what is believed. Each
// answer has a price if it is wrong, and asks for as much certainty: growing is
// cheap, a low phase is not.
func (o *own) compare() {
	p, base := &o.pool, o.base.latency()
	err := errorOfMean(o.spread, o.base.calls) + errorOfRate(o.spread, o.useful, p.calls)
	estimate := min(p.rate()*base, p.flight()) * p.share()
	switch {
	case o.phase == settling:
		o.settle(estimate)
	case p.calls >= 4*o.useful && estimate/(1+.5*err) > band*o.held():
		o.grow(estimate)
	case estimate*(1+2*err) < o.believed/band, p.latency()*(1+3*err) < .75*base:
		o.goLow(o.floor())
	case p.calls >= o.enough()/2 && p.late > .02*p.calls && estimate < o.useful:
		o.useful = max(least, estimate, .9*o.useful) // too much for the deadlines
	default:
		o.maybeHigh()
	}
}

// settle follows a low phase: the base latency that it found, and the rate
// under full load, seen anew, say what is useful.
func (o *own) settle(estimate float64) {
	p := &o.pool
	switch {
	case p.calls >= max(8, 4*o.useful) && estimate > band*o.held():
		o.grow(estimate)
	case p.calls < max(8*o.useful, 35*o.spread):
	case estimate <= 1.1*o.aim && o.aim > 1 && !o.still():
		o.full = *p // the low phase's calls waited for one another
		o.lower()
	case o.grown && !o.passive && o.spread < dear: // by its rate alone: it may have become quicker instead of wider
		o.useful = max(1, estimate)
		o.goLow(o.floor())
	default:
		o.phase, o.waited, o.wait = running, 0, patience
		o.find(estimate)
	}
}

// grow lets the useful concurrency rise, to at most twice what is held now,
// and sees how that settles.
func (o *own) grow(to float64) {
	o.phase, o.aim, o.grown = settling, 1, true
	o.find(min(to, 2*o.held()))
}
