package pause

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A Heart is the decision of the heartbeat: it is told when it beats, and says
// how long the process stood still in between. It does not wait and does no
// locking. It is made by NewHeart.
type Heart struct {
	every, threshold time.Duration
	last             policy.Instant
	pauses           Pauses
}

// Pauses is what a heart has seen.
type Pauses struct {
	// Beats is how often it has beaten, on time or late.
	Beats uint64
	// Count is how many pauses there were.
	Count uint64
	// Total is the time that all of them took.
	Total time.Duration
	// Longest and Last are single ones, and Ended is when the last one was over.
	Longest, Last time.Duration
	Ended         policy.Instant
}

// NewHeart returns a heart that begins to beat at now.
func NewHeart(now policy.Instant, c Config) Heart {
	c = c.WithDefaults()
	return Heart{every: c.Every, threshold: c.Threshold, last: now}
}

// Beat says that the heart beats at now, and returns how late that is: the
// least that the process must have stood still. It is 0 when the beat came
// within the threshold.
func (h *Heart) Beat(now policy.Instant) time.Duration {
	now = max(now, h.last)
	late := span.Sub(now.Sub(h.last), h.every)
	h.last = now
	h.pauses.Beats++
	if late <= h.threshold {
		return 0
	}
	h.pauses.Count++
	h.pauses.Total = span.Add(h.pauses.Total, late)
	h.pauses.Longest = max(h.pauses.Longest, late)
	h.pauses.Last, h.pauses.Ended = late, now
	return late
}

// Pauses returns what the heart has seen so far.
func (h *Heart) Pauses() Pauses { return h.pauses }
