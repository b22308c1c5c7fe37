package accept

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/span"
)

// A Limit is one of those that somebody on the way in can be over.
type Limit uint8

const (
	// Open connections are as many as there may be.
	Open Limit = iota
	// Address: the one address has used up its rate.
	Address
	// Tenant: the one tenant has.
	Tenant
	// Rate: everybody together has.
	Rate
	// Running handshakes are as many as there may be.
	Running

	// Limits is the number of limits, for arrays indexed by Limit.
	Limits = int(Running) + 1
)

// String returns the limit's word in metrics.
func (l Limit) String() string {
	return [Limits]string{"open", "address", "tenant", "rate", "running"}[l]
}

// A shared rate is everybody's. It knows when those whom it refuses may come
// back, and that they are many.
type shared struct {
	after    span.Range
	interval time.Duration // from one to the next at the rate

	mu     sync.Mutex // guards what follows
	bucket *bucket.Bucket
	booked policy.Instant // until then as many are asked back as the rate takes
}

// newShared returns the rate, one that is never used up when it is 0.
func newShared(rate float64, burst int, after span.Range) *shared {
	s := &shared{after: after}
	if rate > 0 {
		s.bucket = bucket.New(bucket.Config{Rate: rate, Burst: burst})
		s.interval = span.Scale(time.Second, 1/rate)
	}
	return s
}

func (s *shared) allow(now policy.Instant) bool {
	if s.bucket == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bucket.Allow(now)
}

// comeBack draws when somebody who was refused for the limit may come back.
// own is when his own rate allows it.
func (s *shared) comeBack(now policy.Instant, over Limit, own policy.Instant) time.Duration {
	wait := s.after.Pick(rand.Float64())
	switch over {
	case Address, Tenant:
		return max(wait, own.Sub(now))
	case Open:
		return wait
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.booked = max(s.booked, now.Add(s.after.Min))
	wait = span.Add(wait, s.booked.Sub(now)-s.after.Min)
	s.booked = s.booked.Add(s.interval)
	return wait
}
