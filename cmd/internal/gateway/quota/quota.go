// Package quota limits how many requests, or connections, each of many callers
// may send, for the gateway: one bucket for each, of at most a fixed number of
// callers (O-24).
//
// Callers are 64-bit hashes, made with a seed that no caller knows. A table is
// safe for concurrent use; its shards are locked one by one, and all that
// happens under a lock is a look-up and a comparison, so that a flood of
// callers slows nobody (package keyed has how callers are forgotten).
package quota

import (
	"sync"
	"sync/atomic"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/keyed"
)

// shards is how many locks there are: more than there are processors that
// could wait for one.
const shards = 16

// A Table holds a bucket for each caller. A nil Table limits nobody.
type Table struct {
	rule    bucket.Rule
	refused atomic.Uint64
	shards  []shard
}

type shard struct {
	mu     sync.Mutex
	levels *keyed.Set[bucket.Level]
	_      [48]byte // a cache line each: neighbours are locked by others
}

// New returns a table in which each of at most keys callers has a rate and a
// burst of its own, nil when the rate is 0.
func New(rate float64, burst, keys int) *Table {
	if rate <= 0 {
		return nil
	}
	keys = max(1, keys)
	t := &Table{
		rule:   bucket.NewRule(bucket.Config{Rate: rate, Burst: burst}),
		shards: make([]shard, min(shards, keys)),
	}
	for i := range t.shards {
		t.shards[i].levels = keyed.New[bucket.Level](keys/len(t.shards), nil, nil)
	}
	return t
}

func (t *Table) shard(key uint64) *shard { return &t.shards[key>>32%uint64(len(t.shards))] }

// Take reports whether the caller may send one more now, and takes it.
// Otherwise it returns when it may.
func (t *Table) Take(now policy.Instant, key uint64) (at policy.Instant, ok bool) {
	if t == nil {
		return now, true
	}
	s := t.shard(key)
	s.mu.Lock()
	level := s.levels.Get(key)
	if ok = t.rule.Take(now, level, 1); !ok {
		at = t.rule.At(now, level, 1)
	}
	s.mu.Unlock()
	if !ok {
		t.refused.Add(1)
	}
	return at, ok
}

// Undo gives back what was taken and then not used.
func (t *Table) Undo(now policy.Instant, key uint64) {
	if t == nil {
		return
	}
	s := t.shard(key)
	s.mu.Lock()
	if level := s.levels.Peek(key); level != nil { // or it has been forgotten
		t.rule.Undo(now, level, 1)
	}
	s.mu.Unlock()
}

// A Snapshot is how a table stands.
type Snapshot struct {
	// Keys is how many callers are told apart now.
	Keys int
	// Refused were over their rate. Evicted lost their place to another
	// caller, and Overflowed found none and shared one.
	Refused, Evicted, Overflowed uint64
}

// Snapshot returns how the table stands.
func (t *Table) Snapshot() (s Snapshot) {
	if t == nil {
		return s
	}
	s.Refused = t.refused.Load()
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		s.Keys += sh.levels.Len()
		s.Evicted += sh.levels.Evicted()
		s.Overflowed += sh.levels.Overflowed()
		sh.mu.Unlock()
	}
	return s
}
