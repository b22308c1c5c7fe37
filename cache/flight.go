package cache

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/kalan-go/kalan/internal/crash"
	"github.com/kalan-go/kalan/policy"
)

// A flight is one load and those who wait for it. Its fields are guarded by the
// cache's mutex, but for the result, which is complete when done is closed.
type flight[K comparable, V any] struct {
	key     K
	old     *Item[V] // what was known when it began
	begun   policy.Instant
	waiters int
	refresh bool // nobody needs to wait for it
	landed  bool
	cancel  context.CancelFunc

	done  chan struct{}
	value V
	stale bool
	err   error
}

// land gives the result to those who wait: what was loaded, or the old value as
// long as that is better than an error.
func (f *flight[K, V]) land(now policy.Instant, value V, err error) {
	f.landed = true
	f.value, f.err = value, err
	if err != nil && !isMissing(err) && f.old.usable(now) {
		f.value, f.stale, f.err = f.old.value, true, nil
	}
	close(f.done)
}

// join returns the flight that brings key, beginning one if there is none. When
// one has landed since the caller looked, join returns an item and no flight.
func (c *Cache[K, V]) join(ctx context.Context, key K) (*flight[K, V], *Item[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.flights[key]
	if f == nil {
		item := c.lookup(key)
		if item.state(c.now()) != due {
			return nil, item
		}
		f = c.begin(ctx, key, item)
	}
	f.waiters++
	return f, nil
}

// freshen begins a flight that nobody waits for, unless one is on its way or
// has landed since item was read.
func (c *Cache[K, V]) freshen(ctx context.Context, key K, item *Item[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[key] != nil || c.loading >= c.config.Load().Loads || c.lookup(key) != item {
		return
	}
	c.begin(ctx, key, item).refresh = true
	c.stats.Refreshes++
}

// begin starts a load on a context of its own: with the values of the caller
// that began it, and with neither its deadline nor its cancellation (O-26).
func (c *Cache[K, V]) begin(ctx context.Context, key K, old *Item[V]) *flight[K, V] {
	f := &flight[K, V]{key: key, old: old, begun: c.now(), done: make(chan struct{})}
	if c.loading >= c.config.Load().Loads {
		c.stats.Refused++
		var none V
		f.land(f.begun, none, c.refusal(policy.Full, nil))
		return f
	}
	if reflexive(key) {
		c.flights[key] = f
	}
	c.loading++
	c.stats.Loads++
	ctx, f.cancel = context.WithTimeout(context.WithoutCancel(ctx), c.config.Load().Timeout)
	go c.fly(ctx, f)
	return f
}

// fly runs the loader. Those who wait get its result, or are told when its time
// is up; its place among the loads is free when it has really ended.
func (c *Cache[K, V]) fly(ctx context.Context, f *flight[K, V]) {
	defer f.cancel()
	stop := context.AfterFunc(ctx, func() { c.overdue(f) })
	load := func() (V, error) { return c.load(ctx, f.key) }
	crash.Call(load, func(value V, err error) {
		stop()
		took := c.now().Sub(f.begun)
		if err != nil && ctx.Err() != nil {
			err = c.refusal(policy.Timeout, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.loading--
		c.finish(f, landing[V]{value, err, took})
	})
}

func (c *Cache[K, V]) overdue(f *flight[K, V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finish(f, landing[V]{err: c.refusal(policy.Timeout, nil)})
}

// finish ends a flight, the first time it is called. The result is kept unless
// the key has been set or deleted since: what began before that is no news.
func (c *Cache[K, V]) finish(f *flight[K, V], l landing[V]) {
	if f.landed {
		return
	}
	now := c.now()
	if l.err != nil && !isMissing(l.err) {
		c.stats.Failures++
	}
	if c.flights[f.key] == f {
		delete(c.flights, f.key)
		c.remember(f.key, f.old.learn(c.config.Load(), now, l, rand.Float64()))
	}
	f.land(now, l.value, l.err)
}

// leave says that a waiter will not wait any longer, and reports whether the
// flight has landed all the same. A load for which nobody is left is cancelled,
// and the next reader begins another.
func (c *Cache[K, V]) leave(f *flight[K, V]) (landed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiters--
	if f.landed || f.waiters > 0 || f.refresh {
		return f.landed
	}
	if c.flights[f.key] == f {
		delete(c.flights, f.key)
	}
	c.stats.Abandoned++
	f.landed = true
	f.cancel()
	return false
}

// forget takes the flight of key, if there is one, off its key: its result will
// not be kept, and what was known before will not be served in its place.
func (c *Cache[K, V]) forget(key K) {
	if f := c.flights[key]; f != nil {
		delete(c.flights, key)
		f.old = nil
	}
}

// remember stores what was learnt, or that nothing is known.
func (c *Cache[K, V]) remember(key K, item *Item[V]) {
	switch {
	case item == nil:
		c.store.Delete(key)
	case reflexive(key):
		c.store.Set(key, item)
	}
}

// now is the time since the cache was made.
func (c *Cache[K, V]) now() policy.Instant { return policy.Instant(time.Since(c.epoch)) }

// reflexive reports whether the key can be found again. A floating-point NaN
// cannot: it would stay in every map for ever.
func reflexive[K comparable](key K) bool {
	same := key
	return same == key
}
