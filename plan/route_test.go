package plan_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/plan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/stack"
	"pgregory.net/rapid"
)

// orders is a route of examples/trading/kalan.yaml.
func orders() plan.Route {
	return plan.Route{Promise: 900 * ms, Margin: 5 * ms, Checkout: 50 * ms, Exchange: 800 * ms}
}

func TestDivideRoute(t *testing.T) {
	hedge := retry.Config{Hedge: retry.Hedge{After: 50 * ms}}
	for name, c := range map[string]struct {
		change func(*plan.Route)
		want   plan.Division
	}{
		"as it is": {func(*plan.Route) {}, plan.Division{Attempts: 2, Fit: 1, Pauses: 100 * ms, Needs: 1805 * ms, Worst: 900 * ms,
			Late: list(800, 0), Early: list(800, 695), Each: 347500 * time.Microsecond}},
		"one attempt": {func(r *plan.Route) { r.Retry.Attempts = 1 }, plan.Division{Attempts: 1, Fit: 1, Needs: 855 * ms, Worst: 850 * ms,
			Late: list(800), Early: list(800), Each: 845 * ms}},
		"not even one": {func(r *plan.Route) { r.Promise = 500 * ms }, plan.Division{Attempts: 2, Pauses: 100 * ms, Needs: 1805 * ms, Worst: 500 * ms,
			Late: list(445, 0), Early: list(445, 295), Each: 147500 * time.Microsecond}},
		// The dependency may ask for a second between the attempts.
		"no promise": {func(r *plan.Route) { r.Promise = -1 }, plan.Division{Attempts: 2, Fit: 2, Pauses: 100 * ms, Needs: 1805 * ms, Worst: 2700 * ms,
			Late: list(800, 800), Early: list(800, 800)}},
		"all fit": {func(r *plan.Route) { r.Promise = 3 * time.Second }, plan.Division{Attempts: 2, Fit: 2, Pauses: 100 * ms, Needs: 1805 * ms, Worst: 2700 * ms,
			Late: list(800, 800), Early: list(800, 800), Each: 1397500 * time.Microsecond}},
		"only the never sent": {func(r *plan.Route) { r.Connect = 200 * ms }, plan.Division{Attempts: 2, Fit: 1, Pauses: 100 * ms, Needs: 1205 * ms, Worst: 900 * ms,
			Late: list(800, 495), Early: list(800, 695), Each: 495 * ms}},
		"a hedge": {func(r *plan.Route) { r.Retry = hedge }, plan.Division{Attempts: 2, Fit: 1, Pauses: 100 * ms, Needs: 1805 * ms, Worst: 900 * ms,
			Late: list(800, 0), Early: list(800, 695), Each: 347500 * time.Microsecond, Hedge: 795 * ms}},
		"no exchange": {func(r *plan.Route) { r.Exchange = 0 }, plan.Division{Attempts: 2, Pauses: 100 * ms, Needs: math.MaxInt64, Worst: 900 * ms,
			Late: list(845, 0), Early: list(845, 695), Each: 347500 * time.Microsecond}},
	} {
		r := orders()
		c.change(&r)
		if got := r.Divide(); !equal(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func equal(a, b plan.Division) bool {
	late, early := slices.Equal(a.Late, b.Late), slices.Equal(a.Early, b.Early)
	a.Late, a.Early, b.Late, b.Early = nil, nil, nil, nil
	return late && early && a.Attempts == b.Attempts && a.Fit == b.Fit && a.Pauses == b.Pauses && a.Needs == b.Needs &&
		a.Worst == b.Worst && a.Each == b.Each && a.Hedge == b.Hedge
}

func list(milliseconds ...time.Duration) []time.Duration {
	for i := range milliseconds {
		milliseconds[i] *= ms
	}
	return milliseconds
}

func TestInstead(t *testing.T) {
	for want, change := range map[string]func(*plan.Route){
		"exchange: 340ms, or attempts: 1, or promise: 1.9s": func(*plan.Route) {},
		"attempts: 1, or promise: 1.9s":                     func(r *plan.Route) { r.Median = 175 * ms }, // 340 ms would cut ordinary calls
		"exchange: 140ms, or promise: 1.9s":                 func(r *plan.Route) { r.Promise = 500 * ms },
		"promise: 1.9s":                                     func(r *plan.Route) { r.Promise = 200 * ms },
		"exchange: 340ms":                                   func(r *plan.Route) { r.Exchange = 0 },
		"":                                                  func(r *plan.Route) { r.Promise = 1805 * ms },
	} {
		r := orders()
		change(&r)
		if got := r.Instead(r.Divide()).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRouteWarnings(t *testing.T) {
	for want, change := range map[string]func(*plan.Route){
		"": func(*plan.Route) {},
		"promise: 500ms is less than one attempt may need: 5ms for the way back, 50ms for a slot and an exchange of 800ms are 855ms; " +
			"the caller may leave before exchange ends it. Write exchange: 440ms, or promise: 860ms": func(r *plan.Route) { r.Promise = 500 * ms },
		"promise: 900ms leaves 0s for attempt 4 of 5 even when those before it fail at once; write attempts: 3, or shorter waits": func(r *plan.Route) {
			r.Retry = retry.Config{Attempts: 5}
		},
		"promise: 900ms leaves 0s for a hedge that goes out after 850ms; write a shorter delay, or hedge: off": func(r *plan.Route) {
			r.Retry.Hedge.After = 850 * ms
		},
		"exchange: 800ms is less than 2 times the usual 500ms; ordinary calls will time out. Write at least 1s\n" +
			"promise: 900ms leaves 695ms for attempt 2 of 2 even when those before it fail at once; write attempts: 1, or shorter waits": func(r *plan.Route) {
			r.Median = 500 * ms
		},
		"retry.attempts: 2000 are more than any caller waits for; the plan looks at 1000 of them": func(r *plan.Route) {
			r.Checkout, r.Retry = 0, retry.Config{Attempts: 2000, Jitter: retry.AtOnce}
		},
	} {
		r := orders()
		change(&r)
		if got := r.Warnings(r.Divide()).Error(); got != want {
			t.Errorf("\n got %q\nwant %q", got, want)
		}
		for _, p := range r.Warnings(r.Divide()) {
			if !p.Warning {
				t.Errorf("%v refuses what the gateway takes", p)
			}
		}
	}
}

// drawRoute draws what a configuration may say.
func drawRoute(t *rapid.T) plan.Route {
	length := func(name string, low, high time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, name))
	}
	base := length("base", 1, time.Second)
	return plan.Route{
		Promise: length("promise", -1, 10*time.Second), Margin: length("margin", 0, 20*ms),
		Checkout: length("checkout", 0, time.Second), Exchange: length("exchange", 1, 2*time.Second),
		Connect: rapid.SampledFrom([]time.Duration{0, 0, ms, 200 * ms, 3 * time.Second}).Draw(t, "connect"),
		Median:  rapid.SampledFrom([]time.Duration{0, 8 * ms}).Draw(t, "median"),
		Retry: retry.Config{
			Attempts: rapid.IntRange(1, 6).Draw(t, "attempts"), Base: base, Cap: base + length("cap", 0, time.Second),
			Factor: rapid.Float64Range(1, 4).Draw(t, "factor"), Jitter: retry.Jitter(rapid.IntRange(0, 4).Draw(t, "jitter")),
		},
	}
}

// Whatever a file says: what is planned fits, and says so itself.
func TestPlannedRoutesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRoute(t)
		d := r.Divide()
		if fits := r.Promise <= 0 || d.Needs <= r.Promise; fits != (d.Fit == d.Attempts) {
			t.Fatalf("%d of %d attempts fit, and they need %v of %v", d.Fit, d.Attempts, d.Needs, r.Promise)
		}
		if r.Promise > 0 && d.Worst > r.Promise {
			t.Fatalf("a caller waits %v for a promise of %v", d.Worst, r.Promise)
		}
		descends(t, r, d.Late)
		descends(t, r, d.Early)
		for n, late := range d.Late {
			if d.Early[n] < late {
				t.Fatalf("attempt %d has %v after early failures, %v after late ones", n+1, d.Early[n], late)
			}
		}
		asTheTable(t, r, d)
		instead := r.Instead(d)
		for name, change := range map[string]func(*plan.Route){
			"exchange": func(r *plan.Route) { r.Exchange = instead.Exchange },
			"attempts": func(r *plan.Route) { r.Retry.Attempts = instead.Attempts },
			"promise":  func(r *plan.Route) { r.Promise = instead.Promise },
		} {
			better := r
			change(&better)
			if better == r || better.Exchange == 0 || better.Retry.Attempts == 0 || better.Promise == 0 {
				continue // no way
			}
			if d := better.Divide(); d.Fit != d.Attempts {
				t.Fatalf("%v instead: with the %s %d of %d fit", instead, name, d.Fit, d.Attempts)
			}
		}
	})
}

