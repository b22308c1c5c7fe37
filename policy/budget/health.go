package budget

import "math/bits"

// remembered is how many outcomes decide whether the floor exists.
const remembered = 10

// health remembers the last outcomes, the newest in the lowest bit.
type health struct {
	known uint8
	bits  uint16
}

func (h *health) add(success bool) {
	h.bits <<= 1
	if success {
		h.bits |= 1
	}
	h.bits &= 1<<remembered - 1
	h.known = min(h.known+1, remembered)
}

// good reports whether at least half of what is known succeeded; a dependency
// of which nothing is known gets the benefit of the doubt.
func (h health) good() bool { return 2*bits.OnesCount16(h.bits) >= int(h.known) }
