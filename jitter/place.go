package jitter

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// longestOrdinal is how many digits may be an ordinal. The random ends that
// other controllers give to their pods have five characters, and one in a
// thousand of those consists of digits alone: "prices-7d9f8b6c5d-24567" is not
// the twenty-five-thousandth of anything.
const longestOrdinal = 4

// A Place is where a process stands in the line of those that start together:
// its ordinal, or, where nobody gave it one, a fraction between 0 and 1 that
// follows from its name. The zero value is the head of the line.
type Place struct {
	ordinal int64
	share   float64
	hashed  bool
}

// Nth returns the place with the given ordinal, counted from 0: of a connection
// among those that one process opens, or of a process that was told its number.
func Nth(ordinal int) Place { return Place{ordinal: int64(max(ordinal, 0))} }

// PlaceOf returns the place of a host or pod, by its name.
//
// A StatefulSet names its pods "gateway-0" to "gateway-119": the number is the
// ordinal. A domain behind it is ignored. Every other name, as a Deployment
// gives, is hashed to a place that is the same on every machine and in every
// release; two names may fall close together, which is why the jitter behind a
// hashed place cannot be switched off.
func PlaceOf(name string) Place {
	if ordinal, ok := ordinalOf(name); ok {
		return Place{ordinal: ordinal}
	}
	return Place{share: shareOf(name), hashed: true}
}

// ordinalOf reads the number behind the last hyphen of the first label.
func ordinalOf(name string) (int64, bool) {
	label, _, _ := strings.Cut(name, ".")
	hyphen := strings.LastIndexByte(label, '-')
	digits := label[hyphen+1:]
	switch {
	case hyphen < 1 || digits == "" || len(digits) > longestOrdinal:
		return 0, false
	case digits[0] == '0' && len(digits) > 1: // no controller writes "-007"
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return int64(n), err == nil
}

// shareOf hashes a name to [0, 1).
func shareOf(name string) float64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return float64(mix(h.Sum64())>>11) / (1 << 53)
}

// mix spreads the last characters of a name, in which the pods of one
// Deployment differ, over all bits: FNV leaves the highest ones almost as they
// were. It is the finalizer of MurmurHash3 (Appleby).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// String says how the place was found: "ordinal 12" or "hash 0.437".
func (p Place) String() string {
	if p.hashed {
		return fmt.Sprintf("hash %.3f", p.share)
	}
	return fmt.Sprintf("ordinal %d", p.ordinal)
}
