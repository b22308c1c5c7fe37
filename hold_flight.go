package kalan

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// Flight mode: each attempt runs on a goroutine of its own, so that its caller
// can leave it behind. An attempt is in exactly one of three hands: its own
// goroutine's while it flies; its call's once it has landed; its own again,
// for ever, once it was left.

const (
	flying int32 = iota
	landed
	left
)

type flight struct {
	ticket stack.Ticket
	until  policy.Instant
	ctx    leftContext
	hands  atomic.Int32
}

// A landing is what an attempt came back with.
type landing[T any] struct {
	*flight
	value    T
	err      error
	panicked any
	exited   bool
}

// A trip is one call in flight mode.
type trip[T any] struct {
	g    *Guard
	way  Way[T]
	fn   func(context.Context) (T, error)
	call call
	back chan landing[T]
	out  []*flight
	last error
	few  [aloft]*flight // the first memory of out
}

// aloft is how many attempts of one call can be out at once, and so how many
// can land before their owner looks.
const aloft = 4

func fly[T any](ctx context.Context, g *Guard, way Way[T], fn func(context.Context) (T, error)) (T, Held, error) {
	tr := &trip[T]{g: g, way: way, fn: fn, back: make(chan landing[T], aloft)}
	tr.out = tr.few[:0]
	tr.call.Ask = way.Ask.ask()
	defer tr.leaveAll() // also when a panic of the function's passes through
	for s := g.begin(ctx, &tr.call); ; {
		switch s.Kind {
		case stack.Start:
			tr.launch(ctx, s)
			s = g.again(ctx, &tr.call)
		case stack.Wait:
			l, came := tr.sleep(ctx, s)
			if !came {
				now := g.now() // before the machine's: what is over by it has been judged
				s = g.again(ctx, &tr.call)
				tr.leaveOverdue(now)
				continue
			}
			var held Held
			if held, s = tr.land(ctx, l); held.guard != nil {
				return l.value, held, nil
			}
		default:
			var zero T
			if tr.call.TimedOut() { // also by a reading of the clock later than ours
				tr.leaveOverdue(g.now())
			}
			return zero, Held{}, g.answer(ctx, &tr.call, tr.last)
		}
	}
}

// launch starts an attempt. Its context is not its caller's: it ends when the
// dependency is presumed dead.
func (tr *trip[T]) launch(ctx context.Context, s stack.Step) {
	f := &flight{ticket: s.Ticket, until: s.Until}
	f.ctx.Context, f.ctx.number = context.WithoutCancel(ctx), tr.call.Attempts()
	if s.Bound != policy.Never {
		f.ctx.until = tr.g.at(s.Bound)
	}
	if s.Until != policy.Never {
		f.ctx.wanted = tr.g.at(s.Until)
	}
	tr.out = append(tr.out, f)
	go tr.run(f)
}

// run is the attempt's goroutine.
func (tr *trip[T]) run(f *flight) {
	l := landing[T]{flight: f, exited: true}
	defer func() {
		if l.exited {
			if p := recover(); p != nil {
				l.panicked, l.exited = p, false
			}
		}
		if f.hands.CompareAndSwap(flying, landed) {
			tr.back <- l
			return
		}
		tr.bury(l)
	}()
	l.value, l.err = tr.fn(&f.ctx)
	l.exited = false
}

// sleep waits like Guard.sleep, and for an attempt to land.
func (tr *trip[T]) sleep(ctx context.Context, s stack.Step) (l landing[T], came bool) {
	timer := tr.g.timer(s.Until)
	defer tr.g.putBack(timer)
	tr.call.slept = true
	select {
	case l = <-tr.back:
		return l, true
	case <-tr.call.wake:
	case <-expiry(timer):
	case <-ctx.Done():
	}
	return l, false
}

// land takes in an attempt's result. The Held is the call's answer, if it is.
func (tr *trip[T]) land(ctx context.Context, l landing[T]) (held Held, s stack.Step) {
	g := tr.g
	tr.takeOff(l.flight)
	settled := false
	defer func() {
		if !settled { // a panic or a Goexit, in the function or in judging its value
			g.crash(&tr.call, l.ticket)
			l.ctx.end()
		}
	}()
	if l.exited || l.panicked != nil {
		tr.fall(l)
	}
	r := tr.way.report(ctx, g, l.value, l.err)
	switch counts := g.judge(&tr.call, l.ticket, r); {
	case !counts: // its time was up before it landed
		settled = true
		tr.ranOut(l.flight)
		go tr.bury(l)
		return held, g.again(ctx, &tr.call)
	case l.err != nil:
		tr.last = l.err
	case tr.call.Over():
		settled = true
		return Held{g, l.ticket, &l.ctx.attemptContext}, s
	default:
		tr.last = tr.way.discard(l.value)
	}
	settled = true
	l.ctx.end()
	return held, g.settle(&tr.call, l.ticket, r)
}

// fall lets a panic or a Goexit of the function's reach the caller.
func (tr *trip[T]) fall(l landing[T]) {
	if l.panicked != nil {
		panic(l.panicked)
	}
	runtime.Goexit()
}

// leave lets an attempt run on without its caller.
func (tr *trip[T]) leave(f *flight) {
	if f.hands.CompareAndSwap(flying, left) {
		if tr.g.cancels.Load() {
			f.ctx.end()
		}
		return
	}
	var others []landing[T]
	for l := range tr.back { // it has landed: its result is here, or about to be
		if l.flight == f {
			go tr.bury(l)
			break
		}
		others = append(others, l)
	}
	for _, l := range others { // these are still the call's
		tr.back <- l
	}
}

func (tr *trip[T]) leaveAll() {
	for len(tr.out) > 0 {
		f := tr.out[len(tr.out)-1]
		tr.takeOff(f)
		tr.leave(f)
	}
}

// leaveOverdue leaves the attempts that the stack has judged at their limit.
func (tr *trip[T]) leaveOverdue(now policy.Instant) {
	for i := len(tr.out) - 1; i >= 0 && i < len(tr.out); i-- {
		if f := tr.out[i]; now >= f.until {
			tr.ranOut(f)
			tr.takeOff(f)
			tr.leave(f)
		}
	}
}

// ranOut keeps as the last error what an attempt leaves whose own limit has
// passed: it will say nothing itself, and whatever ends the call after it has to
// name a cause.
func (tr *trip[T]) ranOut(f *flight) {
	if f.until < tr.call.Ask.Deadline {
		tr.last = &Rejection{Guard: tr.g.name, Reason: policy.Timeout}
	}
}

func (tr *trip[T]) takeOff(f *flight) {
	for i, o := range tr.out {
		if o == f {
			tr.out = append(tr.out[:i], tr.out[i+1:]...)
			return
		}
	}
}

// bury ends an attempt that nobody waits for. What it says of the dependency
// is still news for the breaker; a panic in it has no caller to reach, so it is
// counted.
func (tr *trip[T]) bury(l landing[T]) {
	outcome := policy.Ignored
	defer func() {
		if p := recover(); p != nil || l.panicked != nil {
			tr.g.mu.Lock()
			tr.g.panics++
			tr.g.mu.Unlock()
		}
		tr.g.free(l.ticket, outcome)
		l.ctx.end()
	}()
	if l.exited || l.panicked != nil {
		return
	}
	said := tr.way.judge(tr.g, l.value, l.err).Outcome
	if l.err == nil {
		_ = tr.way.discard(l.value)
	} else if said != policy.Success && tr.g.cancels.Load() {
		said = policy.Cut // it did as it was told
	}
	outcome = said
}
