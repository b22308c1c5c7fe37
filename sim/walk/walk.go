package walk

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/deadline"
	"github.com/kalan-go/kalan/policy/retry"
)

// A walker takes requests along the chain, one after the other, and tells the
// machines what time it is.
type walker struct {
	scenario *Scenario
	setup    *Configuration
	plan     *retry.Plan
	budget   *budget.Budget // nil: nothing caps the retries

	cycle []time.Duration
	read  int // how many durations have been read
	now   policy.Instant
	seed  uint64 // of the last step's call
	calls int
}

func newWalker(s *Scenario, r *Regime, c *Configuration) *walker {
	w := &walker{scenario: s, setup: c, plan: retry.New(c.Retry), cycle: r.Cycle}
	if c.Budget != nil {
		w.budget = budget.New(*c.Budget)
	}
	return w
}

// request walks one request and returns its end-to-end time, and whether every
// branch came to its end.
func (w *walker) request() (time.Duration, bool) {
	start, limit := w.now, policy.Never
	if w.setup.Propagate {
		limit = deadline.At(start, w.scenario.Promise)
	}
	fork := start.Add(w.scenario.Share)
	whole := true
	for range w.scenario.Chain.Branches {
		end, ok := w.branch(fork, limit)
		w.now = max(w.now, end)
		whole = whole && ok
	}
	return w.now.Sub(start), whole
}

// branch walks the steps of one branch until one of them fails, and returns
// when that is.
func (w *walker) branch(now, limit policy.Instant) (policy.Instant, bool) {
	for range w.scenario.Chain.Depth {
		var ok bool
		if now, ok = w.step(now, limit); !ok {
			return now, false
		}
	}
	return now, true
}

// step makes one call with all its attempts. It is the same loop as any driver
// has, with nothing to wait for.
func (w *walker) step(now, limit policy.Instant) (policy.Instant, bool) {
	w.seed++
	call := w.plan.Begin(limit, w.seed)
	for {
		switch move, at := w.plan.Next(now, &call, w.budget); move {
		case retry.Launch:
			now = w.attempt(now, &call)
		case retry.Wait:
			now = at
		default:
			return now, call.Why() == policy.None
		}
	}
}

// attempt makes one attempt and returns when it ended: with its answer, or at
// its time limit.
func (w *walker) attempt(now policy.Instant, call *retry.Call) policy.Instant {
	mark := w.plan.Launched(call)
	w.calls++
	takes, limit := w.next(), deadline.Outbound(w.setup.Timeout, deadline.Remaining(now, call.Deadline), 0)
	report, why := policy.Report{Outcome: policy.Success}, policy.None
	if takes > limit {
		takes, report, why = limit, policy.Report{Outcome: policy.Failure}, policy.Timeout
	}
	now = now.Add(takes)
	w.budget.Heard(report.Outcome == policy.Success)
	w.plan.Settle(now, call, report, why, w.budget)
	w.budget.End(now, &mark)
	return now
}

// next reads how long the next attempt takes.
func (w *walker) next() time.Duration {
	d := w.cycle[w.read%len(w.cycle)]
	w.read++
	return d
}
