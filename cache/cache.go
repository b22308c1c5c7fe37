// Package cache keeps what is slow to compute, for readers who arrive all at
// once, and computes each value anew before it ends instead of after.
//
// When a popular value ends, everybody who wants it finds nothing and asks the
// dependency behind it, together: the cache that took 99 % of the load hands
// over all of it in one moment. Four rules keep that from happening:
//
//   - Early refresh: a reader of a value that is still valid draws a number,
//     and refreshes it in the background when [Early] says so; the nearer the
//     end and the slower the load, the more likely. This reader and all others
//     get the valid value at once.
//   - One flight a key: whoever needs a value that is being loaded waits for
//     that load. The load has its own context and its own time limit, each
//     reader obeys its own; a load ends early only when no reader is left.
//   - Stale on error: when a load fails, the old value is served for a bounded
//     time, and for a short while nobody tries again.
//   - Spread lifetimes: values that were loaded together do not end together.
//
// The answer that there is no such value is kept too ([ErrMissing]), for a
// shorter time, so that wrong keys do not reach the dependency each time. A
// loader that panics, or calls runtime.Goexit, fails its load: all who wait get
// an error, and the next reader loads again.
//
// Use it where a value may be some minutes old. Not for what must be current
// (an account's balance before a booking), and not between processes: each has
// its own, which is why their loads should be few and small.
//
// Limits: the number of keys, of loads at once, the time of a load, and the age
// of a stale value are all in [Config]. A value that arrives after its load's
// limit is dropped. Values are not copied: what readers share they must not
// change.
//
// Source: Vattani, Chierichetti, Lowenstein, "Optimal Probabilistic Cache
// Stampede Prevention", VLDB 2015.
package cache

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/pause"
	"github.com/kalan-go/kalan/policy"
)

// A Cache gives values by key, and loads what it does not have. It is made by
// New, safe for concurrent use, and needs no closing: when nobody reads, nothing
// runs but the loads under way, no longer than their timeout.
type Cache[K comparable, V any] struct {
	config atomic.Pointer[Config]
	load   func(context.Context, K) (V, error)
	store  Store[K, V]
	epoch  time.Time
	hits   atomic.Uint64
	stale  atomic.Uint64

	mu      sync.Mutex
	flights map[K]*flight[K, V]
	loading int
	stats   Snapshot
}

// New returns a cache that keeps at most config.Keys values and gets them from
// load. The error lists everything that is wrong with config.
//
// load gets the values of the context of a reader, and a deadline and an end of
// its own. It may be called for different keys at once, and must not ask this
// cache for the key that it loads: it would wait for itself.
func New[K comparable, V any](config Config, load func(context.Context, K) (V, error)) (*Cache[K, V], error) {
	return NewOver(config, newClocks[K, V](max(config.WithDefaults().Keys, 1)), load)
}

// NewOver returns a cache that keeps its values in store, whose bound is its
// own business; config.Keys has no meaning then.
func NewOver[K comparable, V any](config Config, store Store[K, V], load func(context.Context, K) (V, error)) (*Cache[K, V], error) {
	var check field.Check
	check.Add(config.Validate())
	if store == nil {
		check.Refuse("store", "is missing; give one, or take New")
	}
	if load == nil {
		check.Refuse("load", "is missing; give a function")
	}
	if err := field.Error("cache", config.Name, check.Problems()); err != nil {
		return nil, err
	}
	config = config.WithDefaults()
	c := &Cache[K, V]{load: load, store: store, epoch: time.Now(), flights: make(map[K]*flight[K, V])}
	c.config.Store(&config)
	return c, nil
}

// Configure changes the configuration, but for the name and the number of keys.
// What is kept ends when it was to end, and loads under way have the time that
// they began with.
func (c *Cache[K, V]) Configure(config Config) error {
	was := c.config.Load()
	config.Name, config.Keys = was.Name, was.Keys
	if err := field.Error("cache", config.Name, config.Validate()); err != nil {
		return err
	}
	config = config.WithDefaults()
	c.config.Store(&config)
	return nil
}

// Get returns the value of key, loading it if it is not there. It waits no
// longer than ctx allows, and no longer than the timeout of one load.
//
// The error is the loader's, or a [*kalan.Rejection]: policy.Timeout when the load took
// too long, policy.Full when too many loads run, policy.Expired or policy.Gone
// when ctx ended first. A value that is there is given whatever ctx says.
func (c *Cache[K, V]) Get(ctx context.Context, key K) (V, error) {
	now, item := c.now(), c.lookup(key)
	switch item.state(now) {
	case fresh:
		beta := c.config.Load().Beta
		if item.wearing(now, beta) && Early(item.ends.Sub(now), item.compute, beta, 1-rand.Float64()) {
			c.freshen(ctx, key, item)
		}
		return c.serve(item, now)
	case failing:
		return c.serve(item, now)
	}
	return c.await(ctx, key)
}

// serve answers a reader who does not wait.
func (c *Cache[K, V]) serve(item *Item[V], now policy.Instant) (V, error) {
	value, stale, err := item.answer(now)
	if stale {
		c.stale.Add(1)
	} else {
		c.hits.Add(1)
	}
	return value, err
}

// await waits for the load of key, as long as ctx allows.
func (c *Cache[K, V]) await(ctx context.Context, key K) (value V, err error) {
	if why := pause.Over(ctx); why != policy.None {
		return value, c.refusal(why, context.Cause(ctx))
	}
	f, item := c.join(ctx, key)
	if f == nil {
		return c.serve(item, c.now())
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		if !c.leave(f) {
			return value, c.refusal(pause.Over(ctx), context.Cause(ctx))
		}
	}
	if f.stale {
		c.stale.Add(1)
	}
	return f.value, f.err
}

// lookup reads the store. A key that equals nothing is never in it.
func (c *Cache[K, V]) lookup(key K) *Item[V] {
	if !reflexive(key) {
		return nil
	}
	return c.store.Get(key)
}

// Set keeps value under key, for a lifetime from now. A load of that key which
// is under way is not kept; whoever waits for it still gets what it brings.
func (c *Cache[K, V]) Set(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(key)
	var none *Item[V]
	c.remember(key, none.learn(c.config.Load(), c.now(), landing[V]{value: value}, rand.Float64()))
}

// Delete forgets the value of key, and a load of it that is under way.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(key)
	c.store.Delete(key)
}

func (c *Cache[K, V]) refusal(why policy.Reason, cause error) error {
	return &kalan.Rejection{Guard: c.config.Load().Name, Reason: why, Cause: cause}
}

// A Snapshot counts what a cache has done, and what it is doing.
type Snapshot struct {
	Hits      uint64 // valid values, and remembered errors, given at once
	Stale     uint64 // values past their end, given because a load had failed
	Loads     uint64 // loads begun, refreshes included
	Refreshes uint64 // loads begun before the end of a value
	Failures  uint64 // loads that brought an error other than ErrMissing
	Refused   uint64 // loads not begun because too many ran
	Abandoned uint64 // loads cancelled because no reader was left
	Loading   int    // loads running now, those that passed their timeout included
	Keys      int    // items kept
}

// Snapshot returns the counts since the cache was made.
func (c *Cache[K, V]) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Hits, s.Stale = c.hits.Load(), c.stale.Load()
	s.Loading, s.Keys = c.loading, c.store.Len()
	return s
}
