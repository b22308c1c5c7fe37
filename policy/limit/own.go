package limit

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// The estimator's constants. They were chosen on the scenarios of
// overload_test.go, where none of them is sharp.
const (
	// gain is how many times the useful concurrency may be in flight: the
	// smallest whole number that keeps the dependency busy.
	gain = 2
	// first is how much is useful as long as nothing is known: ten slots, as
	// TCP's first window (RFC 6928).
	first = 5
	// least stands for one slot.
	least = 0.5
	// band is the factor by which the useful concurrency may be wrong before
	// anything is done about it: the middle of the gain.
	band = math.Sqrt2
	// quick is the number in flight up to which the first calls count as those
	// of an idle dependency.
	quick = 3
	// memory is how many calls the base latency remembers.
	memory = 100
	// dear is the spread from which on a low phase takes many calls: one that
	// nothing asks for is left out.
	dear = .5
	// patience is how many pools pass before the first high phase.
	patience = 8
)

// A phase is what the estimator is doing.
type phase uint8

const (
	starting phase = iota // growing until the latency does
	settling              // comparing what a low phase found with full load
	running               // watching for a change
	low                   // holding little in flight, to see the base latency
	high                  // letting more in, to see whether it is useful after all
)

var phases = [...]string{starting: "starting", settling: "settling", running: "running", low: "low", high: "high"}

// own finds the number of calls that keep the dependency busy, from Little's
// law: useful = rate x base latency. The rate under full load is seen all the
// time. The base latency, of a call that waits for no other, is only seen when
// little is in flight, so that now and then little is let in: a low phase. A
// base latency that was found too short would hold the limit too low for ever,
// so that now and then, too, more is let in: a high phase.
type own struct {
	useful   float64
	believed float64 // what was useful when it was last found, not corrected
	phase    phase
	epoch    uint32  // calls that began in an earlier one say nothing of this one
	spread   float64 // of the times of single calls: their squared coefficient of variation

	base  sums // calls that waited for no other
	round sums // since the last decision, while more than useful are in flight
	pool  sums // the rounds of this epoch, older ones fading
	whole sums // the rounds of this epoch, all alike
	full  sums // the pool as it was before the low or high phase
	light sums // calls that ended while no more than useful were in flight
	alone sums // the low phase's cohort, as far as it has ended

	lost   float64 // of them that told nothing
	cohort float64 // calls that began in the low phase and are waited for
	aim    float64 // the slots of the low or high phase, present or last
	normal float64 // the slots before the high phase
	waited float64 // pools since the last high phase
	wait   float64 // pools until the next one

	grown   bool // since the base latency was last looked at
	ceiling ceiling
	wild    wild
	passive bool // nobody is held back: there are no low and high phases
	last    policy.Instant
}

func newOwn(observe bool) own {
	return own{useful: first, believed: first, spread: 1, epoch: 1, wait: patience, passive: observe}
}

// limit returns the number of slots.
func (o *own) limit() int {
	n := math.Round(gain * o.useful)
	if o.phase >= low {
		n = o.aim
	}
	n = max(n, o.wild.slots())
	return int(max(1, o.ceiling.bound(n)))
}

// held is the useful concurrency that the slots, a whole number, stand for.
func (o *own) held() float64 { return float64(o.limit()) / gain }

// pass lets time pass up to now with n in flight.
func (o *own) pass(now policy.Instant, n int) {
	if float64(n) > o.threshold() {
		o.round.pass(now.Sub(o.last), n)
	}
	o.last = now
}

// threshold is how many are in flight at most without the round counting it:
// fewer than are useful say nothing about the dependency's rate. In a low
// phase the rate is seen until it has begun to bite, in a high one as soon as
// it has.
func (o *own) threshold() float64 {
	switch o.phase {
	case low:
		return o.aim
	case high:
		return o.normal
	}
	return o.useful
}

