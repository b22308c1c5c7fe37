package stack_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

const ms = time.Millisecond

// A dice draws from [0, n). Whoever throws it decides the walk: a seeded
// generator, rapid, or the bytes of a fuzzer.
type dice func(n int) int

// A failing is what a walk needs of a *testing.T or a *rapid.T.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A caller is the owner of one call: it looks when it likes, not when it is
// woken.
type caller struct {
	call stack.Call
	done bool // Next said Done
}

// An attempt is one that was started and has not been freed.
type attempt struct {
	ticket     stack.Ticket
	owner      *caller
	number     int
	generation uint32 // of the breaker, when it was admitted
}

// A walk tells a stack verbs at random, and after each of them holds it to the
// invariants of check_test.go.
type walk struct {
	t    failing
	roll dice
	cfg  stack.Config
	s    *stack.Stack

	clamp bool // never tell a now that is smaller than the last
	still bool // never change the configuration
	aside func(*walk, policy.Instant)

	now      policy.Instant // as the stack is told it: may run backwards
	time     policy.Instant // the latest now
	good     int            // how many of ten attempts succeed at the moment
	callers  []*caller
	attempts []*attempt
	stale    []stack.Ticket          // names of what has ended
	told     map[stack.Ticket]bool   // owners that were woken and have not looked
	admitted map[stack.Ticket]uint32 // generation in which an attempt was admitted
	offered  map[stack.Ticket]policy.Instant
	names    map[stack.Ticket]int // in the order of admission
	drawn    []policy.Instant     // when the started attempts took from the bucket
	before   map[stack.Ticket]stack.Attempt
	checks   int
	changed  bool // the configuration is not what it was
	started  int
	first    int // calls that have had a first attempt, and are forgotten
	log      []string
}

func newWalk(t failing, roll dice) *walk {
	cfg := drawConfig(roll)
	return &walk{
		t: t, roll: roll, cfg: cfg, s: stack.New(cfg), good: 8,
		told:     make(map[stack.Ticket]bool),
		admitted: make(map[stack.Ticket]uint32),
		offered:  make(map[stack.Ticket]policy.Instant),
		names:    make(map[stack.Ticket]int),
	}
}

// step does one thing.
func (w *walk) step() {
	switch w.roll(16) {
	case 0, 1, 2:
		w.pass()
	case 3, 4, 5:
		w.begin()
	case 6, 7, 8:
		w.askSomebody()
	case 9, 10:
		w.end((*walk).settle)
	case 11, 12:
		w.end((*walk).judge)
	case 13:
		w.end((*walk).free)
		w.excuse()
	case 14:
		w.cancel()
	case 15:
		if w.roll(4) == 0 && !w.still {
			w.configure()
		} else {
			w.odd()
		}
	}
}

// pass lets time pass: not at all, a little, to the very instant at which
// something is due or just beside it, far, or backwards.
func (w *walk) pass() {
	now := w.time
	switch w.roll(8) {
	case 0, 1:
		now = now.Add(time.Duration(w.roll(1000)) * time.Microsecond)
	case 2, 3:
		now = now.Add(time.Duration(w.roll(60)) * ms)
	case 4, 5:
		now = w.due().Add(time.Duration(w.roll(3) - 1))
	case 6:
		now = now.Add(time.Duration(w.roll(20000)) * ms)
	case 7:
		now = now.Add(-time.Duration(w.roll(2000)) * ms)
	}
	if now < w.time {
		w.s.Look(w.time) // or it would not be backwards
		w.check()
	}
	if w.clamp {
		now = max(now, w.time)
	}
	if w.aside != nil {
		w.aside(w, now)
	}
	w.now, w.time = now, max(now, w.time)
	w.good = pick(w.roll, w.good, w.good, w.good, w.good, 0, 5, 10)
	if w.roll(4) == 0 {
		w.say("look")
		w.s.Look(now)
		w.check()
	}
}

// due returns an instant ahead at which something happens.
func (w *walk) due() policy.Instant {
	var ahead []policy.Instant
	add := func(at policy.Instant) {
		if at > w.time && at != policy.Never {
			ahead = append(ahead, at)
		}
	}
	for _, a := range w.byName() {
		add(a.Until)
		add(a.Bound)
		add(a.Started.Add(time.Duration(w.s.SlowAfter())))
	}
	for _, c := range w.callers {
		add(c.call.Ask.Deadline)
	}
	add(w.booksNow().Breaker.RetryAt)
	if len(ahead) == 0 {
		return w.time
	}
	return ahead[w.roll(len(ahead))]
}

// byName returns the attempts in the order of their admission, which does not
// depend on the places they were given.
func (w *walk) byName() []stack.Attempt {
	all := w.s.Attempts()
	slices.SortFunc(all, func(a, b stack.Attempt) int { return w.names[a.Ticket] - w.names[b.Ticket] })
	return all
}

func (w *walk) begin() {
	c := &caller{}
	c.call.Ask = stack.Ask{
		Deadline: policy.Never, Seed: uint64(w.roll(1 << 16)),
		Level: uint8(w.roll(3)), Flow: uint32(w.roll(3)), Weight: uint8(w.roll(3)),
		Once: w.roll(8) == 0, Hedge: w.roll(2) == 0, Unsafe: w.roll(6) == 0, Route: uint8(w.roll(3)),
	}
	if w.roll(2) == 0 {
		c.call.Ask.Deadline = w.time.Add(pick(w.roll, 0, -ms, 5*ms, 50*ms, 90*ms, 100*ms, time.Second))
	}
	w.say("begin, deadline %v", c.call.Ask.Deadline)
	books := w.booksNow()
	w.s.Begin(w.now, &c.call)
	w.check()
	w.dismiss()
	w.callers = append(w.callers, c)
	if w.roll(5) > 0 {
		w.ask(c)
		if c.done && c.call.Attempts() == 0 {
			w.spentNothing(books, c)
		}
	}
}

