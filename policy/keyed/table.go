package keyed

import "math/bits"

// width returns the number of chains for n keys: a power of two, at most two
// keys a chain in the mean.
func width(n int) int { return 1 << bits.Len(uint(n-1)/2+1) }

// head returns the start of the chain that key belongs to. The product's upper
// bits depend on all bits of the key (Knuth, volume 3, 6.4), so that keys that
// are numbers instead of hashes spread as well.
func (s *Set[V]) head(key uint64) *int32 {
	const golden = 0x9E3779B97F4A7C15
	return &s.table[key*golden>>(64-bits.Len(uint(len(s.table)-1)))]
}

func (s *Set[V]) find(key uint64) int {
	for i := *s.head(key) - 1; i >= 0; i = s.entries[i].next {
		if s.entries[i].key == key {
			return int(i)
		}
	}
	return -1
}

// place returns the index of an entry that a new key may have, -1 when the
// hand found none.
func (s *Set[V]) place() int {
	if len(s.entries) < s.size {
		var fresh entry[V]
		s.entries = append(s.entries, fresh)
		return len(s.entries) - 1
	}
	for range min(steps, len(s.entries)) {
		if s.hand >= len(s.entries) {
			s.hand = 0
		}
		i := s.hand
		s.hand++
		e := &s.entries[i]
		switch idle := !e.seen && !s.inUse(&e.value); {
		case idle && len(s.entries) > s.size: // it was to become smaller, and could not
			s.drop(i)
			s.hand = i
		case idle:
			s.unlink(i)
			s.evicted++
			return i
		default:
			e.seen = false
		}
	}
	return -1
}

// drop takes entry i out; the last one moves into its place.
func (s *Set[V]) drop(i int) {
	s.unlink(i)
	s.evicted++
	last := len(s.entries) - 1
	if i != last {
		s.unlink(last)
		s.entries[i] = s.entries[last]
		s.chain(i)
	}
	clear(s.entries[last:])
	s.entries = s.entries[:last]
}

// link gives entry i to key. A new key is not seen yet: in a flood of keys
// that come once, each takes the place of another of them, and those that come
// again stay.
func (s *Set[V]) link(i int, key uint64) {
	s.entries[i].key, s.entries[i].seen = key, false
	s.chain(i)
}

func (s *Set[V]) chain(i int) {
	head := s.head(s.entries[i].key)
	s.entries[i].next = *head - 1
	*head = int32(i) + 1
}

func (s *Set[V]) unlink(i int) {
	head := s.head(s.entries[i].key)
	if *head-1 == int32(i) {
		*head = s.entries[i].next + 1
		return
	}
	for at := *head - 1; at >= 0; at = s.entries[at].next {
		if s.entries[at].next == int32(i) {
			s.entries[at].next = s.entries[i].next
			return
		}
	}
}
