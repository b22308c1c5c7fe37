package openloop

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// A Load says what arrives when. The same Load gives the same arrivals.
type Load struct {
	// Rate is how many arrive a second. 0 means none, and so does nonsense.
	Rate float64
	// For is how long they arrive.
	For time.Duration
	// Patience is how long a caller waits, drawn evenly from the range. The
	// zero value means one second.
	Patience span.Range
	// Mix are the kinds of callers there are. None means that all are alike.
	Mix []Kind
	// Retries is how often a caller asks again that was not answered in time.
	// Each time it waits anew, after a pause.
	Retries int
	// Pause is the longest pause before the first of them, drawn evenly from 0;
	// it doubles with each.
	Pause time.Duration
	// Poisson spaces the arrivals at random, as independent callers do. False
	// spaces them evenly.
	Poisson bool
	// Seed chooses the random numbers.
	Seed uint64
	// Flying is the largest number of unanswered requests. 0 means 10,000.
	// Raising it costs memory, and hides less of a long stall.
	Flying int
}

// A Kind is a part of the callers.
type Kind struct {
	// Share is their part of all, against the sum of all shares.
	Share float64
	// Patience is how long they wait; zero means as all do.
	Patience time.Duration
}

func (l Load) flying() int {
	if l.Flying <= 0 {
		return 10_000
	}
	return l.Flying
}

// An Arrival is one entry of the schedule.
type Arrival struct {
	// At is its offset from the start, Patience how long its caller waits.
	At, Patience time.Duration
	// Kind is which of the mix it is.
	Kind int
}

// Arrivals returns the schedule.
func (l Load) Arrivals() iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		if !(l.Rate > 0) || math.IsInf(l.Rate, 1) {
			return
		}
		draw := rand.New(rand.NewPCG(l.Seed, 0))
		gap := span.Scale(time.Second, 1/l.Rate)
		for n, at := 0, time.Duration(0); ; n++ {
			if l.Poisson {
				at = span.Add(at, span.Scale(gap, draw.ExpFloat64()))
			} else {
				at = span.Scale(time.Second, float64(n)/l.Rate)
			}
			if at >= l.For {
				return
			}
			patience := l.patience(draw.Float64())
			if kind := l.kind(draw); !yield(Arrival{at, l.waits(kind, patience), kind}) {
				return
			}
		}
	}
}

func (l Load) patience(u float64) time.Duration {
	if l.Patience.IsZero() {
		return time.Second
	}
	return l.Patience.Pick(u)
}

// kind draws one of the mix.
func (l Load) kind(draw *rand.Rand) int {
	if len(l.Mix) == 0 {
		return 0
	}
	sum := 0.
	for _, k := range l.Mix {
		sum += k.Share
	}
	at := draw.Float64() * sum
	for i, k := range l.Mix {
		if at -= k.Share; at < 0 {
			return i
		}
	}
	return len(l.Mix) - 1
}

// waits returns how long one of a kind waits, if all wait for patience.
func (l Load) waits(kind int, patience time.Duration) time.Duration {
	if len(l.Mix) > 0 && l.Mix[kind].Patience > 0 {
		return l.Mix[kind].Patience
	}
	return patience
}