// descends checks that no attempt has more than its exchange, or than the one
// before it, and that only the last has nothing.
func descends(t *rapid.T, r plan.Route, left []time.Duration) {
	most := r.Exchange
	for n, now := range left {
		if now < 0 || now > most || now == 0 && n != len(left)-1 {
			t.Fatalf("attempts have %v of an exchange of %v", left, r.Exchange)
		}
		most = now
	}
}

// asTheTable checks the division against the row of the table that was asked
// for the same with flags: the share is the margin and all waits.
func asTheTable(t *rapid.T, r plan.Route, d plan.Division) {
	share := r.Margin + d.Pauses + time.Duration(d.Attempts)*r.Checkout
	q := plan.Question{Budget: r.Promise, Share: share, Median: ms, Depths: []int{1}, Attempts: []int{d.Attempts}}
	if r.Promise <= 0 || r.Connect > 0 || len(q.Validate()) > 0 {
		return
	}
	if row, each := plan.New(q).Rows[0], float64(d.Each)/float64(ms); math.Abs(row.TimeoutMs-each) > 1e-5 {
		t.Fatalf("each attempt is given %v, and the table says %v ms", d.Each, row.TimeoutMs)
	}
}

// The machine that the gateway runs: one call, each of whose attempts gets its
// slot at the last moment and fails at the last moment.
func TestNoCallIsWorseThanPlanned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRoute(t)
		r.Connect = 0
		d := r.Divide()
		obeys := rapid.Bool().Draw(t, "retry-after")
		w := newWorst(r, rapid.Uint64().Draw(t, "seed"))
		started := 0
		for {
			at, left, ok := w.attempt()
			if !ok {
				break
			}
			if !obeys && started < len(d.Late) && left < d.Late[started] {
				t.Fatalf("attempt %d starts at %v with %v, and was to have %v", started+1, at, left, d.Late[started])
			}
			started++
			w.fail(obeys)
		}
		if w.now > policy.Instant(d.Worst) {
			t.Fatalf("the caller has waited %v, and was to wait %v at worst", time.Duration(w.now), d.Worst)
		}
		if !obeys && started < d.Fit {
			t.Fatalf("%d attempts, and %d were to fit", started, d.Fit)
		}
	})
}

