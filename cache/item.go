package cache

import (
	"errors"
	"time"

	"github.com/kalan-go/kalan/internal/crash"
	"github.com/kalan-go/kalan/policy"
)

// A Panic is the error of a load that did not return. It has the panic's value
// and stack; errors.As finds it.
type Panic = crash.Error

// ErrMissing is the loader's answer that there is no such value. A loader that
// returns it, or an error that wraps it, has done its work: readers get that
// error, and it is kept for Config.Missing.
var ErrMissing = errors.New("there is no such value")

func isMissing(err error) bool { return errors.Is(err, ErrMissing) }

// An Item is what the cache knows of one key. It never changes: what is learnt
// makes a new one. It belongs to the cache that made it.
type Item[V any] struct {
	value   V
	known   bool           // there is a value
	err     error          // what the last load said when it brought none
	compute time.Duration  // how long the value took to load
	ends    policy.Instant // until then the value, or ErrMissing, is valid
	stale   policy.Instant // until then the value is better than an error
	retry   policy.Instant // until then no load is tried
}

// Value returns the value, false when the item only remembers that there is
// none. A [Store] weighs items with it.
func (i *Item[V]) Value() (V, bool) { return i.value, i.known }

// A state says what a reader does with an item.
type state uint8

const (
	due     state = iota // load, and wait for it
	fresh                // valid
	failing              // the last load failed, and it is too early for another
)

func (i *Item[V]) state(now policy.Instant) state {
	switch {
	case i == nil:
		return due
	case now < i.ends:
		return fresh
	case now < i.retry:
		return failing
	}
	return due
}

// answer returns what a reader gets while no load is to be waited for, and
// whether it is a value past its end.
func (i *Item[V]) answer(now policy.Instant) (value V, stale bool, err error) {
	if i.usable(now) {
		return i.value, now >= i.ends, nil
	}
	return value, false, i.err
}

// usable reports whether there is a value that is better than an error.
func (i *Item[V]) usable(now policy.Instant) bool { return i != nil && i.known && now < i.stale }

// wearing reports whether a value that is still valid may be refreshed now, if
// the draw says so.
func (i *Item[V]) wearing(now policy.Instant, beta float64) bool {
	return i.known && beta > 0 && now >= i.retry && undecided(i.ends.Sub(now), i.compute, beta)
}

// A landing is the end of a load.
type landing[V any] struct {
	value V
	err   error
	took  time.Duration
}

// learn returns what is known after a load has ended at now: the next item, nil
// for nothing. u is drawn from [0, 1) and spreads the lifetimes.
func (i *Item[V]) learn(c *Config, now policy.Instant, l landing[V], u float64) *Item[V] {
	switch {
	case l.err == nil:
		ends := now.Add(c.pick(c.Lifetime, u))
		return &Item[V]{value: l.value, known: true, compute: l.took, ends: ends, stale: ends.Add(c.patience())}
	case isMissing(l.err):
		if c.Missing < 0 {
			return nil
		}
		return &Item[V]{err: l.err, ends: now.Add(c.pick(c.Missing, u))}
	}
	return i.fail(c, now, l.err, u)
}

// fail returns what is known after a load that failed. The value stays, with
// its own end. A panic without a value behind it is not remembered: the next
// reader loads again (O-27).
func (i *Item[V]) fail(c *Config, now policy.Instant, err error, u float64) *Item[V] {
	next := Item[V]{err: err, retry: now.Add(c.pick(c.Failed, u))}
	if i != nil && i.known {
		next.value, next.known, next.compute, next.ends, next.stale = i.value, true, i.compute, i.ends, i.stale
		return &next
	}
	var crashed *Panic
	if errors.As(err, &crashed) || next.retry <= now {
		return nil
	}
	return &next
}
