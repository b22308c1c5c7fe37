package random

// golden is the step of splitmix64: 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// A Stream is a sequence of random numbers: a value that its owner keeps. The
// zero Stream works, and is the same everywhere; begin one with Of.
type Stream uint64

// Of returns the stream that belongs to the words, in this order.
func Of(words ...uint64) Stream {
	h := uint64(len(words))
	for _, w := range words {
		h = mix(h*golden + w)
	}
	return Stream(h)
}

// Sub returns the stream for one thing among those that s is for. It draws
// nothing from s.
func (s Stream) Sub(thing uint64) Stream {
	return Stream(mix(uint64(s) + golden*(2*thing+1)))
}

// Name returns a word for an entity's name (FNV-1a).
func Name(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}

// Uint64 returns the next number.
func (s *Stream) Uint64() uint64 {
	*s += golden
	return mix(uint64(*s))
}

// Float64 returns the next number between 0 and 1, neither included.
func (s *Stream) Float64() float64 {
	return (float64(s.Uint64()>>12) + 0.5) / (1 << 52)
}

// IntN returns the next whole number from 0 up to n, n not included; 0 when n
// is below 1.
func (s *Stream) IntN(n int) int {
	if n < 1 {
		return 0
	}
	return int(scale(s.Uint64(), uint64(n)))
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
