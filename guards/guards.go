// Package guards is a guard for each key: for each shard of a database, each
// address of a service, each partner that is called, all of one configuration. One
// that hangs is refused, and the others are not (F16).
//
//	shards, err := guards.New[int](kalan.Config{Name: "orders"}, 64)
//	...
//	row, err := kalan.Do(ctx, shards.Get(shard), func(ctx context.Context) (Row, error) {
//		return read(ctx, shard)
//	})
//
// Use it where keys come and go, or come from strangers; three dependencies that a
// program knows by name are three guards. For the hosts of an http.Client there is
// kalanhttp.Hosts, which is one of these.
//
// # Limits
//
// The number of guards is capped (O-24). A new key takes the place of one that was
// idle, in O(1) (package policy/keyed), never of one whose breaker is open or being
// probed or that has calls in flight; where there is no such place, keys share the
// guard named "others". What a guard that gave way had learned is lost. A guard is a
// dozen kilobytes, and more when it is used.
package guards

import (
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/keyed"
	"github.com/kalan-go/kalan/policy/stack"
)

const (
	// usual is how many keys have a guard of their own when nobody says.
	usual = 1000
	// tooMany bounds what somebody says.
	tooMany = 1 << 20
)

// A Set is the guards of many keys. It is made by New and safe for concurrent use.
// Most callers use Get.
type Set[K comparable] struct {
	seed     maphash.Seed
	changing sync.Mutex // one change after the other, or each would reach some of the guards

	mu     sync.Mutex
	config kalan.Config
	set    *keyed.Set[*kalan.Guard]
}

// New returns a set of guards that are made like config says, for at most so many
// keys, up to 1,048,576; 0 means 1,000. A guard's name is its key, behind
// config.Name where that is given: "orders/7". It reports everything that is wrong
// with config.
func New[K comparable](config kalan.Config, most int) (*Set[K], error) {
	if most < 0 || most > tooMany {
		return nil, fmt.Errorf("guards: %d keys; write how many may have a guard of their own, up to %d, or 0 for %d", most, tooMany, usual)
	}
	if most == 0 {
		most = usual
	}
	if _, err := kalan.New(config); err != nil {
		return nil, err
	}
	config.Config = config.Config.WithDefaults() // with nothing of it still the caller's to change
	return &Set[K]{config: config, seed: maphash.MakeSeed(), set: keyed.New(most, func(g **kalan.Guard) { *g = nil }, inUse)}, nil
}

// inUse reports whether a guard knows something that a new one would not. A
// breaker that is half-open and that nobody probes stays so for ever: of keys that
// are asked for no more it would keep the place.
func inUse(g **kalan.Guard) bool {
	if *g == nil {
		return false
	}
	s := (*g).Snapshot()
	return s.Breaker.State == breaker.Open || s.Breaker.ProbesCounted > 0 || s.InFlight > 0 || s.Waiting > 0
}

// Get returns the guard of the key. Ask for it at every call: a guard that is kept
// may have given way to another key's, and then knows nothing of what others meet.
func (s *Set[K]) Get(key K) *kalan.Guard {
	hash := maphash.Comparable(s.seed, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.set.Overflowed()
	g := s.set.Get(hash)
	if *g == nil {
		name := "others"
		if s.set.Overflowed() == before {
			name = fmt.Sprint(key)
		}
		*g = s.make(name)
	}
	return *g
}

func (s *Set[K]) make(name string) *kalan.Guard {
	c := s.config
	if c.Name != "" {
		name = c.Name + "/" + name
	}
	c.Name = name
	g, err := kalan.New(c)
	if err != nil { // New has made one of the same configuration
		panic(err)
	}
	return g
}

// All returns the guards that there are, for [kalan.WatchAll] and for whoever shows
// them.
func (s *Set[K]) All() []*kalan.Guard {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*kalan.Guard
	s.set.All(func(_ uint64, g **kalan.Guard) bool {
		if *g != nil {
			all = append(all, *g)
		}
		return true
	})
	return all
}

// Configure changes what stands before each dependency, as [kalan.Guard.Configure]
// does: what the guards have learned is kept. On an error nothing has changed.
func (s *Set[K]) Configure(c stack.Config) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	next := s.config
	next.Config = c.WithDefaults()
	_, err := kalan.New(next)
	if err == nil {
		s.config = next
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	for _, g := range s.All() {
		if err := g.Configure(c); err != nil {
			return err
		}
	}
	return nil
}
