package cache

import (
	"hash/maphash"
	"sync"
)

// A Store keeps items by key within a bound of its own. The cache brings one
// (see [New]); [NewOver] takes another, for instance one that weighs values.
//
// A Store may forget any item at any time, and is safe for concurrent use. Its
// methods are called under the cache's lock, so they must not call the cache.
type Store[K comparable, V any] interface {
	// Get returns the item of key, nil when there is none.
	Get(key K) *Item[V]
	// Set keeps item under key.
	Set(key K, item *Item[V])
	// Delete forgets the item of key.
	Delete(key K)
	// Len returns how many items are kept.
	Len() int
}

const (
	// parts is how many mutexes the clock store has: two readers of different
	// keys rarely meet.
	parts = 16
	// steps is how far a hand goes for one new key.
	steps = 64
)

// clocks is the store that the cache brings: a fixed number of places in
// several parts, each with a clock hand that chooses which key loses its own.
type clocks[K comparable, V any] struct {
	seed  maphash.Seed
	parts []clock[K, V]
}

// newClocks returns a store of at most keys items.
func newClocks[K comparable, V any](keys int) *clocks[K, V] {
	n := min(parts, keys)
	s := &clocks[K, V]{seed: maphash.MakeSeed(), parts: make([]clock[K, V], n)}
	for i := range s.parts {
		s.parts[i].index = make(map[K]int)
		s.parts[i].size = (keys + i) / n // sums up to keys
	}
	return s
}

func (s *clocks[K, V]) part(key K) *clock[K, V] {
	return &s.parts[maphash.Comparable(s.seed, key)%uint64(len(s.parts))]
}

func (s *clocks[K, V]) Get(key K) *Item[V]       { return s.part(key).get(key) }
func (s *clocks[K, V]) Set(key K, item *Item[V]) { s.part(key).set(key, item) }
func (s *clocks[K, V]) Delete(key K)             { s.part(key).remove(key) }

func (s *clocks[K, V]) Len() int {
	n := 0
	for i := range s.parts {
		n += s.parts[i].len()
	}
	return n
}

// A clock evicts by the second-chance algorithm (Corbato, 1968): a hit marks
// its place as seen; the hand goes round, takes marks off, and evicts the first
// place without one. After 64 marks it takes the next place all the same: a
// cache in which everything is hot must still learn new keys, in bounded time.
type clock[K comparable, V any] struct {
	mu     sync.Mutex
	index  map[K]int
	places []place[K, V]
	size   int
	hand   int
	_      [64]byte // the next one's mutex is on another cache line
}

type place[K comparable, V any] struct {
	key  K
	item *Item[V]
	seen bool
}

func (c *clock[K, V]) get(key K) *Item[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.index[key]
	if !ok {
		return nil
	}
	c.places[i].seen = true
	return c.places[i].item
}

// set keeps item. A new key is not seen yet: in a flood of keys that come once,
// each takes the place of another of them, and those that come again stay.
func (c *clock[K, V]) set(key K, item *Item[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.index[key]
	switch {
	case ok:
		c.places[i].item = item
		return
	case len(c.places) < c.size:
		i = len(c.places)
		c.places = append(c.places, place[K, V]{})
	default:
		i = c.evict()
	}
	c.places[i] = place[K, V]{key: key, item: item}
	c.index[key] = i
}

// evict returns a place whose key has been forgotten.
func (c *clock[K, V]) evict() int {
	i := c.turn()
	for range steps {
		if !c.places[i].seen {
			break
		}
		c.places[i].seen = false
		i = c.turn()
	}
	delete(c.index, c.places[i].key)
	return i
}

// turn moves the hand on and returns where it was.
func (c *clock[K, V]) turn() int {
	i := c.hand % len(c.places) // places may have been removed
	c.hand = i + 1
	return i
}

// remove fills the gap with the last place.
func (c *clock[K, V]) remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.index[key]
	if !ok {
		return
	}
	delete(c.index, key)
	last := len(c.places) - 1
	if i != last {
		c.places[i] = c.places[last]
		c.index[c.places[i].key] = i
	}
	c.places[last] = place[K, V]{}
	c.places = c.places[:last]
}

func (c *clock[K, V]) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.places)
}
