package stack_test

import (
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

func (w *walk) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(format+"\n%+v\nlast verbs:\n%s", append(args, w.cfg, strings.Join(w.log[max(0, len(w.log)-60):], "\n"))...)
}

// check holds the stack to everything that is true after every verb.
func (w *walk) check() {
	w.t.Helper()
	all := w.s.Attempts()
	w.checkCounts(all)
	w.checkGates(all)
	if w.checks++; w.checks%3 > 0 { // or the driver tells another verb before it unlocks
		w.drain()
		w.checkWaking(all)
	}
	w.checkRest()
	w.forget(all)
	if wrong := w.s.Tangled(w.changed); wrong != "" {
		w.fail("%s", wrong)
	}
}

// checkRest: where nobody has to look, time alone changes nothing.
func (w *walk) checkRest() {
	if w.s.Restless() {
		return
	}
	now, later := w.s.Snapshot(w.now).Breaker.State, w.s.Snapshot(w.now.Add(24*time.Hour)).Breaker.State
	if now != later {
		w.fail("at rest, and %v becomes %v by itself", now, later)
	}
}

// drain empties Woken as a driver does before it unlocks.
func (w *walk) drain() {
	for t, ok := w.s.Woken(); ok; t, ok = w.s.Woken() {
		if st := w.s.StateOf(t); st != stack.Granted && st != stack.Refused {
			w.fail("woken while %v: %v", st, t)
		}
		if w.told[t] {
			w.fail("woken twice: %v", t)
		}
		w.told[t] = true
	}
}

// checkCounts: invariants 1, 2 and the counters.
func (w *walk) checkCounts(all []stack.Attempt) {
	shot := w.s.Snapshot(w.now)
	n := make(map[stack.State]int)
	reserved, untold := 0, 0
	for _, a := range all {
		n[a.State]++
		if a.Reserve {
			reserved++
		}
		if (a.State == stack.Running || a.State == stack.Kept) && !a.Told {
			untold++
		}
	}
	occupied := n[stack.Granted] + n[stack.Running] + n[stack.Kept]
	var outcomes uint64
	for _, n := range shot.Counts.Outcomes {
		outcomes += n
	}
	switch {
	case shot.InFlight != occupied:
		w.fail("%d in flight, but slots are %v", shot.InFlight, n)
	case reserved > 1 || w.cfg.Limit.Kind == limit.Constant && !w.changed && !w.cfg.Observe && occupied > shot.Limit+reserved:
		w.fail("%d in flight with a limit of %d and %d reserved", occupied, shot.Limit, reserved)
	case w.s.Reserved() != (reserved == 1):
		w.fail("the reserve is taken: %v, by %d", w.s.Reserved(), reserved)
	case shot.Waiting != n[stack.Waiting] || shot.Waiting > max(w.cfg.Room.Waiting, 0):
		w.fail("%d wait of %d places, but slots are %v", shot.Waiting, w.cfg.Room.Waiting, n)
	case shot.Waiting > 0 && shot.InFlight < shot.Limit:
		w.fail("%d wait while %d of %d slots are taken", shot.Waiting, shot.InFlight, shot.Limit)
	case shot.Kept != n[stack.Kept]:
		w.fail("the snapshot says %d kept, slots are %v", shot.Kept, n)
	case shot.Counts.Started != uint64(w.started) || outcomes != shot.Counts.Started-uint64(untold):
		w.fail("%d started of %d, %d outcomes, %d not known yet", shot.Counts.Started, w.started, outcomes, untold)
	case shot.Counts.Opened != shot.Breaker.Opened:
		w.fail("the stack saw the breaker open %d times, it did %d times", shot.Counts.Opened, shot.Breaker.Opened)
	}
	w.checkBudget(shot)
}

// checkBudget: what is running and what was counted is what the callers and
// the attempts hold.
func (w *walk) checkBudget(shot stack.Snapshot) {
	running, calls := 0, w.first
	for _, a := range w.attempts {
		if a.number > 1 && w.s.StateOf(a.ticket) >= stack.Running {
			running++
		}
	}
	for _, c := range w.callers {
		if !c.call.Over() && c.call.Attempts() > 0 && c.call.Running() == 0 {
			running++ // decided, and waiting for its turn or its slot
		}
		if w.counted(c) {
			calls++
		}
	}
	if shot.Budget.Running != int64(running) {
		w.fail("the budget counts %d running, there are %d", shot.Budget.Running, running)
	}
	if w.cfg.Budget.Window >= 0 || w.changed || w.cfg.Observe {
		return
	}
	cfg := w.cfg.Budget.WithDefaults()
	if shot.Budget.Calls != int64(calls) {
		w.fail("the budget counts %d calls, there were %d", shot.Budget.Calls, calls)
	}
	most := float64(max(cfg.Floor, 0)) + cfg.Ratio*float64(shot.Counts.Calls) + 1
	if float64(shot.Counts.Retries) >= most {
		w.fail("%d retries of %d calls, fewer than %v are allowed", shot.Counts.Retries, shot.Counts.Calls, most)
	}
}

