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
// beginning, and neither low nor high phases. Calls that hang beside quick ones
// do not count for that.
type wild struct {
	floor float64 // the fewest slots; 0 while the dependency is tame
	block sums
	lost  sums // those of the block that were never answered
	hung  bool // it was not the number that they were lost for
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
	// long is how many times as long as others a call has to take that hangs.
	long = 4
)

// slots returns the fewest slots there may be.
func (w *wild) slots() float64 { return math.Floor(w.floor) }

// add tells of a call that ended while all slots were full, or not, and
// reports whether the dependency has just been found to be wild.
func (w *wild) add(took time.Duration, s *Sample, full bool) bool {
	w.block.add(took, 1, s)
	if !s.answered() {
		w.lost.add(took, 1, s)
	}
	if !w.told() {
		return false
	}
	b, late := w.block, w.block.late
	if w.hung = w.hangs(); w.hung {
		late -= w.lost.late
		if full && late < tolerated/2*b.calls {
			w.floor += math.Floor(w.floor / 4) // they hold most of what there is
		}
	}
	w.block, w.lost = sums{}, sums{}
	return w.decide(b.variation(), late/b.calls, full)
}

// told reports whether the block says enough: a tame dependency of which some
// calls hang is narrowed by them before a whole one is over.
func (w *wild) told() bool {
	return w.block.calls >= evidence ||
		w.floor == 0 && w.block.calls >= evidence/4 && w.lost.calls >= 4 && w.hangs()
}

// hangs reports that the calls that were never answered were not too many for
// the dependency: most of those beside them were answered, and long before. Of
// one that has more to do than it can, all wait. Shrinking would not save those
// that hang, and leave the others the slots that they do not hold.
func (w *wild) hangs() bool {
	answered := w.block.calls - w.lost.calls
	return w.lost.calls > 0 && answered > w.block.calls/2 &&
		(w.block.took-w.lost.took)/answered < w.lost.latency()/long
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
