package retry

import (
	"math"
	"math/bits"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// Schedule returns the wait without jitter that follows n retries: Base for
// n = 0, Factor times as much for each further one, and Cap from where that
// would exceed it, for every n there is. It is never 0 and never negative.
//
// The power saturates before it is a duration. Computed as a product and
// capped afterwards it wraps, from about the fortieth retry on, into no wait at
// all (O-08).
func (c Config) Schedule(n int) time.Duration {
	c = c.WithDefaults()
	growth := math.Pow(c.Factor, float64(max(n, 0)))
	return span.Clamp(span.Scale(c.Base, growth), 1, max(c.Cap, 1))
}

// Wait returns the wait that follows n retries under the configured jitter.
// It depends on its arguments alone: last is the wait before this one (0 when
// there was none) and seed is the call's.
func (c Config) Wait(n int, last time.Duration, seed uint64) time.Duration {
	c = c.WithDefaults()
	dice := draw(seed, n)
	switch c.Jitter {
	case Full:
		return upTo(c.Schedule(n), dice)
	case Equal:
		most := c.Schedule(n)
		return most/2 + upTo(most-most/2, dice)
	case Decorrelated:
		low := c.Schedule(0)
		high := span.Clamp(span.Mul(max(last, low), 3), low, max(c.Cap, low))
		return low + upTo(high-low, dice)
	case AtOnce:
		return 0
	}
	return c.Schedule(n)
}

// upTo maps the draw to a duration from 0 to most, both included, evenly and
// without a float on the way.
func upTo(most time.Duration, dice uint64) time.Duration {
	high, _ := bits.Mul64(dice, uint64(most)+1)
	return time.Duration(high)
}

// draw returns the n-th number of the stream that belongs to the seed
// (splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", 2014). The same seed and n give the same number, so asking
// again waits equally long.
func draw(seed uint64, n int) uint64 {
	z := seed + (uint64(n)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
