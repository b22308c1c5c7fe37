package sim

import (
	"time"

	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim/internal/world"
)

// A Verdict says what became of an arm. The worse ones have the larger values.
type Verdict uint8

const (
	// Stable: goodput stayed near what it was, whatever happened.
	Stable Verdict = iota
	// Recovers: goodput fell, and came back by itself.
	Recovers
	// Suffers: goodput fell and the trigger had not ended when the run did.
	Suffers
	// SlowDrain: goodput has not come back, but what is in the way of it grows
	// smaller. Given time it recovers.
	SlowDrain
	// Metastable: the trigger is over, goodput has not come back, and nothing
	// that is in the way of it grows smaller (Bronson and others, "Metastable
	// failures in distributed systems", HotOS 2021).
	Metastable
	// Collapsed: goodput was low before anything happened.
	Collapsed

	verdicts = int(Collapsed) + 1
)

var verdictWords = []string{"stable", "recovers", "suffers", "slow drain", "metastable", "collapsed without a trigger"}

// String returns the verdict in words.
func (v Verdict) String() string { return word(verdictWords, int(v)) }

// MarshalText writes the words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

const (
	// healthy is the share of its earlier goodput that a system has when it is
	// well again.
	healthy = 0.9
	// collapsed is the share of what could be answered below which a system is
	// down.
	collapsed = 0.5
	// enough is how many requests a stretch of time must have to be judged.
	enough = 20
	// lasting is for how many such stretches a recovery must last.
	lasting = 10
)

// A course is what one replication looked like in time, over all loads.
type course struct {
	bin           time.Duration
	offered, good []float64
	backlog       []float64 // requests at services: those that wait and those that are served
	from          int       // the first bin that counts
	begins, ends  int       // the bins of the first trigger's beginning and the last one's end
	capacity      float64   // a second; 0: not known
}

// judge says what became of a replication, and how long after the triggers it
// was well again.
func (c *course) judge() (Verdict, time.Duration) {
	before := c.share(c.from, c.begins)
	switch {
	case before < collapsed:
		return Collapsed, 0
	case c.begins >= len(c.good):
		return Stable, 0
	}
	fell := c.fell(before)
	if c.ends >= len(c.good) {
		if fell {
			return Suffers, 0
		}
		return Stable, 0
	}
	well, recovered := c.well(before)
	switch {
	case recovered && !fell:
		return Stable, 0
	case recovered:
		return Recovers, span.Mul(c.bin, int64(well-c.ends))
	case c.shrinks():
		return SlowDrain, 0
	}
	return Metastable, 0
}

// long returns how long the bins are together.
func (c *course) long(from, to int) time.Duration { return span.Mul(c.bin, int64(to-from)) }

// share returns goodput as a share of what could have been answered.
func (c *course) share(from, to int) float64 {
	offered, good := sum(c.offered, from, to), sum(c.good, from, to)
	could := offered
	if c.capacity > 0 {
		could = min(could, c.capacity*c.long(from, to).Seconds())
	}
	if could <= 0 {
		return 1
	}
	return good / could
}

// window returns the end of the stretch that begins with a bin and is long
// enough to be judged: a second, and some requests.
func (c *course) window(from int) int {
	to, n := from, 0.0
	for to < len(c.good) && (c.long(from, to) < time.Second || n < enough) {
		n += c.offered[to]
		to++
	}
	return to
}

// isWell reports whether the stretch from a bin on is like before.
func (c *course) isWell(from int, before float64) bool {
	to := c.window(from)
	return sum(c.offered, from, to) < enough || c.share(from, to) >= healthy*before
}

// fell reports whether goodput was ever below what it was before.
func (c *course) fell(before float64) bool {
	for b := c.begins; b < len(c.good); b = c.window(b) {
		if !c.isWell(b, before) {
			return true
		}
	}
	return false
}

// well returns the first bin after the triggers from which on everything is
// like before, and stays so.
func (c *course) well(before float64) (int, bool) {
	since := c.ends
	for b := c.ends; b < len(c.good); b++ {
		if !c.isWell(b, before) {
			since = b + 1
			continue
		}
		if b-since >= lasting*(c.window(since)-since) {
			return since, true
		}
	}
	// Near the end there is no time left to last.
	left := len(c.good) - since
	return since, left > 0 && sum(c.offered, since, len(c.good)) >= enough && since == c.ends
}

// shrinks reports whether there are fewer requests at the services towards the
// end than there were.
func (c *course) shrinks() bool {
	quarter := (len(c.backlog) - c.ends) / 4
	if quarter < 1 {
		return false
	}
	first := sum(c.backlog, c.ends, c.ends+quarter)
	third := sum(c.backlog, len(c.backlog)-2*quarter, len(c.backlog)-quarter)
	last := sum(c.backlog, len(c.backlog)-quarter, len(c.backlog))
	return last < 0.98*third && third < 0.98*first
}

func sum(xs []float64, from, to int) (s float64) {
	for _, x := range xs[min(from, len(xs)):min(max(to, from), len(xs))] {
		s += x
	}
	return s
}

// courseOf returns the course of a tally.
func (c *compiler) courseOf(t *world.Tally) *course {
	// What was asked for at the very end has had no time to be answered.
	bins := int((c.s.Duration - c.s.patience()) / c.m.Bin)
	out := &course{
		bin: c.m.Bin, offered: make([]float64, bins), good: make([]float64, bins), backlog: make([]float64, bins),
		from: int(c.s.warmup() / c.m.Bin), begins: bins, capacity: c.s.Capacity(),
	}
	for _, load := range t.Asked {
		for b := range bins {
			out.offered[b] += float64(load[b].Offered)
			out.good[b] += float64(load[b].Good)
		}
	}
	for _, service := range t.Queues {
		for b := range min(bins, len(service)) {
			out.backlog[b] += float64(service[b].Waiting + service[b].Busy)
		}
	}
	for i := range c.s.Triggers {
		tr := &c.s.Triggers[i]
		out.begins = min(out.begins, int(tr.At/c.m.Bin))
		out.ends = max(out.ends, int((tr.end(c.s.Duration)+c.m.Bin-1)/c.m.Bin))
	}
	return out
}

// patience is how long callers wait, as far as the end of a run cannot tell
// whether they would have had their answer.
func (s *Scenario) patience() time.Duration {
	long := time.Second
	for i := range s.Loads {
		l := &s.Loads[i]
		long = max(long, l.Deadline)
		if l.Client != nil {
			long = max(long, l.Client.Timeout)
		}
	}
	return min(long, s.Duration/10)
}
