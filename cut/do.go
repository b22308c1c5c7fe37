package cut

import (
	"context"
	"runtime"
	"time"

	"github.com/kalan-go/kalan/internal/crash"
	"github.com/kalan-go/kalan/policy"
)

// A Panic is the error with which late hears of a function that did not return.
type Panic = crash.Error

// Do runs fn on a goroutine of the pool and returns what it returns, no later
// than the pool's timeout and no later than ctx ends. fn is given a context that
// ends then, for those parts of it that look; it may go on running, and with it
// what it shares with the caller.
//
// When there is no answer the error is a [*kalan.Rejection]: policy.Timeout
// when fn was cut, policy.Full when it was not begun because every worker was
// taken, policy.Waited when none became free in time, policy.Expired or
// policy.Gone when ctx ended first. A panic in fn, or a runtime.Goexit, reaches
// the caller if it is still there.
func Do[T any](ctx context.Context, p *Pool, fn func(context.Context) (T, error)) (T, error) {
	return DoLate(ctx, p, fn, nil)
}

// DoLate is Do for functions whose result has to be given back: late gets what
// fn returned, or a *Panic, after its caller had left; close the connection
// there. It is called at most once, while fn still holds its worker; it may be
// nil.
func DoLate[T any](ctx context.Context, p *Pool, fn func(context.Context) (T, error), late func(T, error)) (T, error) {
	c := &call[T]{pool: p, late: late, done: make(chan struct{})}
	limited, cancel := c.limited(ctx)
	defer cancel()
	if err := p.enter(limited, ctx); err != nil {
		return c.value, err
	}
	go crash.Call(func() (value T, err error) {
		value, err = fn(limited)
		c.returned = true
		return value, err
	}, c.end)
	select {
	case <-c.done:
	case <-limited.Done():
		if c.leave() {
			var none T
			return none, p.rejection(ctx, policy.Timeout)
		}
	}
	return c.result()
}

// limited returns the context that ends when the caller leaves: at the timeout,
// which is only counted while the pool observes, or when ctx ends.
func (c *call[T]) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	config := c.pool.config.Load()
	if !config.Observe {
		return context.WithTimeout(ctx, config.Timeout)
	}
	limited, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(config.Timeout, c.outstay)
	return limited, func() { timer.Stop(); cancel() }
}

// A call is a function and its caller, until one of them leaves.
type call[T any] struct {
	pool *Pool
	late func(T, error)
	done chan struct{} // closed when the function has ended before its caller left

	ended, left bool // guarded by the pool's mutex; at most one is ever true first
	counted     bool // as cut

	returned bool // or else err is a *Panic of this call's own
	value    T
	err      error
}

// leave says that the caller goes; false when the function has ended before.
func (c *call[T]) leave() bool {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if c.ended {
		return false
	}
	c.left = true
	c.pool.stats.Zombies++
	c.count()
	return true
}

// outstay says that the time is up, and nobody leaves.
func (c *call[T]) outstay() {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if !c.ended {
		c.count()
	}
}

// count counts the call as cut, once.
func (c *call[T]) count() {
	if !c.counted {
		c.counted = true
		c.pool.stats.Cut++
	}
}

// end says that the function has ended, and gives its slot back.
func (c *call[T]) end(value T, err error) {
	c.value, c.err = value, err
	if c.wanted() {
		close(c.done)
		return
	}
	if c.late == nil {
		c.bury(value, nil)
		return
	}
	crash.Call(func() (T, error) { c.late(value, err); return value, nil }, c.bury)
}

// wanted reports whether the caller is still there. Then the worker is free.
func (c *call[T]) wanted() bool {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if c.ended = true; !c.left {
		c.pool.exit()
	}
	return !c.left
}

// bury ends a zombie, also one whose late function panicked.
func (c *call[T]) bury(_ T, err error) {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	c.pool.stats.Zombies--
	c.pool.exit()
	c.pool.stats.Late++
	if !c.returned || err != nil {
		c.pool.stats.Panics++
	}
}

// result hands over what the function returned; a panic or Goexit goes on as if
// the caller had called it itself.
func (c *call[T]) result() (T, error) {
	<-c.done
	if c.returned {
		return c.value, c.err
	}
	if crashed := c.err.(*Panic); crashed.Value != nil {
		panic(crashed.Value)
	}
	runtime.Goexit()
	panic("unreachable")
}
