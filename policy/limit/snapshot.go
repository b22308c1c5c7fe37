package limit

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Counts is how many slots were taken and how the work in them ended.
type Counts struct {
	// Taken slots, without those that were given back unused.
	Taken uint64
	// Over are those that were taken above the limit: a breaker's probes, and
	// when only observing all that would have been held back.
	Over uint64
	// Late ended when their callers had no use for it any more.
	Late uint64
	// Refused were turned away by the dependency itself.
	Refused uint64
}

// A Snapshot is how a limit stands at one instant: the number, and beside it
// the latency that it was made of (F17).
type Snapshot struct {
	// Max is the number of slots, of which InFlight are taken.
	Max, InFlight int
	// Kind says where Max comes from, and Phase what an adaptive limit is
	// doing about it.
	Kind  Kind
	Phase string
	// Useful is the number of calls that keep the dependency busy, and Base
	// how long a call takes that waits for no other, as an adaptive limit
	// believes; 0 where that is unknown.
	Useful float64
	Base   time.Duration
	// Mean and Deviation are of the last answers, smoothed; P50 and P99 of
	// about the last thousand. 0 before the first answer.
	Mean, Deviation, P50, P99 time.Duration
	// Calm is the p99 of calls that began with at most half as many in flight
	// as usual.
	Calm time.Duration
	// TooHigh reports that the p99 is twice that of calm times although the
	// limit was not reached: it is too high to protect anything.
	TooHigh bool
	Counts
}

// Snapshot returns how the limit stands. It changes nothing.
func (l *Limit) Snapshot(policy.Instant) Snapshot {
	m := &l.seen
	s := Snapshot{
		Max: l.slots, InFlight: l.inFlight, Kind: l.config.Kind,
		Mean: duration(m.mean), Deviation: duration(m.deviation),
		P50: m.quantile(.5), P99: m.quantile(.99), Calm: quantile(.99, &m.calm, &histogram{}),
		TooHigh: m.tooHigh(l.slots), Counts: l.counts,
	}
	if l.config.Kind == Adaptive {
		s.Phase, s.Useful = phases[l.own.phase], l.own.useful
		if l.own.base.calls > 0 {
			s.Base = duration(l.own.base.latency())
		}
	}
	return s
}
