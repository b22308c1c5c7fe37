// Package cut lets callers leave calls that take no timeout.
//
// Some calls cannot be told how long they may take: a directory look-up in C, a
// client library without a context, a file on a network mount. When what is
// behind them hangs, they hang, and with them whoever called, until every
// worker of the service waits for the same thing. A Pool runs such a call on a
// goroutine of its own and cuts its caller loose when the time is up.
//
// What has been cut cannot be stopped. It goes on running, a zombie, and keeps
// its worker until it really returns; that is what bounds how many there are.
// When no worker is free, and no place to wait for one, callers are refused at
// once: a dependency that hangs costs as many goroutines as there are workers,
// and no caller more time than the limit.
//
// Use one pool for each dependency, and only for calls that take no timeout: a
// call that takes a context is ended by it, which frees what it holds, and
// belongs behind a kalan.Guard alone. A pool does not retry and has no breaker;
// put the Guard around it. A call that was cut is a failure there, so that with
// at least as many workers as Breaker.Calls a dependency that hangs opens it
// before the pool is full; a refusal by the pool says nothing, and is as quick:
//
//	kalan.Do(ctx, guard, func(ctx context.Context) (User, error) {
//		return cut.Do(ctx, pool, func(context.Context) (User, error) { return ldap.Find(name) })
//	})
//
// Limits: 25 workers, 1 place to wait, 800 ms (F22).
package cut

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/pause"
	"github.com/kalan-go/kalan/policy"
)

// A Pool bounds how many calls run at once, cut ones included. It is made by
// New, safe for concurrent use, and needs no closing: a pool that is not used
// has no goroutine.
type Pool struct {
	config atomic.Pointer[Config] // changed with mu held

	mu      sync.Mutex
	running int
	waiters list.List // of chan struct{}, closed when a worker is theirs; oldest first
	stats   Snapshot
}

// A Snapshot says what a pool is doing, and counts what it has done.
type Snapshot struct {
	Running int    // functions running, zombies included
	Zombies int    // functions that run without their callers
	Waiting int    // callers waiting for a worker
	Cut     uint64 // callers that left a function behind; observing, those that would have
	Late    uint64 // functions that returned after their caller had left
	Refused uint64 // callers that got no worker; observing, those that would have got none
	Panics  uint64 // panics and Goexits that had no caller to reach
}

// New returns a pool. The error lists everything that is wrong with config.
func New(config Config) (*Pool, error) {
	if err := field.Error("cut", config.Name, config.Validate()); err != nil {
		return nil, err
	}
	config = config.WithDefaults()
	p := new(Pool)
	p.config.Store(&config)
	return p, nil
}

// Configure changes the configuration, but for the name. What runs goes on, also
// where it is more than there are to be, and so does whoever waits; more workers
// begin at once what waits for them. A timeout counts for calls that come later.
func (p *Pool) Configure(config Config) error {
	config.Name = p.config.Load().Name
	if err := field.Error("cut", config.Name, config.Validate()); err != nil {
		return err
	}
	config = config.WithDefaults()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.config.Store(&config)
	p.handOut()
	return nil
}

// Snapshot returns what the pool is doing now.
func (p *Pool) Snapshot() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Running, s.Waiting = p.running, p.waiters.Len()
	return s
}

// enter takes a worker, waiting for one where there is a place to wait.
func (p *Pool) enter(ctx, caller context.Context) error {
	if pause.Over(caller) != policy.None {
		return p.refuse(caller, policy.Full)
	}
	place, ok := p.take()
	switch {
	case !ok:
		return p.refuse(caller, policy.Full)
	case place == nil:
		return nil
	}
	select {
	case <-place.Value.(chan struct{}):
		if pause.Over(ctx) == policy.None {
			return nil
		}
		p.giveUp(nil) // it came free in the moment in which the time was up (O-02)
	case <-ctx.Done():
		p.giveUp(place)
	}
	return p.refuse(caller, policy.Waited)
}

// take takes a worker or, where none is free, a place to wait for one, unless
// there is none or every worker is a zombie's: then there is nothing to wait for.
func (p *Pool) take() (place *list.Element, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.config.Load()
	switch {
	case p.running < c.Workers:
	case c.Observe:
		p.stats.Refused++
	case p.stats.Zombies >= c.Workers || p.waiters.Len() >= c.Waiting:
		return nil, false
	default:
		return p.waiters.PushBack(make(chan struct{})), true
	}
	p.running++
	return nil, true
}

// giveUp gives back a place or, where it has become one, the worker.
func (p *Pool) giveUp(place *list.Element) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if place != nil {
		before := p.waiters.Len()
		if p.waiters.Remove(place); p.waiters.Len() < before {
			return
		}
	}
	p.exit()
}

// exit gives a worker back; the mutex is held.
func (p *Pool) exit() {
	p.running--
	p.handOut()
}

// handOut gives free workers to those who have waited longest.
func (p *Pool) handOut() {
	for p.waiters.Len() > 0 && p.running < p.config.Load().Workers {
		p.running++
		close(p.waiters.Remove(p.waiters.Front()).(chan struct{}))
	}
}

// refuse counts a caller that got no worker.
func (p *Pool) refuse(caller context.Context, why policy.Reason) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Refused++
	return p.rejection(caller, why)
}

// rejection says why a caller has no answer: its own time is up, it left, or
// else why.
func (p *Pool) rejection(caller context.Context, why policy.Reason) error {
	if over := pause.Over(caller); over != policy.None {
		why = over
	}
	return &kalan.Rejection{Guard: p.config.Load().Name, Reason: why, Cause: context.Cause(caller)}
}
