// Package keyed keeps one policy value for each key - a bucket for each
// tenant, a breaker for each shard - within a fixed number of keys, for
// whoever takes keys from strangers. A map with an entry for each address is
// an outage that waits for a flood of addresses (O-24).
//
// Keys are 64-bit hashes that the caller makes, with a seed that strangers do
// not know (hash/maphash): two keys that share a hash share a value, which at
// 100,000 keys has a probability of about 3 in 10,000,000,000.
//
// When every place is taken, a new key takes the place of one that was idle.
// Idle is decided by the clock algorithm (Corbató 1968): each hit marks its
// entry as seen; a hand goes round, takes the mark off those that have it, and
// stops at the first without one. A value that is in use, such as an open
// breaker, is never evicted. The hand makes at most 64 steps for a new key; if
// that finds no place, the key gets the overflow value, which all such keys
// share, so that a flood can make its own keys coarse and nothing slow.
//
// A Set does no locking. Drivers that share one among many goroutines keep
// several, chosen by the key's upper bits, each behind a mutex.
package keyed

// steps is how far the hand goes for one new key.
const steps = 64

// A Set holds at most a fixed number of values, one for each key. It is made
// by New.
type Set[V any] struct {
	entries []entry[V]
	table   []int32 // heads of the chains, one more than the index; 0 is none
	hand    int
	size    int
	begin   func(*V)
	inUse   func(*V) bool
	shared  V

	evicted, overflowed uint64
}

type entry[V any] struct {
	key   uint64
	next  int32
	seen  bool
	value V
}

// New returns an empty set of at most size keys, at least 1. begin makes a
// value new, also one that served another key before; nil means the zero
// value. inUse reports whether a value must not be evicted; nil means that
// every one may.
func New[V any](size int, begin func(*V), inUse func(*V) bool) *Set[V] {
	if begin == nil {
		begin = func(v *V) { var zero V; *v = zero }
	}
	if inUse == nil {
		inUse = func(*V) bool { return false }
	}
	s := &Set[V]{size: max(1, size), begin: begin, inUse: inUse}
	s.table = make([]int32, width(s.size))
	begin(&s.shared)
	return s
}

// Get returns the value of key, a new one when the key is not in the set. The
// pointer is good until the next call of Get or Resize.
func (s *Set[V]) Get(key uint64) *V {
	if i := s.find(key); i >= 0 {
		s.entries[i].seen = true
		return &s.entries[i].value
	}
	i := s.place()
	if i < 0 {
		s.overflowed++
		return &s.shared
	}
	s.link(i, key)
	s.begin(&s.entries[i].value)
	return &s.entries[i].value
}

// Peek returns the value of key without making one or counting as a use; nil
// when the key is not in the set.
func (s *Set[V]) Peek(key uint64) *V {
	if i := s.find(key); i >= 0 {
		return &s.entries[i].value
	}
	return nil
}

// Len returns how many keys are in the set.
func (s *Set[V]) Len() int { return len(s.entries) }

// Evicted returns how many keys lost their place to another.
func (s *Set[V]) Evicted() uint64 { return s.evicted }

// Overflowed returns how often a key found no place and got the shared value.
func (s *Set[V]) Overflowed() uint64 { return s.overflowed }

// All calls visit with every value, the shared one last, until it returns
// false. A new configuration reaches the values that way.
func (s *Set[V]) All(visit func(key uint64, v *V) bool) {
	for i := range s.entries {
		if !visit(s.entries[i].key, &s.entries[i].value) {
			return
		}
	}
	visit(0, &s.shared)
}

// Resize changes how many keys the set holds. A smaller set keeps those in
// use and seen first, and never drops one that is in use: it then stays larger
// than it should be, and takes a new key when enough of them are idle again.
func (s *Set[V]) Resize(size int) {
	size = max(1, size)
	if size < len(s.entries) {
		s.shrink(size)
	}
	s.size, s.hand = size, 0
	s.table = make([]int32, width(max(size, len(s.entries))))
	for i := range s.entries {
		s.chain(i)
	}
}

// shrink drops idle entries first, then seen ones.
func (s *Set[V]) shrink(size int) {
	for _, seenToo := range []bool{false, true} {
		kept := s.entries[:0]
		excess := len(s.entries) - size
		for i := range s.entries {
			e := &s.entries[i]
			if excess > 0 && (seenToo || !e.seen) && !s.inUse(&e.value) {
				excess--
				s.evicted++
				continue
			}
			kept = append(kept, *e)
		}
		clear(s.entries[len(kept):])
		s.entries = kept
	}
}
