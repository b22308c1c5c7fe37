package random

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

type kind uint8

const (
	none kind = iota
	constant
	exponential
	lognormal
	erlang
	hyper
	normal
	uniform
	values
	histogram
	cycle
)

// A Law says how long something takes. The zero Law takes no time at all.
// Laws do not change; they may be shared.
type Law struct {
	kind   kind
	phases int       // erlang
	a, b   float64   // two parameters, in nanoseconds where they are durations
	times  []float64 // hyper: means; values and cycle: durations; histogram: bounds
	shares []float64 // cumulative, the last is 1
}

// Constant returns the law of what always takes d.
func Constant(d time.Duration) Law { return Law{kind: constant, a: float64(d)} }

// Exponential returns the memoryless law with that mean.
func Exponential(mean time.Duration) Law { return Law{kind: exponential, a: float64(mean)} }

// Lognormal returns the law whose logarithm is normal, by its mean and the
// deviation of the logarithm.
func Lognormal(mean time.Duration, sigma float64) Law {
	return Law{kind: lognormal, a: math.Log(float64(mean)) - sigma*sigma/2, b: sigma}
}

// Erlang returns the law of that many exponential phases one after the other,
// which take mean together.
func Erlang(phases int, mean time.Duration) Law {
	return Law{kind: erlang, phases: phases, a: float64(mean) / float64(max(phases, 1))}
}

// Normal returns the normal law with what lies below 0 cut off.
func Normal(mean, deviation time.Duration) Law {
	return Law{kind: normal, a: float64(mean), b: float64(deviation)}
}

// IsZero reports whether the law takes no time at all.
func (l Law) IsZero() bool { return l.kind == none || l.kind == constant && l.a == 0 }

// Draw returns a duration by numbers of the stream. n counts the draws for the
// same purpose before this one; only a cycle looks at it.
func (l *Law) Draw(s *Stream, n uint64) time.Duration {
	switch l.kind {
	case none:
		return 0
	case constant:
		return time.Duration(l.a)
	case exponential:
		return nanoseconds(-l.a * math.Log(s.Float64()))
	case cycle:
		return time.Duration(l.times[n%uint64(len(l.times))])
	case erlang:
		return l.drawErlang(s)
	}
	return l.invert(s.Float64())
}

// drawErlang multiplies before it takes the logarithm: one instead of many. A
// product of so few numbers above 2^-53 does not vanish.
func (l *Law) drawErlang(s *Stream) time.Duration {
	sum := 0.0
	for left := l.phases; left > 0; left -= 16 {
		product := 1.0
		for range min(left, 16) {
			product *= s.Float64()
		}
		sum -= math.Log(product)
	}
	return nanoseconds(l.a * sum)
}

// invert returns the duration that is as long as the share u of all.
func (l *Law) invert(u float64) time.Duration {
	switch l.kind {
	case lognormal:
		return nanoseconds(math.Exp(l.a + l.b*quantile(u)))
	case normal:
		below := 0.5 * math.Erfc(l.a/l.b/math.Sqrt2) // what is cut off
		return nanoseconds(l.a + l.b*quantile(below+u*(1-below)))
	case uniform:
		return nanoseconds(l.a + u*(l.b-l.a))
	}
	i, _ := slices.BinarySearch(l.shares, u)
	i = min(i, len(l.shares)-1)
	low := 0.0
	if i > 0 {
		low = l.shares[i-1]
	}
	within := (u - low) / (l.shares[i] - low) // again between 0 and 1
	switch l.kind {
	case hyper:
		return nanoseconds(-l.times[i] * math.Log(1-within))
	case histogram:
		from := 0.0
		if i > 0 {
			from = l.times[i-1]
		}
		return nanoseconds(from + within*(l.times[i]-from))
	}
	return time.Duration(l.times[i])
}

// Mean returns how long it takes on average.
func (l Law) Mean() time.Duration {
	switch l.kind {
	case lognormal:
		return nanoseconds(math.Exp(l.a + l.b*l.b/2))
	case erlang:
		return nanoseconds(l.a * float64(l.phases))
	case normal:
		z := l.a / l.b
		density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		return nanoseconds(l.a + l.b*density/(1-0.5*math.Erfc(z/math.Sqrt2)))
	case uniform:
		return nanoseconds((l.a + l.b) / 2)
	case hyper, values, histogram, cycle:
		return l.weighted()
	}
	return time.Duration(l.a)
}

func (l Law) weighted() time.Duration {
	sum, low, from := 0.0, 0.0, 0.0
	for i, t := range l.times {
		switch l.kind {
		case cycle:
			sum += t / float64(len(l.times))
			continue
		case histogram:
			sum += (l.shares[i] - low) * (from + t) / 2
		default:
			sum += (l.shares[i] - low) * t
		}
		low, from = l.shares[i], t
	}
	return nanoseconds(sum)
}

// quantile inverts the standard normal distribution function.
func quantile(u float64) float64 {
	if u > 0.5 { // Erfcinv keeps its precision near 0
		return math.Sqrt2 * math.Erfcinv(2*(1-u))
	}
	return -math.Sqrt2 * math.Erfcinv(2*u)
}

// nanoseconds rounds, and saturates.
func nanoseconds(x float64) time.Duration {
	switch {
	case x >= float64(math.MaxInt64):
		return span.Max
	case x > 0:
		return time.Duration(x + 0.5)
	}
	return 0
}

// scale maps a number evenly to [0, n).
func scale(x, n uint64) uint64 {
	high, _ := bits.Mul64(x, n)
	return high
}
