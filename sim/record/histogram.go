package record

import (
	"iter"
	"math"
	"math/bits"
	"time"
)

const (
	bitsInside = 7 // of the 128 buckets to a doubling
	inside     = 1 << bitsInside
)

// A Histogram counts durations by size. The zero value is empty.
type Histogram struct {
	counts       []uint64
	n            uint64
	sum, squares float64 // in nanoseconds
	least, most  time.Duration
}

// Add counts one duration; negative ones count as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	i := index(d)
	if i >= len(h.counts) {
		h.grow(i)
	}
	h.counts[i]++
	if h.n == 0 {
		h.least = d
	}
	h.least, h.most = min(h.least, d), max(h.most, d)
	h.n++
	x := float64(d)
	h.sum += x
	h.squares += x * x
}

// Merge adds what o has counted.
func (h *Histogram) Merge(o *Histogram) {
	if o.n == 0 {
		return
	}
	if len(o.counts) > len(h.counts) {
		h.grow(len(o.counts) - 1)
	}
	for i, n := range o.counts {
		h.counts[i] += n
	}
	if h.n == 0 {
		h.least = o.least
	}
	h.least, h.most = min(h.least, o.least), max(h.most, o.most)
	h.n += o.n
	h.sum += o.sum
	h.squares += o.squares
}

// Reset forgets everything and keeps the memory.
func (h *Histogram) Reset() {
	clear(h.counts)
	*h = Histogram{counts: h.counts}
}

// Count returns how many durations were added.
func (h *Histogram) Count() uint64 { return h.n }

// Min returns the shortest duration, 0 when there is none.
func (h *Histogram) Min() time.Duration { return h.least }

// Max returns the longest duration, 0 when there is none.
func (h *Histogram) Max() time.Duration { return h.most }

// Mean returns the exact mean, 0 when there is none.
func (h *Histogram) Mean() time.Duration {
	return time.Duration(math.Round(h.sum / max(float64(h.n), 1)))
}

// Deviation returns the exact standard deviation, 0 when there is none.
func (h *Histogram) Deviation() time.Duration {
	n := max(float64(h.n), 1)
	mean := h.sum / n
	return time.Duration(math.Round(math.Sqrt(max(h.squares/n-mean*mean, 0))))
}

// Quantile returns the duration that the share q of all do not exceed, 0 when
// there is none. Within a bucket it interpolates.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := min(max(q, 0), 1) * float64(h.n)
	below := 0.0
	for from, b := range h.Buckets() {
		n := float64(b.Count)
		if below+n >= rank {
			d := float64(from) + (rank-below)/n*float64(b.Width)
			return min(max(time.Duration(d), h.least), h.most)
		}
		below += n
	}
	return h.most
}

// A Bucket is one class of durations, from where it begins.
type Bucket struct {
	Width time.Duration
	Count uint64
}

// Buckets yields those that are not empty, the shortest durations first.
func (h *Histogram) Buckets() iter.Seq2[time.Duration, Bucket] {
	return func(yield func(time.Duration, Bucket) bool) {
		for i, n := range h.counts {
			if n == 0 {
				continue
			}
			from := begin(i)
			if !yield(from, Bucket{begin(i+1) - from, n}) {
				return
			}
		}
	}
}

// grow makes room for bucket i, and for durations of a minute from the start.
func (h *Histogram) grow(i int) {
	more := make([]uint64, max(i+1, index(time.Minute)+1, 2*len(h.counts)))
	copy(more, h.counts)
	h.counts = more
}

// index returns the bucket of d: exact below 128 ns, then by the seven bits
// after the highest one.
func index(d time.Duration) int {
	v := uint64(d)
	shift := max(bits.Len64(v)-bitsInside-1, 0)
	return shift<<bitsInside + int(v>>shift)
}

// begin returns where bucket i begins, for every i there is and one more.
func begin(i int) time.Duration {
	if i < 2*inside {
		return time.Duration(i)
	}
	shift := i>>bitsInside - 1
	v := uint64(i-shift<<bitsInside) << shift
	return time.Duration(min(v, math.MaxInt64))
}
