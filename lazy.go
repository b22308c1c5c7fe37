package kalan

import (
	"context"
	"sync"
	"time"
)

// attemptContext is the context of one attempt: its caller's, ended at the
// attempt's own limit. It arms no timer until somebody waits on it, since most
// attempts are answered long before and a timer costs more than the rest of
// the call. It is never pooled: a context that escaped its attempt and was
// used again once reported Done closed and Err nil.
type attemptContext struct {
	context.Context           // the caller's
	until           time.Time // zero: only the caller's context limits it
	number          int
	mu              sync.Mutex
	armed           context.Context // nil until somebody waits
	cancel          context.CancelFunc
	ended           bool
}

// An Attempt tells a function about the attempt that it is.
type Attempt struct {
	// Number counts the attempts of one call, from 1.
	Number int
	// Until is when the answer is no longer wanted; zero when nothing limits
	// it. An attempt that is left behind may run longer than that.
	Until time.Time
}

type attemptKey struct{}

// AttemptOf returns the attempt that a function was given ctx for, so that it
// can send its number and what remains of the time with the request. Outside
// an attempt it returns attempt 1 and ctx's deadline.
func AttemptOf(ctx context.Context) Attempt {
	if a, ok := ctx.Value(attemptKey{}).(Attempt); ok {
		return a
	}
	until, _ := ctx.Deadline()
	return Attempt{Number: 1, Until: until}
}

// Deadline returns the attempt's limit.
func (c *attemptContext) Deadline() (time.Time, bool) {
	if c.until.IsZero() {
		return c.Context.Deadline()
	}
	return c.until, true
}

// Done arms the timer and returns the channel that it closes.
func (c *attemptContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.arm().Done()
}

// Err reports whether the attempt is over, without arming a timer for it.
func (c *attemptContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.armed != nil:
		return c.armed.Err()
	case c.ended:
		return context.Canceled
	case !c.until.IsZero() && !time.Now().Before(c.until):
		return c.arm().Err()
	}
	return c.Context.Err()
}

// Value delegates to the armed context, so that a child context finds a
// parent that it can be linked to without a goroutine.
func (c *attemptContext) Value(key any) any {
	if _, ok := key.(attemptKey); ok {
		until, _ := c.Deadline()
		return Attempt{Number: c.number, Until: until}
	}
	c.mu.Lock()
	armed := c.armed
	c.mu.Unlock()
	if armed != nil {
		return armed.Value(key)
	}
	return c.Context.Value(key)
}

// arm makes the real context; the lock is held.
func (c *attemptContext) arm() context.Context {
	if c.armed == nil {
		if c.until.IsZero() {
			c.armed, c.cancel = context.WithCancel(c.Context)
		} else {
			c.armed, c.cancel = context.WithDeadline(c.Context, c.until)
		}
		if c.ended {
			c.cancel()
		}
	}
	return c.armed
}

// A leftContext is the context of an attempt that may outlive its caller: it
// ends when the dependency is presumed dead, and tells when the answer is no
// longer wanted.
type leftContext struct {
	attemptContext
	wanted time.Time
	held   Held // of the attempt while it runs
}

// Value answers AttemptOf with the instant until which the answer is wanted, and
// Excuse with the attempt itself.
func (c *leftContext) Value(key any) any {
	switch key.(type) {
	case attemptKey:
		return Attempt{Number: c.number, Until: c.wanted}
	case heldKey:
		return c.held
	}
	return c.attemptContext.Value(key)
}

// end tells whoever still holds the context that the attempt is over.
func (c *attemptContext) end() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}
