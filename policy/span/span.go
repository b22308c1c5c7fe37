// Package span is the arithmetic on durations that saturates instead of
// wrapping. No other code multiplies durations: a product that wraps to a
// negative delay turns the longest wait there is into no wait at all, in the
// middle of the outage that made it long.
package span

import (
	"math"
	"math/bits"
	"time"
)

const (
	// Max is the longest duration there is, about 292 years.
	Max = time.Duration(math.MaxInt64)
	// Min is the most negative one.
	Min = time.Duration(math.MinInt64)
)

// Add returns a+b, saturated.
func Add(a, b time.Duration) time.Duration {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return Max
	case a < 0 && b < 0 && s >= 0:
		return Min
	}
	return s
}

// Sub returns a-b, saturated.
func Sub(a, b time.Duration) time.Duration {
	s := a - b
	switch {
	case a >= 0 && b < 0 && s < 0:
		return Max
	case a < 0 && b > 0 && s >= 0:
		return Min
	}
	return s
}

// Mul returns d times n, saturated.
func Mul(d time.Duration, n int64) time.Duration {
	hi, lo := bits.Mul64(magnitude(int64(d)), magnitude(n))
	negative := (d < 0) != (n < 0)
	switch {
	case negative && (hi != 0 || lo >= 1<<63):
		return Min
	case negative:
		return -time.Duration(lo)
	case hi != 0 || lo > math.MaxInt64:
		return Max
	}
	return time.Duration(lo)
}

// Scale returns d times f, saturated and truncated towards zero. A product
// that is not a number (NaN, or no time at all times infinity) is 0. A part of
// d is never longer than d: beyond 104 days a float64 no longer holds every
// nanosecond, and rounds some of them up.
func Scale(d time.Duration, f float64) time.Duration {
	r := nearest(float64(d) * f)
	if math.Abs(f) > 1 || magnitude(int64(r)) <= magnitude(int64(d)) {
		return r
	}
	if (r < 0) == (d < 0) {
		return d
	}
	return Sub(0, d)
}

// nearest returns p, saturated and truncated towards zero.
func nearest(p float64) time.Duration {
	switch {
	case p != p:
		return 0
	case p >= float64(math.MaxInt64):
		return Max
	case p <= float64(math.MinInt64):
		return Min
	}
	return time.Duration(p)
}

// Clamp returns d, but at least low and at most high.
func Clamp(d, low, high time.Duration) time.Duration {
	return min(max(d, low), high)
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
