package breaker

import (
	"container/heap"
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
)

const ms = time.Millisecond

// The setting in which the figures of this file were found: one dependency
// behind 25 slots, attempts of at most 800 ms, slow from 400 ms on.
const (
	slots    = 25
	exchange = 800 * ms
)

// A fault says how an attempt that begins at now ends when nobody cuts it; u is
// a fresh number in [0, 1).
type fault func(now policy.Instant, u float64) (time.Duration, policy.Outcome)

// A world is open-loop traffic through a breaker and slots to a dependency: the
// smallest model in which the breaker sees what it sees in service, overdue
// attempts among it.
type world struct {
	b       *Breaker
	rate    float64
	answer  fault
	events  timetable
	free    int
	random  splitmix
	until   policy.Instant
	paused  func(policy.Instant) policy.Instant // when the gateway gets to it
	opened  []policy.Instant
	offered int
}

type event struct {
	at      policy.Instant
	arrival bool
	attempt *attempt
}

type attempt struct {
	pass    Pass
	began   policy.Instant
	outcome policy.Outcome
	ends    policy.Instant
}

func newWorld(rate float64, seed uint64, answer fault) *world {
	return &world{
		b: New(Config{Exchange: exchange}), rate: rate, answer: answer, free: slots, random: splitmix(seed),
		paused: func(t policy.Instant) policy.Instant { return t },
	}
}

// run plays until the end, or until the breaker has opened once.
func (w *world) run(until policy.Instant) {
	w.until = until
	heap.Push(&w.events, event{at: w.next(0), arrival: true})
	for len(w.events) > 0 && len(w.opened) == 0 {
		e := heap.Pop(&w.events).(event)
		now := w.paused(e.at)
		if e.arrival {
			w.arrive(now, e.at)
		} else {
			w.tell(now, e)
		}
		if w.b.Look(now) == Open {
			w.opened = append(w.opened, now)
		}
	}
}

// next draws the next arrival of a Poisson stream.
func (w *world) next(now policy.Instant) policy.Instant {
	gap := -math.Log(1-w.random.next()) / w.rate
	return now.Add(time.Duration(gap * float64(time.Second)))
}

func (w *world) arrive(now, planned policy.Instant) {
	if next := w.next(planned); next < w.until {
		heap.Push(&w.events, event{at: next, arrival: true})
	}
	w.offered++
	pass, ok := w.b.Admit(now)
	if !ok {
		return
	}
	if w.free == 0 {
		w.b.Undo(now, &pass)
		return
	}
	w.free--
	took, outcome := w.answer(now, w.random.next())
	if took >= exchange {
		took, outcome = exchange, policy.Failure
	}
	a := &attempt{pass: pass, began: now, outcome: outcome, ends: now.Add(took)}
	if took >= w.b.SlowAfter() {
		heap.Push(&w.events, event{at: now.Add(w.b.SlowAfter()), attempt: a})
	}
	heap.Push(&w.events, event{at: a.ends, attempt: a})
}

func (w *world) tell(now policy.Instant, e event) {
	a := e.attempt
	if e.at < a.ends {
		w.b.Overdue(now, &a.pass)
		return
	}
	w.free++
	w.b.Settle(now, &a.pass, a.outcome, now.Sub(a.began))
}

type timetable []event

func (t timetable) Len() int           { return len(t) }
func (t timetable) Less(i, j int) bool { return t[i].at < t[j].at }
func (t timetable) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *timetable) Push(e any)        { *t = append(*t, e.(event)) }
func (t *timetable) Pop() any {
	last := len(*t) - 1
	e := (*t)[last]
	*t = (*t)[:last]
	return e
}

// healthy answers in 20 ms on average, 300 ms at most.
func healthy(_ policy.Instant, u float64) (time.Duration, policy.Outcome) {
	return min(time.Duration(-math.Log(1-u)*float64(20*ms)), 300*ms), policy.Success
}

// after is healthy until the instant, and f from then on.
func after(at policy.Instant, f fault) fault {
	return func(now policy.Instant, u float64) (time.Duration, policy.Outcome) {
		if now < at {
			return healthy(now, u)
		}
		return f(now, u)
	}
}

func partly(p float64, took time.Duration, o policy.Outcome) fault {
	return func(now policy.Instant, u float64) (time.Duration, policy.Outcome) {
		if u < p {
			return took, o
		}
		return healthy(now, (u-p)/(1-p))
	}
}

func thirds(now policy.Instant, u float64) (time.Duration, policy.Outcome) {
	if u < 1./3 {
		return ms, policy.Failure
	}
	return partly(.5, 500*ms, policy.Success)(now, (u-1./3)*3/2)
}

// hangs answers nothing for so long, and then everything at once.
func hangs(at policy.Instant, d time.Duration) fault {
	return func(now policy.Instant, u float64) (time.Duration, policy.Outcome) {
		took, o := healthy(now, u)
		if now >= at && now < at.Add(d) {
			took = at.Add(d).Sub(now) + took
		}
		return took, o
	}
}

// restarts refuses connections for so long.
func restarts(at policy.Instant, d time.Duration) fault {
	return func(now policy.Instant, u float64) (time.Duration, policy.Outcome) {
		if now >= at && now < at.Add(d) {
			return ms, policy.Failure
		}
		return healthy(now, u)
	}
}

// cold is slow for the first while.
func cold(d time.Duration) fault {
	return func(now policy.Instant, u float64) (time.Duration, policy.Outcome) {
		if now < policy.Instant(d) {
			return 600 * ms, policy.Success
		}
		return healthy(now, u)
	}
}