// give tells of a call that ended, with inFlight calls in flight until then.
func (o *own) give(t Token, inFlight int, took time.Duration, s *Sample) {
	if s.Refused {
		o.ceiling.refused(t.n)
	}
	if !s.answered() {
		o.leave(t, s.Outcome == policy.Failure || s.Late)
	}
	if s.Refused || !s.answered() && !s.Late {
		return
	}
	o.ceiling.answered(t.n, gain*o.useful)
	o.watch(took, s, inFlight)
	if float64(inFlight) > o.threshold() {
		o.round.add(took, t.n, s)
		if t.epoch == o.epoch {
			o.round.fresh++
		}
	} else if s.answered() {
		o.lighten(took, t.n, s)
	}
	if t.epoch == o.epoch && s.answered() {
		o.learn(t, took, s)
	}
	switch o.phase {
	case low:
		o.inLow(t, inFlight)
	case high:
		o.inHigh()
	default:
		o.endRound()
	}
}

// take is told of a call that begins as the n-th in flight, and reports
// whether it belongs to the low phase's cohort.
func (o *own) take(n int) bool {
	if o.phase != low || float64(n) > o.aim || o.cohort >= o.want() {
		return false
	}
	o.cohort++
	return true
}

// learn takes a call of this epoch for what it says of the base latency, and
// in the first phase for one more slot.
func (o *own) learn(t Token, took time.Duration, s *Sample) {
	n := float64(t.n)
	switch {
	case o.phase == low:
		if t.holds == inACohort {
			o.alone.add(took, t.n, s)
		}
	case n <= o.quiet():
		o.base.fade(1 - 1.0/memory)
		o.base.add(took, t.n, s)
		o.spread = o.base.spread()
	case o.phase == starting && n > o.useful && !s.Late && !o.slower(&o.round, 0):
		o.useful += 1.0 / gain
	}
}

// lighten corrects a base latency that calls under light load undercut: no
// call is quicker than one that waits for no other.
func (o *own) lighten(took time.Duration, n int32, s *Sample) {
	o.light.add(took, n, s)
	if o.light.calls < 16 || o.base.calls == 0 {
		return
	}
	err := errorOfMean(o.light.spread(), o.light.calls)
	if o.phase != low && o.light.latency()*(1+2*err) < o.base.latency() {
		o.base = o.light
		o.spread = o.base.spread()
	}
	o.light = sums{}
}

// quiet is how many are in flight at most for a call to wait for no other,
// also when what is believed to be useful is twice too much.
func (o *own) quiet() float64 {
	if o.phase == starting {
		return quick
	}
	return max(1, math.Floor(o.useful/2))
}

// floor is just below the useful concurrency, where a low phase begins.
func (o *own) floor() float64 {
	return max(1, min(math.Floor(.75*o.useful), math.Ceil(o.useful)-1))
}

// slower reports whether the calls of r took longer than the base latency by
// more than the band and z standard errors.
func (o *own) slower(r *sums, z float64) bool {
	if o.base.calls == 0 || r.calls == 0 {
		return false
	}
	err := errorOfMean(o.spread, o.base.calls) + errorOfMean(o.spread, r.calls)
	return r.latency() > band*o.base.latency()*(1+z*err)
}

// find makes useful what was found to be so. One call at a time is always
// useful; only deadlines can ask for less than twice that.
func (o *own) find(useful float64) {
	o.useful = max(1, useful)
	o.believed = o.useful
	o.restart()
}

// restart begins an epoch: what was seen before does not count any more.
func (o *own) restart() {
	o.epoch++
	o.round, o.pool, o.whole = sums{}, sums{}, sums{}
}

// relearn begins again from one call that ran alone.
func (o *own) relearn(took time.Duration, s *Sample) {
	epoch, last := o.epoch+1, o.last
	*o = newOwn(o.passive)
	o.epoch, o.last = epoch, last
	o.base.add(took, 1, s)
}

// predict returns how long the n-th call in flight will take: the base
// latency while nobody waits, and in proportion to the number when they do.
func (o *own) predict(n int, m *measure) time.Duration {
	if o.base.calls == 0 {
		return m.expected(n)
	}
	base, part := o.base.latency(), float64(n)/max(1, m.n)
	if m.mean < band*base {
		return duration(base*max(1, float64(n)/max(1, o.useful)) + m.deviation)
	}
	return duration(max(base, m.mean*part) + m.deviation*min(1, part))
}