// dismiss forgets the oldest call that is over, so that a long walk stays as
// fast as a short one.
func (w *walk) dismiss() {
	if len(w.callers) < 20 {
		return
	}
	for i, c := range w.callers {
		if c.done {
			w.first += min(c.call.Attempts(), 1)
			w.callers = append(w.callers[:i], w.callers[i+1:]...)
			return
		}
	}
}

// ask asks Next until it has nothing more to say.
func (w *walk) ask(c *caller) {
	for {
		w.say("next")
		step := w.s.Next(w.now, &c.call)
		w.judgeStep(c, step)
		w.say("  %s a%d until %v, %v", [...]string{"done", "start", "wait"}[step.Kind], w.names[step.Ticket], step.Until, c.call.Why())
		w.check()
		if step.Kind != stack.Start {
			w.askAgain(c, step)
			return
		}
	}
}

func (w *walk) askSomebody() {
	if len(w.callers) > 0 {
		w.ask(w.callers[w.roll(len(w.callers))])
	}
}

// end ends an attempt in some way, and asks what its call does now, or not.
func (w *walk) end(how func(*walk, *attempt, policy.Report)) {
	if len(w.attempts) == 0 {
		return
	}
	a := w.attempts[w.roll(len(w.attempts))]
	r := policy.Report{Outcome: policy.Success, Final: w.roll(6) == 0, Refused: w.roll(8) == 0}
	if w.roll(10) >= w.good {
		r.Outcome = pick(w.roll, policy.Failure, policy.Failure, policy.Failure, policy.Cut, policy.Ignored)
	}
	if w.roll(6) == 0 {
		r.RetryAfter = pick(w.roll, 10*ms, time.Second, time.Hour, -ms)
	}
	if w.roll(2) == 0 {
		how(w, a, r)
	} else {
		before := w.booksNow().Breaker
		how(w, a, r)
		w.lateNews(a, before)
	}
	if !a.owner.done && w.roll(2) == 0 {
		w.ask(a.owner)
	}
}

func (w *walk) settle(a *attempt, r policy.Report) {
	w.say("settle a%d %v", w.names[a.ticket], r)
	w.s.Settle(w.now, &a.owner.call, a.ticket, r)
	w.check()
}

// judge judges an attempt and holds the stack to what Judge alone may do.
func (w *walk) judge(a *attempt, r policy.Report) {
	w.say("judge a%d %v", w.names[a.ticket], r)
	was, before := w.s.StateOf(a.ticket), w.booksNow()
	counts := w.s.Judge(w.now, &a.owner.call, a.ticket, r)
	w.check()
	w.judgedAlone(a, r, was, counts, before)
}

func (w *walk) free(a *attempt, r policy.Report) {
	if w.s.StateOf(a.ticket) != stack.Kept {
		return // a driver frees what it has judged or left
	}
	w.say("free a%d %v", w.names[a.ticket], r.Outcome)
	w.s.Free(w.now, a.ticket, r.Outcome)
	w.check()
}

// excuse excuses an attempt now and then; Judge and Free go on as before.
func (w *walk) excuse() {
	if len(w.attempts) == 0 || w.roll(4) > 0 {
		return
	}
	a := w.attempts[w.roll(len(w.attempts))]
	w.say("excuse a%d", w.names[a.ticket])
	w.s.Excuse(w.now, a.ticket)
	w.check()
}

func (w *walk) cancel() {
	if len(w.callers) == 0 {
		return
	}
	c := w.callers[w.roll(len(w.callers))]
	w.say("cancel")
	w.s.Cancel(w.now, &c.call)
	w.check()
	if w.roll(2) == 0 {
		w.ask(c)
	}
}

// configure changes everything. What a figure once allowed may go on.
func (w *walk) configure() {
	was := w.cfg
	w.cfg, w.changed = drawConfig(w.roll), true
	w.cfg.Retry.Attempts = max(w.cfg.Retry.Attempts, was.Retry.Attempts)
	w.cfg.Breaker.Probes = max(w.cfg.Breaker.Probes, was.Breaker.Probes)
	w.cfg.Room.Waiting = max(w.cfg.Room.Waiting, was.Room.Waiting)
	w.say("configure")
	w.s.Configure(w.now, w.cfg)
	w.check()
}

// odd uses what a driver should not have any more: nothing may change.
func (w *walk) odd() {
	old := stack.Ticket{}
	if len(w.stale) > 0 {
		old = w.stale[w.roll(len(w.stale))]
	}
	var nobody stack.Call
	books := w.booksNow()
	w.say("odd a%d", w.names[old])
	switch w.roll(3) {
	case 0:
		w.s.Free(w.now, old, policy.Failure)
	case 1:
		w.s.Settle(w.now, &nobody, old, policy.Report{Outcome: policy.Failure})
	case 2:
		if w.s.Judge(w.now, &nobody, old, policy.Report{Outcome: policy.Failure}) {
			w.fail("a stale ticket was judged as its call's")
		}
	}
	w.check()
	w.same(books, w.s.Books(), "a stale ticket")
}

func (w *walk) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%v ", w.time)+fmt.Sprintf(format, args...))
}
