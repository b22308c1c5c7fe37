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
	config  Config
	slots   chan struct{} // one for each function that runs
	waiting atomic.Int64

	mu    sync.Mutex
	stats Snapshot
}

// A Snapshot says what a pool is doing, and counts what it has done.
type Snapshot struct {
	Running int    // functions running, zombies included
	Zombies int    // functions that run without their callers
	Waiting int    // callers waiting for a worker
	Cut     uint64 // callers that left a function behind
	Late    uint64 // functions that returned after their caller had left
	Refused uint64 // callers that got no worker
	Panics  uint64 // panics and Goexits that had no caller to reach
}

// New returns a pool. The error lists everything that is wrong with config.
func New(config Config) (*Pool, error) {
	if err := field.Error("cut", config.Name, config.Validate()); err != nil {
		return nil, err
	}
	config = config.WithDefaults()
	return &Pool{config: config, slots: make(chan struct{}, config.Workers)}, nil
}

// Snapshot returns what the pool is doing now.
func (p *Pool) Snapshot() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Running, s.Waiting = len(p.slots), max(0, min(int(p.waiting.Load()), p.config.Waiting))
	return s
}

// enter takes a slot, waiting for one where there is a place to wait.
func (p *Pool) enter(ctx, caller context.Context) error {
	if pause.Over(caller) != policy.None {
		return p.refuse(caller, policy.Full)
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	if p.hopeless() {
		return p.refuse(caller, policy.Full)
	}
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) > int64(p.config.Waiting) {
		return p.refuse(caller, policy.Full)
	}
	select {
	case p.slots <- struct{}{}:
		if pause.Over(ctx) == policy.None {
			return nil
		}
		<-p.slots // it came free in the moment in which the time was up (O-02)
	case <-ctx.Done():
	}
	return p.refuse(caller, policy.Waited)
}

// hopeless reports whether every worker is a zombie's: then there is nothing to
// wait for.
func (p *Pool) hopeless() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats.Zombies >= p.config.Workers
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
	return &kalan.Rejection{Guard: p.config.Name, Reason: why, Cause: context.Cause(caller)}
}
