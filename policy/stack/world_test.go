package stack_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/stack"
)

// A world is open-loop traffic through a stack to one dependency, on a virtual
// clock. It is the smallest driver that a stack can have: it asks Next until it
// says Wait or Done, keeps an alarm for whatever it waits for, tells the ends of
// attempts, drains Woken, and looks once a second.
type world struct {
	s      *stack.Stack
	events events
	seq    int
	next   policy.Instant // when the next call comes
	random *rand.Rand
	owners []*visitor // of waiting attempts, by place

	perSecond float64
	patience  time.Duration                                      // callers leave after it; 0: never
	cancelled bool                                               // they leave by cancelling, with no deadline that one could know
	stops     bool                                               // the dependency stops when its caller leaves
	answer    func(now policy.Instant, u float64) reply          // what it does with an attempt
	late      func(policy.Instant) policy.Instant                // when the driver gets to what happens
	decided   func(now policy.Instant, v *visitor, s stack.Step) // told of every decision, if set
	opened    []policy.Instant
	moves     []policy.Event // read up to
	read      uint64
	done      map[policy.Reason]int
}

// A visitor is one call and its owner.
type visitor struct {
	call  stack.Call
	last  stack.Ticket // the attempt that was started last
	alarm int          // the event that counts; older ones are forgotten
}

// A reply is how the dependency deals with one attempt, if nobody cuts it.
type reply struct {
	headers, took time.Duration // headers 0: everything comes at once
	outcome       policy.Outcome
}

type event struct {
	at  policy.Instant
	seq int
	do  func(now policy.Instant)
}

func newWorld(cfg stack.Config, perSecond float64, seed uint64, answer func(policy.Instant, float64) reply) *world {
	w := &world{
		s: stack.New(cfg), random: rand.New(rand.NewPCG(seed, 0)), perSecond: perSecond, answer: answer,
		stops: cfg.Cancels, done: make(map[policy.Reason]int),
		late: func(at policy.Instant) policy.Instant { return at },
	}
	w.after(0, w.arrive)
	w.after(0, w.look)
	return w
}

// run plays until the instant, or until the breaker has opened n times.
func (w *world) run(until policy.Instant, n int) {
	for len(w.opened) < n && w.events[0].at < until {
		e := heap.Pop(&w.events).(event)
		e.do(w.late(e.at))
		w.wake(w.late(e.at))
	}
}

// after plans something and returns its number.
func (w *world) after(at policy.Instant, do func(now policy.Instant)) int {
	w.seq++
	heap.Push(&w.events, event{at, w.seq, do})
	return w.seq
}

// arrive is one call of a Poisson stream. What comes next is planned by the
// stream's own time, also when the driver is late.
func (w *world) arrive(now policy.Instant) {
	gap := -math.Log(1-w.random.Float64()) / w.perSecond
	w.next = w.next.Add(time.Duration(gap * float64(time.Second)))
	w.after(w.next, w.arrive)
	w.call(now)
}

func (w *world) look(now policy.Instant) {
	w.s.Look(now)
	w.after(now.Add(time.Second), w.look)
}

func (w *world) call(now policy.Instant) {
	v := &visitor{call: stack.Call{Ask: stack.Ask{Deadline: policy.Never, Seed: w.random.Uint64()}}}
	switch {
	case w.patience > 0 && w.cancelled:
		w.after(now.Add(w.patience), func(now policy.Instant) { w.leave(now, v) })
	case w.patience > 0:
		v.call.Ask.Deadline = now.Add(w.patience)
	}
	w.s.Begin(now, &v.call)
	w.ask(now, v)
}

// ask does what Next says until it has nothing more to say.
func (w *world) ask(now policy.Instant, v *visitor) {
	for !v.call.Over() {
		step := w.s.Next(now, &v.call)
		if w.decided != nil {
			w.decided(now, v, step)
		}
		switch step.Kind {
		case stack.Start:
			w.start(now, v, step)
			continue
		case stack.Wait:
			w.wait(v, step)
			return
		}
	}
	v.alarm = 0
	w.done[v.call.Why()]++
}

func (w *world) wait(v *visitor, step stack.Step) {
	if !step.Ticket.IsZero() {
		for len(w.owners) <= step.Ticket.Slot() {
			w.owners = append(w.owners, nil)
		}
		w.owners[step.Ticket.Slot()] = v
	}
	if step.Until == policy.Never {
		return
	}
	var alarm int
	alarm = w.after(step.Until, func(now policy.Instant) {
		if v.alarm == alarm {
			w.ask(now, v)
		}
	})
	v.alarm = alarm
}

// start lets the dependency work: until it has finished, or, once the caller
// has left, until it is presumed dead; one that stops with its caller stops at
// the end of what it was given.
func (w *world) start(now policy.Instant, v *visitor, step stack.Step) {
	v.last = step.Ticket
	r := w.answer(now, w.random.Float64())
	if r.headers > 0 {
		w.after(now.Add(r.headers), func(now policy.Instant) {
			if w.s.Judge(now, &v.call, step.Ticket, policy.Report{Outcome: r.outcome}) {
				w.ask(now, v)
			}
		})
	}
	cut, outcome := step.Bound, policy.Failure
	if w.stops && step.Until == v.call.Ask.Deadline {
		cut, outcome = step.Until, policy.Cut
	}
	end := now.Add(r.took)
	if end < cut {
		outcome = r.outcome
	}
	w.after(min(end, cut), func(now policy.Instant) { w.settle(now, v, step.Ticket, outcome) })
}

func (w *world) settle(now policy.Instant, v *visitor, t stack.Ticket, o policy.Outcome) {
	was := v.call.Over()
	w.s.Settle(now, &v.call, t, policy.Report{Outcome: o})
	if !was {
		v.alarm = 0
		w.ask(now, v)
	}
}

// leave cancels a call; a dependency that stops with it stops now.
func (w *world) leave(now policy.Instant, v *visitor) {
	if v.call.Over() {
		return
	}
	w.s.Cancel(now, &v.call)
	if w.stops {
		w.s.Free(now, v.last, policy.Cut)
	}
	w.ask(now, v)
}

func (w *world) wake(now policy.Instant) {
	for t, ok := w.s.Woken(); ok; t, ok = w.s.Woken() {
		w.ask(now, w.owners[t.Slot()])
	}
	w.moves, w.read = w.s.Events(w.read, w.moves[:0])
	for _, e := range w.moves {
		if e.Kind == policy.Moved && breaker.State(e.Count) == breaker.Open {
			w.opened = append(w.opened, e.At)
		}
	}
}

// events is a heap by instant, and by order of planning within one.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
