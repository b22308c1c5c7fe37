package pace

import (
	"context"
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/keyed"
)

// shards is how many locks a set has: more than there are processors that could
// wait for one.
const shards = 16

// A Set is a rate for each key: for each tenant, account or network. It is made
// by NewSet, safe for concurrent use, and needs no closing. Keys are told apart
// by a hash whose seed nobody knows.
type Set[K comparable] struct {
	name    string
	epoch   time.Time
	seed    maphash.Seed
	waits   atomic.Int64 // the longest wait
	places  atomic.Int64 // how many may wait
	waiting atomic.Int64
	allowed atomic.Uint64
	refused atomic.Uint64
	shards  []shard

	changing sync.Mutex // one change after the other, or each would reach some of the keys
}

// A shard is the keys of one lock.
type shard struct {
	mu      sync.Mutex
	rule    bucket.Rule
	observe bool
	levels  *keyed.Set[bucket.Level]
}

// NewSet returns a set in which every key has its whole burst to give, or
// everything that is wrong with c.
func NewSet[K comparable](c Config) (*Set[K], error) {
	if err := field.Error("pace", c.Name, c.Validate()); err != nil {
		return nil, err
	}
	c = c.WithDefaults()
	s := &Set[K]{name: c.Name, epoch: time.Now(), seed: maphash.MakeSeed(), shards: make([]shard, min(shards, c.Keys))}
	s.bound(c)
	for i := range s.shards {
		s.shards[i].rule, s.shards[i].observe = bucket.NewRule(c.Config), c.Observe
		s.shards[i].levels = keyed.New[bucket.Level](share(c.Keys, i, len(s.shards)), nil, nil)
	}
	return s, nil
}

// bound takes over the limits of the waits.
func (s *Set[K]) bound(c Config) {
	s.waits.Store(int64(max(c.Wait, 0)))
	s.places.Store(int64(max(c.Waiting, 0)))
}

// share is how many of the keys belong to shard i of n.
func share(keys, i, n int) int { return (keys + n - 1 - i) / n }

// Configure changes the rate, the burst, the waits and the number of keys, and
// keeps what is left of each key's burst. Whoever waits goes on waiting.
func (s *Set[K]) Configure(c Config) error {
	if err := field.Error("pace", s.name, c.Validate()); err != nil {
		return err
	}
	c = c.WithDefaults()
	rule := bucket.NewRule(c.Config)
	s.changing.Lock()
	defer s.changing.Unlock()
	s.bound(c)
	now := s.now()
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sh.levels.All(func(_ uint64, l *bucket.Level) bool {
			rule.Move(now, l, sh.rule)
			return true
		})
		sh.levels.Resize(share(c.Keys, i, len(s.shards)))
		sh.rule, sh.observe = rule, c.Observe
		sh.mu.Unlock()
	}
	return nil
}

// Allow reports whether one call of the key may be made now, and takes it. A
// refusal costs nothing.
func (s *Set[K]) Allow(key K) bool {
	now, k := s.now(), s.key(key)
	k.shard.mu.Lock()
	ok := k.shard.rule.Take(now, k.shard.levels.Get(k.hash), 1)
	observe := k.shard.observe
	k.shard.mu.Unlock()
	s.count(ok)
	return ok || observe
}

// Take takes n calls of the key that may be made now, or returns a
// [*kalan.Rejection] for policy.Rate with the time after which there are as many;
// 0 where there never are.
func (s *Set[K]) Take(key K, n int) error {
	now, k := s.now(), s.key(key)
	k.shard.mu.Lock()
	defer k.shard.mu.Unlock()
	level := k.shard.levels.Get(k.hash)
	ok := k.shard.rule.Take(now, level, n)
	s.count(ok)
	if ok || k.shard.observe {
		return nil
	}
	return refuse(s.name, now, k.shard.rule.At(now, level, n))
}

// Wait waits until n calls of the key may be made, and takes them, as
// [Limiter.Wait] does.
func (s *Set[K]) Wait(ctx context.Context, key K, n int) error { return wait(ctx, s.key(key), n) }

// A SetSnapshot is how a set stands at one moment.
type SetSnapshot struct {
	// Keys is how many are told apart now, and Waiting how many calls wait.
	Keys, Waiting int
	// Allowed and Refused count calls; with Observe, Refused are those that would
	// have been, and some of them would have waited.
	Allowed, Refused uint64
	// Evicted keys lost their place to another, and calls that Overflowed found
	// none for theirs and shared one.
	Evicted, Overflowed uint64
}

// Snapshot returns how the set stands. It changes nothing.
func (s *Set[K]) Snapshot() SetSnapshot {
	shot := SetSnapshot{Waiting: int(s.waiting.Load()), Allowed: s.allowed.Load(), Refused: s.refused.Load()}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		shot.Keys += sh.levels.Len()
		shot.Evicted += sh.levels.Evicted()
		shot.Overflowed += sh.levels.Overflowed()
		sh.mu.Unlock()
	}
	return shot
}

func (s *Set[K]) now() policy.Instant { return policy.Instant(time.Since(s.epoch)) }

func (s *Set[K]) count(allowed bool) {
	if allowed {
		s.allowed.Add(1)
	} else {
		s.refused.Add(1)
	}
}

func (s *Set[K]) key(key K) keyOf[K] {
	hash := maphash.Comparable(s.seed, key)
	return keyOf[K]{s, &s.shards[hash>>32%uint64(len(s.shards))], hash}
}

// A keyOf is the gate of one key.
type keyOf[K comparable] struct {
	*Set[K]
	shard *shard
	hash  uint64
}

func (k keyOf[K]) called() string { return k.name }

func (k keyOf[K]) reserve(n int, by policy.Instant) (t turn, why policy.Reason) {
	k.shard.mu.Lock()
	defer k.shard.mu.Unlock()
	now, level := k.now(), k.shard.levels.Get(k.hash)
	at, ok := k.shard.rule.Reserve(now, level, n, latest(now, by, time.Duration(k.waits.Load()), k.shard.observe))
	why = policy.None
	if !ok {
		why = policy.Rate
	} else if t.waits = at > now; t.waits && k.waiting.Add(1) > k.places.Load() {
		k.waiting.Add(-1)
		k.shard.rule.Cancel(now, level, n, at)
		why = policy.Full
	}
	k.count(why == policy.None)
	if why == policy.Rate && k.shard.observe {
		return turn{}, policy.None
	}
	t.at, t.n = at, n
	return t, why
}

func (k keyOf[K]) leave(t turn, vain bool) {
	k.waiting.Add(-1)
	if !vain {
		return
	}
	k.allowed.Add(^uint64(0))
	now := k.now()
	k.shard.mu.Lock()
	defer k.shard.mu.Unlock()
	if level := k.shard.levels.Peek(k.hash); level != nil { // or it has been forgotten
		k.shard.rule.Cancel(now, level, t.n, t.at)
	}
}

// Network returns the network that an address counts as: itself in IPv4, and in
// IPv6 its /64, which is the least that one customer gets (O-24).
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	network, _ := a.Prefix(bits) // fails for the zero Addr alone, whose network is the zero Prefix
	return network
}
