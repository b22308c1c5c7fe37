package sim

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// A Verdict says what became of an arm. The worse ones have the larger values.
type Verdict uint8

const (
	// Stable: goodput stayed near what it was, whatever happened.
	Stable Verdict = iota
	// Recovers: goodput fell, and came back by itself.
	Recovers
	// Undecided: the run ends too soon after the last trigger to tell. It may
	// be well by then, and not for long enough to say that it stays so.
	Undecided
	// Suffers: goodput fell, and what made it fall had not ended when the run
	// did: a trigger, or load that grew beyond what can be answered.
	Suffers
	// SlowDrain: goodput has not come back, but what is in the way of it grows
	// smaller. Given time it recovers.
	SlowDrain
	// Metastable: the trigger is over, goodput has not come back, and nothing
	// that is in the way of it grows smaller (Bronson and others, "Metastable
	// failures in distributed systems", HotOS 2021).
	Metastable
	// Collapsed: goodput was low before anything happened, or came to be
	// without a trigger.
	Collapsed

	verdicts = int(Collapsed) + 1
)

var verdictWords = []string{"stable", "recovers", "undecided", "suffers", "slow drain", "metastable", "collapsed without a trigger"}

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
	// oneOfMany and oneOfFew are how many standard deviations below what is
	// expected a stretch may lie by chance: some hundred of them are looked at,
	// and a few times ten together.
	oneOfMany, oneOfFew = 4, 2
)

// A course is what one replication looked like in time, over all loads.
type course struct {
	bin           time.Duration
	offered, good []float64
	backlog       []float64 // requests at services: those that wait and those that are served
	from          int       // the first bin that counts
	begins, ends  int       // the bins of the first trigger's beginning and the last one's end
	late          bool      // a trigger begins or ends where nothing can be judged any more
	capacity      float64   // a second; 0: not known
	needs         int       // set by judge where it cannot tell: how many bins would do; 0: no number is known
}

// judge says what became of a replication, and how long after the triggers it
// was well again.
func (c *course) judge() (Verdict, time.Duration) {
	before := c.share(c.from, c.begins)
	switch {
	case sum(c.offered, c.from, len(c.good)) < enough:
		c.needs = 0
		return Undecided, 0
	case before < collapsed:
		return Collapsed, 0
	case c.late:
		return c.cannotTell(c.ends)
	case c.begins >= len(c.good):
		return c.drift(), 0
	}
	fell := c.fell(before)
	if c.ends >= len(c.good) {
		return c.underTrigger(fell)
	}
	well, recovered := c.well(before)
	switch {
	case recovered && !fell:
		return Stable, 0
	case recovered:
		return Recovers, span.Mul(c.bin, int64(well-c.ends))
	case !c.lasts(c.ends):
		return c.cannotTell(max(well, c.ends))
	case c.cleared(well):
		return c.cannotTell(well)
	case c.shrinks():
		return SlowDrain, 0
	}
	return Metastable, 0
}

// underTrigger judges a run that ends before its trigger does.
func (c *course) underTrigger(fell bool) (Verdict, time.Duration) {
	switch {
	case fell:
		return Suffers, 0
	case !c.lasts(c.begins):
		return c.cannotTell(c.begins)
	}
	return Stable, 0
}

// cannotTell notes how long the run would have to be so that what begins at a
// bin can be seen to last.
func (c *course) cannotTell(since int) (Verdict, time.Duration) {
	c.needs = 0
	if stretch := c.stretch(since); stretch > 0 {
		c.needs = since + lasting*stretch
	}
	return Undecided, 0
}

// long returns how long the bins are together.
func (c *course) long(from, to int) time.Duration { return span.Mul(c.bin, int64(to-from)) }

// share returns goodput as a share of what could have been answered.
func (c *course) share(from, to int) float64 {
	could := c.could(from, to)
	if could <= 0 {
		return 1
	}
	return sum(c.good, from, to) / could
}

// could returns how many of the requests that came could have been answered.
func (c *course) could(from, to int) float64 {
	offered := sum(c.offered, from, to)
	if c.capacity > 0 {
		return min(offered, c.capacity*c.long(from, to).Seconds())
	}
	return offered
}

