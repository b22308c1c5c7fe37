package breaker

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// forgiveness is how many points a good attempt takes off. With 1 a tail of
// 45 % slow answers would fill the score about a thousand times a day.
const forgiveness = 2

// A score is a random walk that stays at 0 in normal service and is full soon
// after a dependency has stopped working.
type score struct {
	points int
	left   policy.Instant // when it last left 0
}

// bad adds a point, unless the score is full.
func (s *score) bad(now policy.Instant, r *rules) {
	s.see(now, r)
	if s.points == 0 {
		s.left = now
	}
	s.points = min(s.points+1, r.Calls)
}

func (s *score) good() { s.points = max(s.points-forgiveness, 0) }

// see forgets a stretch that is older than the window.
func (s *score) see(now policy.Instant, r *rules) {
	if s.points > 0 && now.Sub(s.left) > r.memory {
		*s = score{}
	}
}

// lasted reports whether the score has been above 0 for at least d.
func (s *score) lasted(now policy.Instant, d time.Duration) bool {
	return s.points > 0 && now.Sub(s.left) >= d
}