// A worst is a stack of one slot, which somebody else has whenever the call
// asks for it.
type worst struct {
	r     plan.Route
	now   policy.Instant
	s     *stack.Stack
	call  stack.Call
	other stack.Call
	step  stack.Step
}

func newWorst(r plan.Route, seed uint64) *worst {
	checkout := r.Checkout
	if checkout == 0 {
		checkout = -1
	}
	w := &worst{r: r, s: stack.New(stack.Config{
		Exchange: r.Exchange, Checkout: checkout, Limit: limit.Fixed(1), Retry: r.Retry,
		Breaker: breaker.Config{Mode: breaker.Disabled}, Budget: budget.Config{Ratio: 1000},
	})}
	w.call.Ask = stack.Ask{Deadline: policy.Never, Seed: seed}
	if r.Promise > 0 {
		w.call.Ask.Deadline = policy.Instant(r.Promise)
	}
	w.s.Begin(0, &w.call)
	return w
}

// attempt takes the call to its next attempt, and returns when it starts and
// how long it may run; false when there is none.
func (w *worst) attempt() (at, left time.Duration, ok bool) {
	w.other = stack.Call{Ask: stack.Ask{Deadline: policy.Never, Once: true}}
	var slot stack.Step
	if w.r.Checkout > 0 {
		w.s.Begin(w.now, &w.other)
		slot = w.s.Next(w.now, &w.other)
	}
	for w.step = w.s.Next(w.now, &w.call); w.step.Kind == stack.Wait; w.step = w.s.Next(w.now, &w.call) {
		w.now = w.step.Until
		if !w.step.Ticket.IsZero() { // it waits for its slot, and gets it before it leaves
			w.now--
			w.s.Settle(w.now, &w.other, slot.Ticket, policy.Report{Outcome: policy.Success})
		}
	}
	return time.Duration(w.now), w.step.Until.Sub(w.now), w.step.Kind == stack.Start
}

