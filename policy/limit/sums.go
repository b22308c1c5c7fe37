package limit

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// sums adds up what was seen of calls in a stretch of time. Times are float64
// nanoseconds: they are only averaged here.
type sums struct {
	calls, ok, late float64 // that ended; in time and well; too late to be of use
	fresh           float64 // that began in the present epoch
	took, squares   float64 // how long they took
	left            float64 // how long their callers could have waited
	inFlight        float64 // in flight when they began
	time, area      float64 // how long it was; in flight, integrated over it
}

func (s *sums) add(took time.Duration, n int32, sample *Sample) {
	s.calls++
	if sample.Late {
		s.late++
	} else if sample.answered() {
		s.ok++
	}
	x := float64(took)
	s.took += x
	s.squares += x * x
	s.left += float64(sample.Remaining)
	s.inFlight += float64(n)
}

// pass lets time pass with n in flight.
func (s *sums) pass(d time.Duration, n int) {
	s.time += float64(d)
	s.area += float64(d) * float64(n)
}

// fade keeps a part of s.
func (s *sums) fade(keep float64) {
	s.calls *= keep
	s.ok *= keep
	s.late *= keep
	s.fresh *= keep
	s.took *= keep
	s.squares *= keep
	s.left *= keep
	s.inFlight *= keep
	s.time *= keep
	s.area *= keep
}

// join adds o to s.
func (s *sums) join(o *sums) {
	s.calls += o.calls
	s.ok += o.ok
	s.late += o.late
	s.fresh += o.fresh
	s.took += o.took
	s.squares += o.squares
	s.left += o.left
	s.inFlight += o.inFlight
	s.time += o.time
	s.area += o.area
}

// latency is the mean time a call took.
func (s *sums) latency() float64 { return s.took / s.calls }

// began is the mean number in flight when the calls began.
func (s *sums) began() float64 { return s.inFlight / s.calls }

// flight is the mean number in flight over the time.
func (s *sums) flight() float64 { return s.area / s.time }

// rate is how many calls ended a nanosecond.
func (s *sums) rate() float64 { return s.calls / s.time }

// share is the part of the calls that were of use.
func (s *sums) share() float64 { return s.ok / s.calls }

// spread is the squared coefficient of variation of the times, drawn towards
// that of an exponential law, 1, while few calls are known: three equal
// answers are no proof of a steady dependency.
func (s *sums) spread() float64 {
	const doubt = 4
	if s.took == 0 {
		return 1
	}
	return max(.01, (s.variation()*s.calls+doubt)/(s.calls+doubt))
}

// variation is the squared coefficient of variation of the times as they are.
func (s *sums) variation() float64 {
	mean := s.latency()
	return max(0, s.squares/s.calls/(mean*mean)-1)
}

// errorOfMean is the relative standard error of a mean over n calls.
func errorOfMean(spread, n float64) float64 { return math.Sqrt(spread / n) }

// errorOfRate is the relative standard error of a rate over n calls: besides
// the spread of the single times, calls that began together end together, up
// to k at once.
func errorOfRate(spread, k, n float64) float64 { return math.Sqrt(spread/n + k*k/(4*n*n)) }

// duration is ns nanoseconds, saturated.
func duration(ns float64) time.Duration { return span.Scale(time.Nanosecond, ns) }
