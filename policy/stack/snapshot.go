package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/throttle"
)

// Counts are what a stack has done since it was made. They only grow.
type Counts struct {
	// Calls that began, and attempts that were started for them.
	Calls, Started uint64
	// Retries are the started attempts that were not their call's first.
	Retries uint64
	// Refused counts calls that ended without an answer, by reason.
	Refused [policy.Reasons]uint64
	// Outcomes counts attempts by what they said of the dependency.
	Outcomes [4]uint64
	// Timeouts counts attempts that their own time limit ended.
	Timeouts uint64
	// Left counts attempts whose caller left before the answer.
	Left uint64
	// Presumed counts attempts that were cut off because their dependency was
	// presumed dead.
	Presumed uint64
	// Wasted counts answers that came when their callers' time was up: work
	// that the dependency did for nobody.
	Wasted uint64
	// Hopeless counts attempts that could have started and could not be
	// expected to end in time: refused, or with Observe only counted.
	Hopeless uint64
	// Opened counts how often the breaker tripped, filled in by Snapshot: a
	// breaker that nobody looked at for a whole open time has moved twice.
	Opened uint64
}

// A Snapshot is what a stack looks like at one instant. Taking one changes
// nothing, and it is never stale: a breaker whose open time has passed is
// shown half-open, whether or not anybody has called since.
type Snapshot struct {
	At      policy.Instant
	Breaker breaker.Snapshot
	Budget  budget.Snapshot
	// Limit is the number of slots; InFlight how many are occupied, Kept of
	// them by held bodies and ghosts; Waiting how many calls wait for one.
	Limit, InFlight, Kept, Waiting int
	// Oldest is how long the oldest waiter has waited.
	Oldest time.Duration
	// Slots says where the limit comes from, with the latency beside it (F17);
	// Room and Rate how those stand. Rate is zero where there is no limit of it.
	Slots limit.Snapshot
	Room  room.Snapshot
	Rate  bucket.Snapshot
	// Throttle is zero where there is none.
	Throttle throttle.Snapshot
	// Mean, Deviation and Median describe the answered attempts. Median is 0
	// until there are enough of them, and callers whose deadline is under twice
	// the median, and under the slow threshold, cannot show a hang.
	Mean, Deviation, Median time.Duration
	Counts                  Counts
	// Panics counts panics of attempts that nobody waited for any more, filled
	// in by the driver.
	Panics uint64
}

// Snapshot returns what the stack looks like at now.
func (s *Stack) Snapshot(now policy.Instant) Snapshot {
	now = max(s.now, now)
	shot := Snapshot{
		At:       now,
		Breaker:  s.breaker.Snapshot(now),
		Budget:   s.budget.Snapshot(now),
		Limit:    s.limit.Max(),
		InFlight: s.limit.InFlight(),
		Waiting:  s.room.Len(),
		Oldest:   s.room.Oldest(now),
		Slots:    s.limit.Snapshot(now),
		Room:     s.room.Snapshot(now),
		Mean:     s.latency.Mean(), Deviation: s.latency.Deviation(),
		Counts: s.counts,
	}
	shot.Counts.Opened = shot.Breaker.Opened
	if s.throttle != nil {
		shot.Throttle = s.throttle.Snapshot(now)
	}
	if s.rate != nil {
		shot.Rate = s.rate.Snapshot(now)
	}
	if median, known := s.latency.Median(); known {
		shot.Median = median
	}
	for i := range s.slots {
		if s.slots[i].state == kept {
			shot.Kept++
		}
	}
	return shot
}
