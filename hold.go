package kalan

import (
	"context"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// This file is the wall-clock driver: the only place in the library that
// waits, so that every race has one address. The machines decide; what is left
// here is to lock, to read the clock outside the lock, to sleep until whatever
// a Step says, and to run the function.

// A call is one call of the driver's: the machine's part, and the channel on
// which its owner is woken while an attempt waits for its slot.
type call struct {
	stack.Call
	wake  chan struct{}
	slept bool // it has waited for something
}

// now reads the clock: monotonic, so that a step of the wall clock is nothing.
func (g *Guard) now() policy.Instant { return policy.Instant(time.Since(g.epoch)) }

// instant returns when ctx ends, on the guard's clock. A deadline that knows no
// monotonic time is measured from now, like its own context does: the wall
// clock may have been set since the guard was made (O-12).
func (g *Guard) instant(ctx context.Context) policy.Instant {
	d, ok := ctx.Deadline()
	switch {
	case !ok:
		return policy.Never
	case d == d.Round(0):
		return g.now().Add(time.Until(d))
	}
	return policy.Instant(d.Sub(g.epoch))
}

// at is the inverse of instant.
func (g *Guard) at(i policy.Instant) time.Time { return g.epoch.Add(time.Duration(i)) }

// begin is the locked section that a call starts with.
func (g *Guard) begin(ctx context.Context, c *call) stack.Step {
	gone := ctx.Err() != nil
	now := g.now()
	c.Ask.Deadline = g.instant(ctx) // after the clock, whose reading waits for all before it
	g.mu.Lock()
	g.seed++
	c.Ask.Seed = g.seed
	g.stack.Begin(now, &c.Call)
	if gone {
		g.stack.Cancel(now, &c.Call)
	}
	return g.next(now, c)
}

// settle is the locked section that an inline attempt ends with.
func (g *Guard) settle(c *call, t stack.Ticket, r policy.Report) stack.Step {
	return g.settleAt(g.now(), c, t, r)
}

func (g *Guard) settleAt(now policy.Instant, c *call, t stack.Ticket, r policy.Report) stack.Step {
	g.mu.Lock()
	g.stack.Settle(now, &c.Call, t, owned(now, c, r))
	return g.next(now, c)
}

// judge tells a result and keeps the slot, and reports whether the attempt was
// still its call's. It does not ask what to do now: what the machine starts must
// run, and the caller's code may still have to look at the value.
func (g *Guard) judge(c *call, t stack.Ticket, r policy.Report) bool {
	now := g.now()
	g.mu.Lock()
	counted := g.stack.Judge(now, &c.Call, t, owned(now, c, r))
	g.unlock()
	return counted
}

// owned lets a failure at or after the caller's own deadline be the caller's:
// the attempt's context and the caller's end at the same instant, and which of
// their timers fires first says nothing.
func owned(now policy.Instant, c *call, r policy.Report) policy.Report {
	if r.Outcome == policy.Failure && now >= c.Ask.Deadline {
		r.Outcome = policy.Cut
	}
	return r
}

// crash is the locked section that an attempt ends with whose function, or what
// judged its value, panicked or exited. It says nothing about the dependency, and
// its call is over, also where another attempt had been decided.
func (g *Guard) crash(c *call, t stack.Ticket) {
	now := g.now()
	g.mu.Lock()
	g.stack.Judge(now, &c.Call, t, policy.Report{Outcome: policy.Ignored, Final: true})
	g.stack.Free(now, t, policy.Cut) // no answer: it says nothing of how long one takes
	g.stack.Cancel(now, &c.Call)
	g.unlock()
}

// free gives a slot back.
func (g *Guard) free(t stack.Ticket, o policy.Outcome) {
	now := g.now()
	g.mu.Lock()
	g.stack.Free(now, t, o)
	g.unlock()
}

// again asks what to do now: after a wait, or because the caller left.
func (g *Guard) again(ctx context.Context, c *call) stack.Step {
	gone := ctx.Err() != nil
	now := g.now()
	g.mu.Lock()
	if c.wake != nil {
		select { // the token that woke us, or one that came too late to
		case <-c.wake:
		default:
		}
		c.wake = nil
	}
	if gone {
		g.stack.Cancel(now, &c.Call)
	}
	return g.next(now, c)
}

// newLooker returns the timer by which the guard looks at the time, stopped.
func (g *Guard) newLooker() *time.Timer {
	looker := time.AfterFunc(time.Hour, g.look)
	looker.Stop()
	return looker
}

// look is the guard's own look at the time.
func (g *Guard) look() {
	now := g.now()
	g.mu.Lock()
	g.stack.Look(now)
	g.looking = false
	g.unlock()
}

// next ends a section that has to know what its call does now.
func (g *Guard) next(now policy.Instant, c *call) stack.Step {
	if c.Over() {
		g.unlock()
		return stack.Step{Kind: stack.Done}
	}
	s := g.stack.Next(now, &c.Call)
	if s.Kind == stack.Wait && !s.Ticket.IsZero() {
		c.wake = g.wakeFor(s.Ticket)
	}
	g.unlock()
	return s
}

// wakeFor returns the channel of the ticket's place, made when somebody first
// waits there. It holds one token: "look again" said twice is said once.
func (g *Guard) wakeFor(t stack.Ticket) chan struct{} {
	for t.Slot() >= len(g.wakes) {
		g.wakes = append(g.wakes, nil)
	}
	if g.wakes[t.Slot()] == nil {
		g.wakes[t.Slot()] = make(chan struct{}, 1)
	}
	return g.wakes[t.Slot()]
}

// unlock ends every locked section: whoever was granted or refused in it is
// told, and the guard looks again by itself while there is something to see.
func (g *Guard) unlock() {
	if t, ok := g.stack.Woken(); ok {
		g.rouse(t)
	}
	if !g.looking && g.stack.Restless() {
		g.looking = true
		g.looker.Reset(lookEvery)
	}
	g.mu.Unlock()
}

// rouse tells the owner of t, and all others who are to look again.
func (g *Guard) rouse(t stack.Ticket) {
	for ok := true; ok; t, ok = g.stack.Woken() {
		select {
		case g.wakeFor(t) <- struct{}{}:
		default:
		}
	}
}

// sleep waits until the step's instant, the wake-up of its ticket, or the
// caller's end, and asks what to do then.
func (g *Guard) sleep(ctx context.Context, c *call, s stack.Step) stack.Step {
	timer := g.timer(s.Until)
	c.slept = true
	select {
	case <-c.wake:
	case <-expiry(timer):
	case <-ctx.Done():
	}
	g.putBack(timer)
	return g.again(ctx, c)
}

// timer returns a timer that fires at i, nil for never. Timers are pooled in
// the guard: one that was made outside a synctest bubble would hang a test in
// it.
func (g *Guard) timer(i policy.Instant) *time.Timer {
	if i == policy.Never {
		return nil
	}
	wait := i.Sub(g.now())
	g.mu.Lock()
	n := len(g.timers)
	if n == 0 {
		g.mu.Unlock()
		return time.NewTimer(wait)
	}
	timer := g.timers[n-1]
	g.timers = g.timers[:n-1]
	g.mu.Unlock()
	timer.Reset(wait)
	return timer
}

func (g *Guard) putBack(timer *time.Timer) {
	if timer == nil {
		return
	}
	timer.Stop()
	g.mu.Lock()
	if len(g.timers) < cap(g.wakes)+16 {
		g.timers = append(g.timers, timer)
	}
	g.mu.Unlock()
}

func expiry(timer *time.Timer) <-chan time.Time {
	if timer == nil {
		return nil
	}
	return timer.C
}