// isLike reports whether goodput as a share is like another, but for the noise
// of so few requests: of those that come each is answered or is not, and under
// more load than can be answered it is services that come at random. Where all
// are answered there is none.
func (c *course) isLike(before float64, from, to int, deviations float64) bool {
	offered, could := sum(c.offered, from, to), c.could(from, to)
	expected := min(before*could, offered)
	variance := expected * (1 - expected/max(offered, 1))
	if later := min(from+lasting*(to-from), len(c.good)); c.could(from, later) < sum(c.offered, from, later) {
		variance = expected
	}
	return sum(c.good, from, to) >= healthy*before*could-deviations*math.Sqrt(variance)
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

// stretch returns how many bins a stretch from a bin on has. Where the run ends
// before it does, requests are taken to come as often as they do on average
// after the warm-up; it is 0 when none come.
func (c *course) stretch(from int) int {
	if to := c.window(from); to < len(c.good) {
		return to - from
	}
	all := sum(c.offered, c.from, len(c.good))
	if all == 0 {
		return 0
	}
	each := float64(len(c.good)-c.from) / all
	return int(math.Ceil(max(enough*each, float64(time.Second/c.bin))))
}

// lasts reports whether the run goes on for long enough after a bin to tell
// what is there to stay.
func (c *course) lasts(from int) bool {
	stretch := c.stretch(from)
	return stretch > 0 && len(c.good)-from >= lasting*stretch
}

// isWell reports whether the stretch from a bin on is like before.
func (c *course) isWell(from int, before float64) bool {
	to := c.window(from)
	return sum(c.offered, from, to) < enough || c.isLike(before, from, to, oneOfMany)
}

// fell reports whether goodput was ever below what it was before.
func (c *course) fell(before float64) bool {
	for b := c.begins; b < len(c.good); b = c.window(b) {
		if !c.isWell(b, before) {
			return true
		}
	}
	return !c.isLike(before, c.begins, min(c.ends, len(c.good)), oneOfFew)
}

// well returns the first bin after the triggers from which on everything is
// like before, and whether it stays so: for long enough, and at the end.
func (c *course) well(before float64) (since int, lasted bool) {
	since = c.ends
	for b := c.ends; b < len(c.good) && !lasted; b++ {
		switch {
		case !c.isWell(b, before):
			since = b + 1
		case c.stretch(since) > 0 && b+1-since >= lasting*c.stretch(since):
			if lasted = c.isLike(before, since, b+1, oneOfFew); !lasted {
				since++ // each stretch might be noise, and all of them are not
			}
		}
	}
	tail := max(since, len(c.good)-lasting*c.stretch(since))
	if lasted && sum(c.offered, tail, len(c.good)) >= enough && !c.isLike(before, tail, len(c.good), oneOfFew) {
		return tail, false // it has fallen again
	}
	return since, lasted
}

// cleared reports whether what was in the way has gone by a bin from which on
// all is well, though not for long.
func (c *course) cleared(since int) bool {
	n := len(c.backlog)
	if sum(c.offered, since, len(c.good)) < enough || since <= c.ends {
		return since <= c.ends
	}
	was := sum(c.backlog, c.ends, since) / float64(since-c.ends)
	return sum(c.backlog, since, n)/float64(n-since) < was/2
}

// drift judges a run to which nothing happens: load that grows beyond what can
// be answered needs no trigger. It compares the parts at the end of the run
// with the best one before them, where there are enough requests to tell.
func (c *course) drift() Verdict {
	const parts, few, many = 10, 100, 1000
	at := func(i int) int { return c.from + i*(len(c.good)-c.from)/parts }
	best, from := 0.0, 0 // the best part before from; all from there on are worse
	for i := range parts {
		if sum(c.offered, at(i), at(i+1)) < few {
			continue
		}
		part := c.share(at(i), at(i+1))
		if c.isLike(best, at(i), at(i+1), oneOfMany) {
			from = i + 1
		}
		best = max(best, part)
	}
	switch {
	case parts-from < 2 || sum(c.offered, at(from), len(c.good)) < many || c.isLike(best, at(from), len(c.good), oneOfFew):
		return Stable
	case c.share(at(parts-2), len(c.good)) < collapsed:
		return Collapsed
	}
	return Suffers
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
