package room

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Counts is what became of the calls that were offered.
type Counts struct {
	// Granted were given a slot.
	Granted uint64
	// Left were taken out by their owners.
	Left uint64
	// Expired could not be finished in time; Waited found no slot in time.
	Expired, Waited uint64
	// Full found no place, or lost theirs to a better right.
	Full uint64
	// Shed were refused because the room was too slow for too long.
	Shed uint64
	// WouldShed and WouldExpire are what was let in, when only observing, that
	// would have been refused when it was offered.
	WouldShed, WouldExpire uint64
}

func (c *Counts) refuse(why policy.Reason) {
	switch why {
	case policy.Expired:
		c.Expired++
	case policy.Waited:
		c.Waited++
	case policy.Full:
		c.Full++
	case policy.Shed:
		c.Shed++
	}
}

// A Snapshot is how a room stands at one instant.
type Snapshot struct {
	// Waiting calls, of so many Places, in so many Flows.
	Waiting, Places, Flows int
	// Levels is how many wait at each level.
	Levels [Levels]int
	// Oldest is how long the oldest has waited.
	Oldest time.Duration
	// Sheds reports that the room has been too slow for a whole window, and
	// refuses what would burden it.
	Sheds bool
	// NewestFirst reports that the room is in overload, or was within the last
	// window, and serves the newest first.
	NewestFirst bool
	// Rate is how many waiters are served a second while there are any; 0
	// until that is known.
	Rate float64
	Counts
}

// Snapshot returns how the room stands. It changes nothing.
func (r *Room) Snapshot(now policy.Instant) Snapshot {
	now = max(now, r.last)
	later := *r
	later.look(now)
	s := Snapshot{
		Waiting: r.len, Places: max(0, r.config.Waiting), Flows: r.flows.used,
		Oldest: r.Oldest(now), Rate: r.drain.rate, Counts: r.counts,
		Sheds:       later.watch.slow(now, r.config.Window) && !r.config.Observe,
		NewestFirst: later.newestFirst(),
	}
	for i := range r.levels {
		s.Levels[i] = r.levels[i].n
	}
	return s
}