// fail ends the attempt when its time is up.
func (w *worst) fail(obeys bool) {
	w.now = w.step.Until
	report := policy.Report{Outcome: policy.Failure}
	if obeys {
		report.RetryAfter = w.r.Retry.Cap
	}
	w.s.Settle(w.now, &w.call, w.step.Ticket, report)
}

// A hedge takes the place of an attempt that would have come later.
func TestHedgesMakeNoCallWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRoute(t)
		r.Connect, r.Checkout = 0, 0
		r.Retry.Hedge.After = time.Duration(rapid.Int64Range(1, int64(2*time.Second)).Draw(t, "hedge"))
		w := newWorst(r, rapid.Uint64().Draw(t, "seed"))
		w.call.Ask.Hedge = true
		var out []stack.Step // the attempts that run, oldest first
		for {
			next := w.s.Next(w.now, &w.call)
			switch {
			case next.Kind == stack.Done:
				if worst := r.Divide().Worst; w.now > policy.Instant(worst) {
					t.Fatalf("the caller has waited %v, and was to wait %v at worst", time.Duration(w.now), worst)
				}
				return
			case next.Kind == stack.Start:
				out = append(out, next)
			case len(out) > 0 && out[0].Until <= next.Until:
				w.now = out[0].Until
				w.s.Settle(w.now, &w.call, out[0].Ticket, policy.Report{Outcome: policy.Failure})
				out = out[1:]
			default:
				w.now = next.Until
			}
		}
	})
}

// A wait never is longer than the plan counts it.
func TestPausesAreTheLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRoute(t)
		seed := rapid.Uint64().Draw(t, "seed")
		var all, last time.Duration
		for n := range r.Retry.Attempts - 1 {
			last = r.Retry.Wait(n, last, seed)
			all += last
		}
		if d := r.Divide(); all > d.Pauses {
			t.Fatalf("waited %v between the attempts, planned were %v", all, d.Pauses)
		}
	})
}

// Nothing that a file can say takes long, or wraps around.
func TestExtremes(t *testing.T) {
	const most = time.Duration(math.MaxInt64)
	for _, r := range []plan.Route{
		{}, {Promise: most, Margin: most, Checkout: most, Exchange: most, Connect: most, Median: most},
		{Promise: 1, Margin: most, Exchange: 1, Retry: retry.Config{Attempts: math.MaxInt, Base: most}},
		{Promise: most, Exchange: most, Retry: retry.Config{Attempts: math.MaxInt, Base: most, Jitter: retry.Decorrelated}},
		{Promise: -most, Margin: -most, Checkout: -most, Exchange: -most, Connect: -most, Median: -most, Retry: retry.Config{Attempts: -1}},
	} {
		d := r.Divide()
		if d.Fit < 0 || d.Fit > d.Attempts || d.Attempts > 1000 || min(d.Pauses, d.Needs, d.Worst, d.Hedge, d.Each, slices.Min(d.Late)) < 0 {
			t.Errorf("%+v: %+v", r, d)
		}
		if text := r.Instead(d).String() + r.Warnings(d).Error(); len(text) > 600 || strings.Contains(text, "-") {
			t.Errorf("%+v: %s", r, text)
		}
	}
}
