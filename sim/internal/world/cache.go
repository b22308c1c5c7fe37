package world

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim/random"
)

// A cache is a model's cache while it runs.
type cache struct {
	entries []entry
}

// An entry is what is known under one key.
type entry struct {
	until   policy.Instant
	took    time.Duration // to load
	loaders int32
	waiters int32 // the first visit that waits for a loader
}

func (w *World) addCaches(s random.Stream) {
	for i := range w.m.Caches {
		m := &w.m.Caches[i]
		mine := s.Sub(random.Name("cache " + m.Name))
		c := cache{entries: make([]entry, max(m.Keys, 1))}
		for k := range c.entries {
			c.entries[k].waiters = none
			if m.Warm { // anywhere in its life
				c.entries[k].until = policy.Instant(mine.Float64() * float64(m.Lifetime))
				c.entries[k].took = m.Loading
			}
		}
		w.caches = append(w.caches, c)
	}
}

// entryOf returns the entry of a cache that a visit asks for.
func (w *World) entryOf(i int32, v *visit) *entry {
	all := w.caches[i].entries
	return &all[int(v.key)%len(all)]
}

// lookUp asks a cache, and reports whether the visit can go on: with the value,
// or to load it.
func (w *World) lookUp(id int32, op *Op) bool {
	v := &w.visits[id]
	e, t := w.entryOf(op.N, v), &w.tally.Caches[op.N]
	if w.now < e.until {
		t.Hits++
		w.refresh(v, e, op)
		w.visits[id].pc = op.Jump
		return true
	}
	if w.m.Caches[op.N].OneFlight && e.loaders > 0 {
		t.Waited++
		v.next, e.waiters = e.waiters, id
		return false
	}
	t.Misses++
	w.load(v, e, op)
	return true
}

// load sends a visit to get the value itself.
func (w *World) load(v *visit, e *entry, op *Op) {
	if t := &w.tally.Caches[op.N]; e.loaders == 0 {
		t.Rounds++
		t.Lead += max(e.until.Sub(w.now), 0)
	}
	e.loaders++
	v.loads, v.loading = op.N+1, w.now
	v.pc++
}

// refresh loads a value that is still valid in the background, if the draw says
// so (Vattani and others, "Optimal Probabilistic Cache Stampede Prevention",
// 2015; the rule is that of package cache).
func (w *World) refresh(v *visit, e *entry, op *Op) {
	m := &w.m.Caches[op.N]
	if m.Beta <= 0 || m.OneFlight && e.loaders > 0 {
		return
	}
	if s := v.id.Sub(forEarly); !Early(e.until.Sub(w.now), e.took, m.Beta, s.Float64()) {
		return
	}
	w.tally.Caches[op.N].Early++
	behind := *v
	id, shadow := w.newVisit()
	shadow.request, shadow.edge, shadow.instance, shadow.pc = behind.request, behind.edge, behind.instance, behind.pc
	shadow.id = behind.id.Sub(forShadow)
	shadow.shadow, shadow.state, shadow.born = true, serving, w.now
	in := &w.instances[shadow.instance]
	t := &w.tally.Services[in.service]
	in.take(w.now, +1, t)
	in.change(w.now, +1, t)
	w.load(shadow, e, op)
	w.play(id)
}

// Early decides as cache.Early does, which cannot be called from here: its
// package imports the driver on the wall clock.
func Early(remaining, compute time.Duration, beta, u float64) bool {
	return remaining <= 0 || float64(remaining) < -float64(compute)*beta*math.Log(u)
}

// store keeps what a visit has loaded, and lets those go on who waited for it.
func (w *World) store(id int32, op *Op) {
	v := &w.visits[id]
	e, m := w.entryOf(op.N, v), &w.m.Caches[op.N]
	s := v.id.Sub(forLifetime)
	lifetime := span.Scale(m.Lifetime, 1+m.Spread*(2*s.Float64()-1))
	e.until, e.took = w.now.Add(lifetime), w.now.Sub(v.loading)
	e.loaders--
	v.loads = 0
	v.pc++
	for waiter := w.waiters(e); waiter != none; {
		next := w.visits[waiter].next
		w.visits[waiter].next = none
		w.play(waiter)
		waiter = next
	}
}

// giveUp ends the loading of a value without one: those who waited for it get
// the same answer.
func (w *World) giveUp(id int32, a answer) {
	v := &w.visits[id]
	e := w.entryOf(v.loads-1, v)
	e.loaders--
	v.loads = 0
	if e.loaders > 0 {
		return
	}
	for waiter := w.waiters(e); waiter != none; {
		next := w.visits[waiter].next
		w.visits[waiter].next = none
		w.quit(waiter, a)
		waiter = next
	}
}

// waiters takes the list of those who wait off an entry.
func (w *World) waiters(e *entry) int32 {
	first := e.waiters
	e.waiters = none
	return first
}

// leaveCache takes a visit out of those who wait for an entry.
func (w *World) leaveCache(id int32) {
	v := &w.visits[id]
	if v.state != serving {
		return
	}
	at := &w.entryOf(w.m.Ops[v.pc].N, v).waiters
	for *at != none && *at != id {
		at = &w.visits[*at].next
	}
	if *at == id {
		*at = v.next
	}
}
