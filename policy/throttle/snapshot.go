package throttle

import "github.com/kalan-go/kalan/policy"

// A Snapshot is a throttle at one instant, for display.
type Snapshot struct {
	// Levels are the levels of importance, the most important first.
	Levels [Levels]Level
	// Refused is how many requests were refused since the start, or, observing,
	// would have been: 0 means that the throttle never bound.
	Refused uint64
}

// A Level is what is known of the requests of one importance.
type Level struct {
	// Requests are those of the window, refused here or ended; Accepts those of
	// them that the dependency accepted.
	Requests, Accepts uint64
	// Share is the share that is refused now, in [0, 1).
	Share float64
}

// Share returns the share that is refused now of the level of which most is.
func (s *Snapshot) Share() float64 {
	most := 0.
	for _, l := range s.Levels {
		most = max(most, l.Share)
	}
	return most
}

// Snapshot returns the throttle at now, also after an idle time. It changes
// nothing.
func (t *Throttle) Snapshot(now policy.Instant) Snapshot {
	seen := *t
	seen.window.see(now)
	s := Snapshot{Refused: seen.refused}
	for i, sum := range seen.window.total {
		s.Levels[i] = Level{Requests: sum.requests, Accepts: sum.accepts, Share: seen.share(uint8(i))}
	}
	return s
}