// counted reports whether the call's first attempt was started, or waits.
func (w *walk) counted(c *caller) bool {
	return c.call.Attempts() > 0 || w.s.Waits(&c.call)
}

// checkGates: invariants 6 and 9.
func (w *walk) checkGates(all []stack.Attempt) {
	b := w.s.Snapshot(w.now).Breaker
	waiting, probes := 0, 0
	for _, a := range all {
		if a.State == stack.Waiting {
			waiting++
		}
		if a.Probe && w.admitted[a.Ticket] == b.Generation {
			probes++
		}
		was, known := w.before[a.Ticket]
		if known && was.State == stack.Waiting && a.State == stack.Granted && w.s.Now() >= was.Until {
			w.fail("granted at %v, and it waited until %v", w.s.Now(), was.Until)
		}
	}
	if b.State != breaker.Closed && waiting > 0 && !w.lenient() {
		w.fail("%d wait behind a breaker that is %v", waiting, b.State)
	}
	if b.ProbesOut != probes || probes > w.cfg.Breaker.Probes {
		w.fail("the breaker counts %d probes out, there are %d of %d", b.ProbesOut, probes, w.cfg.Breaker.Probes)
	}
}

// lenient reports whether the breaker only observes.
func (w *walk) lenient() bool {
	return w.cfg.Breaker.Mode == breaker.Observe || w.cfg.Observe
}

// checkWaking: invariant 10. Who was granted or refused behind his back knows.
func (w *walk) checkWaking(all []stack.Attempt) {
	for _, a := range all {
		if (a.State == stack.Granted || a.State == stack.Refused) && !w.told[a.Ticket] {
			w.fail("%v is %v and its owner sleeps on", a.Ticket, a.State)
		}
	}
}

// forget drops what has ended, and remembers the rest for the next check.
func (w *walk) forget(all []stack.Attempt) {
	w.before = make(map[stack.Ticket]stack.Attempt)
	for _, a := range all {
		w.before[a.Ticket] = a
	}
	for t := range w.told {
		if st := w.s.StateOf(t); st != stack.Granted && st != stack.Refused {
			delete(w.told, t)
		}
	}
	live := w.attempts[:0]
	for _, a := range w.attempts {
		if _, there := w.before[a.ticket]; there {
			live = append(live, a)
		} else if len(w.stale) < 50 {
			w.stale = append(w.stale, a.ticket)
		}
	}
	w.attempts = live
}

// finish ends everything: invariant 3.
func (w *walk) finish() {
	for _, c := range w.callers {
		w.s.Cancel(w.now, &c.call)
		w.check()
		w.ask(c)
	}
	for len(w.attempts) > 0 {
		w.s.Free(w.now, w.attempts[0].ticket, pick(w.roll, policy.Success, policy.Failure, policy.Cut, policy.Ignored))
		w.check()
	}
	shot := w.s.Snapshot(w.now)
	if all := w.s.Attempts(); len(all) > 0 || shot.InFlight > 0 || shot.Waiting > 0 || shot.Budget.Running > 0 || shot.Breaker.ProbesOut > 0 {
		w.fail("at the end: %+v, %+v", all, shot)
	}
	w.finishBucket()
}

// finishBucket holds the bucket to one that only ever saw the attempts that
// were started: no token may be lost with those that were not.
func (w *walk) finishBucket() {
	if w.cfg.Rate == 0 || w.changed || w.cfg.Observe {
		return
	}
	rule := bucket.NewRule(bucket.Config{Rate: w.cfg.Rate})
	var l bucket.Level
	for _, at := range w.drawn {
		rule.Reserve(at, &l, 1, policy.Never)
	}
	if got, want := w.s.Books().Bucket.Left, rule.Left(w.s.Now(), &l); got < want-1e-6 {
		w.fail("%v tokens are left, %v would be", got, want)
	}
}
