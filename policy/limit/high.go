package limit

import "math"

// maybeHigh begins a high phase when one is due: when the limit has been
// reached all the time, for some pools on end, and the callers can afford the
// longer latency. If nothing comes of it, it cost a fifth more latency, and up to
// half where there are few slots.
func (o *own) maybeHigh() {
	p, slots := &o.pool, float64(o.limit())
	if o.still() || o.ceiling.most > 0 || p.calls < .9*o.enough() || p.flight() < .9*slots {
		return
	}
	if o.waited++; o.waited < o.wait {
		return
	}
	o.waited = 0
	aim := slots + max(1, min(math.Floor(slots/2), clear), math.Floor(slots/5))
	if left := p.left / p.calls; left > 0 && p.latency()*aim/slots > .7*left {
		return
	}
	o.full, o.normal = o.whole, slots
	o.phase, o.aim = high, aim
	o.restart()
}

// inHigh goes on with a high phase when a call has ended, and ends it when it
// is clear whether more is done by at least a quarter of what it would be if
// nobody had waited: where latency grows with concurrency and there is no knee,
// even twice what Little's law calls useful gains that much.
func (o *own) inHigh() {
	r := &o.round
	if r.time == 0 || r.calls < 4*o.aim {
		return
	}
	err := errorOfRate(o.spread, o.useful, r.calls) + errorOfRate(o.spread, o.useful, o.full.calls)
	gained := r.rate() * r.share() / (o.full.rate() * o.full.share())
	enough := 1 + (o.aim/o.normal-1)/4
	switch {
	case gained > enough*(1+err), gained > enough && r.calls >= mostHigh:
		o.wasUseful(r)
	case gained*(1+err) < enough, r.calls >= mostHigh:
		o.backFromHigh()
	}
}

// clear is how many more calls make a difference that is seen although single
// times differ, unless that is more than half as many again.
const clear = 6

// mostHigh is how many calls a high phase takes at most.
const mostHigh = 1000

// wasUseful is told that more in flight does more work. Then nobody waits even
// now, and the latency is the base latency.
func (o *own) wasUseful(r *sums) {
	o.base = *r
	o.base.fade(min(1, memory/2/o.base.calls))
	useful := o.aim / gain
	o.phase, o.aim = settling, 1
	o.find(useful)
}

// backFromHigh returns to the number that was right, and waits twice as long
// until the next high phase.
func (o *own) backFromHigh() {
	o.phase, o.wait = running, min(2*o.wait, 64*patience)
	o.restart()
}
