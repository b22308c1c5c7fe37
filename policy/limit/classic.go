package limit

import (
	"math"
	"time"
)

// A classic finds the limit by one of three published rules. Each decides once
// a round of calls, on their mean: a single fast answer moves nothing (O-21).
// Each takes an answer that came too late, or never, for a loss and not for a
// new normal, and grows only while the limit is used, so that an idle time
// changes nothing (O-20).
type classic struct {
	kind  Kind
	slots float64
	round sums
	busy  bool    // at least half of the slots were in use in the round
	slow  bool    // Vegas' slots still double, as nobody waited yet
	base  float64 // latency without waiting: Vegas' base, Gradient2's long-term mean
	age   int     // rounds since there is a base, or a new one
	warm  bool    // a first round has gone by, in which the quick calls ended first
}

const (
	// backOff is what a loss leaves of the limit.
	backOff = .9
	// window is the fewest calls that make a round.
	window = 10
	// renewal is after how many rounds Vegas measures its base again.
	renewal = 100
)

func newClassic(kind Kind) classic {
	return classic{kind: kind, slots: gain * first, slow: kind == Vegas}
}

// limit returns the number of slots.
func (c *classic) limit() int {
	if c.probing() {
		return int(max(1, c.slots/2))
	}
	return int(max(1, c.slots))
}

// probing reports that Vegas holds half of its slots back, to see the latency
// without its own queue.
func (c *classic) probing() bool { return c.kind == Vegas && c.age >= renewal }

// give tells of a call that ended, with inFlight calls in flight until then.
func (c *classic) give(t Token, inFlight int, took time.Duration, s *Sample) {
	if s.Refused {
		c.lose()
		return
	}
	if !s.answered() && !s.Late {
		return
	}
	if c.probing() && int(t.n) > c.limit() {
		return
	}
	c.busy = c.busy || 2*inFlight >= c.limit()
	c.round.add(took, t.n, s)
	if c.round.calls < max(window, float64(c.limit()), 70*c.round.spread()) {
		return
	}
	if c.warm {
		c.decide()
	}
	c.round, c.busy, c.warm = sums{}, false, true
}

func (c *classic) decide() {
	switch {
	case c.round.late > c.round.calls/20:
		c.lose()
	case c.kind == Vegas:
		c.vegas(c.round.latency())
	case c.kind == Gradient2:
		c.gradient(c.round.latency())
	case c.busy:
		c.rise(1)
	}
}

// lose takes back a part of the slots, and ends the doubling.
func (c *classic) lose() { c.slots, c.slow = max(1, c.slots*backOff), false }

// rise adds slots, or doubles them in the beginning.
func (c *classic) rise(by float64) {
	if c.slow {
		by = c.slots
	}
	c.slots += by
}

// vegas holds between three and six calls, and more where many are in flight,
// waiting inside the dependency: the slots that the base latency does not
// explain (Brakmo and Peterson 1995). The base is measured again from time to
// time with half of the slots, since the least latency ever seen would be a
// lucky one.
func (c *classic) vegas(latency float64) {
	if c.base == 0 || c.probing() {
		c.base, c.age = latency, 0
		return
	}
	c.age++
	waiting := c.slots * (1 - min(1, c.base/latency))
	doubt := c.slots * 3 * errorOfMean(c.round.spread(), c.round.calls)
	some := max(1, math.Log10(c.slots))
	switch {
	case waiting > 6*some+doubt:
		c.slots, c.slow = max(1, c.slots-some), false
	case waiting > 3*some:
		c.slow = false
	case c.busy:
		c.rise(some)
	}
}

// gradient follows the quotient of the long-term and the present latency, with
// room for a queue of the root of the limit (Netflix's second gradient limit,
// 2018). The long-term mean forgets an overload quickly.
func (c *classic) gradient(latency float64) {
	const tolerance, smoothing = 1.5, .2
	c.age++
	c.base += (latency - c.base) * max(window/600.0, 1/float64(c.age))
	if c.base > 2*latency {
		c.base *= .95
	}
	if !c.busy {
		return
	}
	slope := max(.5, min(1, tolerance*c.base/latency))
	next := c.slots*slope + math.Sqrt(c.slots)
	c.slots = max(1, c.slots+(next-c.slots)*smoothing)
}
