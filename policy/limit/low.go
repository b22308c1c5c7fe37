package limit

import "math"

// goLow begins a low phase of n slots. Nothing is lost as long as n is not
// below what is useful, which is where it begins and, step by step, ends.
func (o *own) goLow(n float64) {
	if o.phase != low {
		o.full = o.pool
	}
	if o.still() {
		o.follow()
		return
	}
	o.phase, o.aim, o.grown = low, n, false
	o.alone, o.cohort, o.lost = sums{}, 0, 0
	o.restart()
}

// follow takes the place of a low phase where nobody is held back: the number
// follows the estimate, on the base latency that there is.
func (o *own) follow() {
	useful := o.useful
	if p := &o.full; o.base.calls > 0 && p.time > 0 {
		useful = min(p.rate()*o.base.latency(), p.flight())
	}
	o.phase = running
	o.find(useful)
}

// inLow goes on with a low phase when a call has ended.
func (o *own) inLow(t Token, inFlight int) {
	if o.round.calls > 0 && inFlight-1 <= int(o.aim) {
		o.drained()
	}
	if o.phase != low || t.holds != inACohort || t.epoch != o.epoch {
		return
	}
	o.spread = o.alone.spread()
	if o.alone.calls >= o.cohort && o.cohort >= o.want() {
		o.endLow()
	}
}

// leave takes a call out of the cohort that has no answer, or was lost. When
// all are lost, the dependency does not answer any more.
func (o *own) leave(t Token, lost bool) {
	if o.phase != low || t.holds != inACohort || t.epoch != o.epoch {
		return
	}
	o.cohort--
	if !lost {
		return
	}
	if o.lost++; o.lost >= 4 && o.alone.calls == 0 {
		o.phase, o.aim = settling, 1
		o.halve()
	}
}

// want is how many calls make the cohort of a low phase: enough for the base
// latency to be known to 30 %, the smallest error that would matter. All of
// them are waited for, since the first to end are the quick ones.
func (o *own) want() float64 { return min(max(4, 12*o.spread), 200) }

// drained is told when no more than the low phase's slots are in flight. Until
// then the dependency was under full load, and what its rate was shows whether
// the low phase is low enough.
func (o *own) drained() {
	d := o.round
	o.round = sums{}
	err := errorOfRate(o.spread, o.useful, d.calls)
	if d.time > 0 && (o.full.time == 0 || d.calls >= 4 && d.rate()*(1+2*err) < o.full.rate()) {
		o.full = d
	}
	if o.base.calls == 0 || o.full.time == 0 {
		return
	}
	err = errorOfMean(o.spread, o.base.calls) + errorOfRate(o.spread, o.useful, o.full.calls)
	if o.full.rate()*o.base.latency()*(1+err) < o.aim/2 {
		o.lower()
	}
}

// lower goes on with fewer slots: three quarters, or down to half if even less
// is useful by the base latency that was known before.
func (o *own) lower() {
	n := .75 * o.aim
	if o.base.calls > 0 && o.full.time > 0 {
		n = min(n, max(o.aim/2, math.Sqrt(o.aim*o.full.rate()*o.base.latency())))
	}
	o.goLow(max(1, math.Floor(n)))
}

// endLow reads the result. If full load needs no more than the low phase had
// in flight, by the latency seen in it, then its calls waited for one another,
// and it was not low enough.
func (o *own) endLow() {
	l := o.alone
	useful := l.began()
	if o.full.time > 0 {
		useful = o.full.rate() * l.latency()
		if o.aim > 1 && useful <= l.began()*1.1 {
			o.lower()
			return
		}
	}
	o.base, o.phase = l, settling
	o.find(min(useful, o.useful))
}
