package keyed

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestKeysKeepTheirValues(t *testing.T) {
	s := New[int](4, nil, nil)
	for key := range uint64(4) {
		*s.Get(key) = int(key) * 10
	}
	for key := range uint64(4) {
		if got := *s.Get(key); got != int(key)*10 {
			t.Errorf("key %d has %d", key, got)
		}
	}
	if s.Peek(9) != nil || s.Len() != 4 {
		t.Errorf("Peek made a key: %d", s.Len())
	}
}

func TestIdleKeysGoFirst(t *testing.T) {
	s := New[int](3, nil, nil)
	for key := range uint64(3) {
		*s.Get(key) = 1
	}
	s.Get(0) // seen again
	s.Get(2)
	s.Get(7) // takes the place of 1
	if s.Peek(1) != nil || s.Peek(0) == nil || s.Peek(2) == nil || s.Peek(7) == nil {
		t.Error("the idle key was not the one evicted")
	}
	if got := *s.Get(7); got != 0 {
		t.Errorf("a new key began with another's value %d", got)
	}
}

func TestNothingInUseIsEvicted(t *testing.T) {
	open := func(v *bool) bool { return *v }
	s := New(2, nil, open)
	*s.Get(1) = true
	*s.Get(2) = true
	for key := uint64(10); key < 20; key++ {
		*s.Get(key) = false
	}
	if s.Peek(1) == nil || s.Peek(2) == nil {
		t.Error("an open value was evicted")
	}
	if s.Overflowed() != 10 || s.Get(10) != s.Get(11) {
		t.Errorf("keys without a place do not share one value (%d overflowed)", s.Overflowed())
	}
	*s.Get(2) = false // closed again
	s.Get(30)         // the hand takes its seen mark off
	s.Get(30)
	if s.Peek(30) == nil || s.Peek(1) == nil {
		t.Error("a value that is not in use any more keeps its place for ever")
	}
}

// O-24: a million keys in a set of ten thousand, and keys that come again
// survive the flood.
func TestFlood(t *testing.T) {
	before := heap()
	s := New[[2]int64](10_000, nil, nil)
	took := make([]time.Duration, 0, 1_000_000)
	for key := range uint64(1_000_000) {
		start := time.Now()
		s.Get(key << 20)[0]++
		took = append(took, time.Since(start))
		s.Get(7 << 50)[1]++ // a regular
	}
	if s.Len() > 10_000 {
		t.Errorf("%d keys in a set of 10,000", s.Len())
	}
	if got := s.Get(7 << 50)[1]; got != 1_000_000 {
		t.Errorf("the key that came each time was forgotten: %d of 1,000,000", got)
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	took = nil
	if grown := heap() - before; grown > 20<<20 {
		t.Errorf("heap grew by %d bytes", grown)
	}
	if p99 > time.Millisecond {
		t.Errorf("p99 of a look-up is %v", p99)
	}
	runtime.KeepAlive(s)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Whatever is asked, in whatever order and size: the set is never larger than
// its size (but for what is in use when it shrinks), finds what it holds, and
// holds each key once.
func TestSetHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 12).Draw(t, "size")
		s := New(size, nil, func(v *uint64) bool { return *v%5 == 4 })
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := rapid.Uint64Range(0, 30).Draw(t, "key")
			if rapid.IntRange(0, 20).Draw(t, "resize") == 0 {
				size = rapid.IntRange(1, 12).Draw(t, "size")
				s.Resize(size)
			}
			v := s.Get(key)
			if v != &s.shared {
				if *v != 0 && *v != key {
					t.Fatalf("key %d got the value of %d", key, *v)
				}
				*v = key
				if got := s.Peek(key); got == nil || *got != key {
					t.Fatalf("key %d is not found", key)
				}
			}
			check(t, s, size)
		}
	})
}

// A set that could not be made as small as it should be becomes so when its
// values are in use no more, and has room for new keys again.
func TestASmallerSetShrinksLater(t *testing.T) {
	busy := true
	s := New[int](200, nil, func(*int) bool { return busy })
	for key := range uint64(200) {
		s.Get(key)
	}
	s.Resize(2)
	if s.Len() != 200 || s.Get(1000) != &s.shared {
		t.Fatalf("%d keys, all of them in use", s.Len())
	}
	busy = false
	for key := range uint64(10) {
		s.Get(2000 + key)
	}
	if v := s.Get(3000); s.Len() != 2 || v == &s.shared || s.Peek(3000) != v {
		t.Errorf("%d keys of 2; the newest has the shared value: %v", s.Len(), v == &s.shared)
	}
	for i := range s.entries {
		if s.find(s.entries[i].key) != i {
			t.Errorf("key %d is lost", s.entries[i].key)
		}
	}
}

func check(t *rapid.T, s *Set[uint64], size int) {
	seen := map[uint64]bool{}
	used := 0
	for i := range s.entries {
		e := &s.entries[i]
		if seen[e.key] || s.find(e.key) != i {
			t.Fatalf("key %d is lost or twice there", e.key)
		}
		seen[e.key] = true
		if s.inUse(&e.value) {
			used++
		}
	}
	if s.Len() > max(size, used) {
		t.Fatalf("%d keys of %d, %d in use", s.Len(), size, used)
	}
}

func FuzzSet(f *testing.F) {
	f.Add(uint8(3), []byte("abcabcdefg"))
	f.Fuzz(func(t *testing.T, size uint8, keys []byte) {
		s := New[byte](int(size), nil, nil)
		for _, key := range keys {
			v := s.Get(uint64(key))
			if v != &s.shared && *v != 0 && *v != key {
				t.Fatalf("key %d got the value of %d", key, *v)
			}
			if v != &s.shared {
				*v = key
			}
			if s.Len() > max(1, int(size)) {
				t.Fatalf("%d keys of %d", s.Len(), size)
			}
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	s := New[int](100, nil, nil)
	var key uint64
	for range 200 {
		key++
		s.Get(key)
	}
	if n := testing.AllocsPerRun(1000, func() {
		key++
		s.Get(key)
		s.Get(key)
	}); n != 0 {
		t.Errorf("%v allocations for a new key and a hit", n)
	}
}

func BenchmarkHit(b *testing.B) {
	s := New[int](10_000, nil, nil)
	for i := 0; b.Loop(); i++ {
		*s.Get(uint64(i%10_000) << 32)++
	}
}

func BenchmarkFlood(b *testing.B) {
	s := New[int](10_000, nil, nil)
	for i := 0; b.Loop(); i++ {
		*s.Get(uint64(i))++
	}
}

// The hand makes so many steps for a new key and no more, however many are in
// use in a row: the key shares the overflow's value, and the next one goes on
// where the hand stood.
func TestTheHandStops(t *testing.T) {
	const inUse = 10 * steps
	s := New(inUse+1, nil, func(v *bool) bool { return *v })
	for key := range uint64(inUse + 1) {
		*s.Get(key) = key < inUse
	}
	for n := range uint64(inUse / steps) {
		if s.Get(1<<40 + n); s.Overflowed() != n+1 || s.Evicted() != 0 {
			t.Fatalf("new key %d: %d overflowed, %d evicted; want %d and none within %d steps", n, s.Overflowed(), s.Evicted(), n+1, steps)
		}
	}
	if s.Get(1 << 50); s.Evicted() != 1 || s.Peek(inUse) != nil {
		t.Errorf("%d evicted when the hand had come to the one that is idle", s.Evicted())
	}
}
