package limit

import (
	"math"
	"time"
)

// A wild dependency's times differ more than those of an exponential law even
// under load: most calls are quick and a few are very long. There a low phase
// of a size that can be afforded sees quick calls only, finds a base latency
// that is far too short, and holds the limit at one or two for seconds. So the
// calls that come too late, not the latency, say what is too much (Chiu and
// Jain 1989): as long as few do, there are at least as many slots as in the
// beginning, and neither low nor high phases.
type wild struct {
	floor float64 // the fewest slots; 0 while the dependency is tame
	block sums
}

const (
	// evidence is how many calls are looked at together. With fifty, one steady
	// block too many ended it (bimodal service: 92 % instead of 94).
	evidence = 100
	// untamed is the squared coefficient of variation above which a tame
	// dependency is wild: that of an exponential law. Below a quarter of it,
	// half as wide a spread, a wild one is tame.
	untamed = 1
	// tolerated is the part of the calls that may be late: the loss at which
	// AIMD, too, begins to take slots back. To be found wild twice as many may:
	// the limit that is to be corrected may have made them late.
	tolerated = .05
)

// slots returns the fewest slots there may be.
func (w *wild) slots() float64 { return math.Floor(w.floor) }

// add tells of a call that ended while all slots were full, or not, and
// reports whether the dependency has just been found to be wild.
func (w *wild) add(took time.Duration, s *Sample, full bool) bool {
	w.block.add(took, 1, s)
	if w.block.calls < evidence {
		return false
	}
	b := w.block
	w.block = sums{}
	return w.decide(b.variation(), b.late/b.calls, full)
}

func (w *wild) decide(variation, late float64, full bool) (found bool) {
	switch {
	case w.floor == 0:
		if found = variation > untamed && late <= 2*tolerated; found {
			w.floor = gain * first
		}
	case variation < untamed/4.0:
		w.floor = 0
	case late > tolerated:
		if w.floor *= backOff; w.floor < quick {
			w.floor = 0
		}
	case full && late < tolerated/2:
		w.floor++
	}
	return found
}

// watch tells of a call for how wild the dependency is.
func (o *own) watch(took time.Duration, s *Sample, inFlight int) {
	full := float64(inFlight) >= .9*float64(o.limit())
	if o.wild.add(took, s, full) && o.phase >= low {
		o.phase, o.aim = running, 1
		o.restart()
	}
}

// still reports that there are no low and high phases: nobody is held back, or
// what they found would be chance.
func (o *own) still() bool { return o.passive || o.wild.floor > 0 }
