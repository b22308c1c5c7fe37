package limit

import (
	"math/bits"
	"time"
)

const (
	finest = 10 // the first octave: everything below 1.024 µs counts as that
	parts  = 8  // of each octave
	cells  = 31 * parts
)

// A histogram counts durations in cells that are an eighth of an octave wide,
// so that a quantile is right to 6 %, from a microsecond to half an hour.
type histogram struct {
	cell  [cells]uint32
	count uint32
}

func (h *histogram) add(cell int) {
	h.cell[cell]++
	h.count++
}

// halve forgets half of what was counted.
func (h *histogram) halve() {
	h.count = 0
	for i := range h.cell {
		h.cell[i] /= 2
		h.count += h.cell[i]
	}
}

func cellOf(d time.Duration) int {
	n := uint64(max(d, 1<<finest))
	octave := bits.Len64(n) - 1
	part := int(n >> (octave - 3) & (parts - 1))
	return min((octave-finest)*parts+part, cells-1)
}

// middle returns the duration in the middle of a cell.
func middle(cell int) time.Duration {
	low := uint64(parts+cell%parts) << (cell/parts + finest - 3)
	return time.Duration(low + low/(2*parts))
}

// quantile returns the duration that the fraction q of those in a and b
// together do not exceed; 0 when there are none.
func quantile(q float64, a, b *histogram) time.Duration {
	rank := uint32(q * float64(a.count+b.count))
	seen := uint32(0)
	for i := range a.cell {
		if seen += a.cell[i] + b.cell[i]; seen > rank {
			return middle(i)
		}
	}
	return 0
}
