package retry_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
)

// A walk drives one call with any verbs in any order and holds what must
// always be true.
type walk struct {
	t       fataler
	config  retry.Config
	plan    *retry.Plan
	b       *budget.Budget
	c       retry.Call
	mark    budget.Mark
	now     policy.Instant
	stopped bool
}

type fataler interface{ Fatalf(string, ...any) }

func (w *walk) step(verb int, length time.Duration, words int) {
	switch verb {
	case 0, 1:
		w.next()
	case 2:
		w.launch()
	case 3, 4:
		w.plan.Settle(w.now, &w.c, report(length, words), policy.Reason(words%policy.Reasons), w.b)
		w.b.End(w.now, &w.mark)
	case 5:
		before := w.c.Attempts()
		if w.plan.Refused(w.now, &w.c, policy.Open, w.b); w.c.Attempts() < before {
			w.b.Undo(w.now, &w.mark) // it had been handed over
		}
	case 6:
		w.plan.Cancel(w.now, &w.c, policy.Gone, w.b)
	default:
		w.now = w.now.Add(length)
	}
	w.check()
}

func report(length time.Duration, words int) policy.Report {
	r := policy.Report{Outcome: policy.Outcome(words % 4), Final: words&16 != 0}
	if words&32 != 0 {
		r.RetryAfter = length
	}
	return r
}

// next asks twice: the answers agree, no launch is due at or after the
// deadline, and no wait reaches it.
func (w *walk) next() {
	move, at := w.plan.Next(w.now, &w.c, w.b)
	again, then := w.plan.Next(w.now, &w.c, w.b)
	switch {
	case move != again || at != then:
		w.t.Fatalf("asked twice: %v until %v, then %v until %v", move, at, again, then)
	case w.stopped && move != retry.Stop:
		w.t.Fatalf("%v after it had stopped", move)
	case move == retry.Launch && w.now >= w.c.Deadline:
		w.t.Fatalf("a launch at %v, the deadline is %v", w.now, w.c.Deadline)
	case move == retry.Wait && at <= w.now:
		w.t.Fatalf("wait until %v at %v", at, w.now)
	case move == retry.Wait && at != policy.Never && at >= w.c.Deadline:
		w.t.Fatalf("a wait until %v reaches the deadline %v", at, w.c.Deadline)
	}
	w.stopped = move == retry.Stop
}

func (w *walk) launch() {
	if m := w.plan.Launched(&w.c); m.Held() {
		w.mark = m
	}
}

func (w *walk) check() {
	if w.c.Attempts() > w.config.Attempts || w.c.Attempts() < 0 {
		w.t.Fatalf("%d attempts of %d", w.c.Attempts(), w.config.Attempts)
	}
	if s := w.b.Snapshot(w.now); s.Extra > int64(w.config.Attempts) || s.Running > 1 || s.Calls > 1 {
		w.t.Fatalf("one call holds %+v", s)
	}
}

// end stops the call and looks at what is left of it: nothing runs, and the
// budget has a call and its retries, of which none was refused.
func (w *walk) end() {
	w.plan.Cancel(w.now, &w.c, policy.Gone, w.b)
	w.b.End(w.now, &w.mark)
	if move, _ := w.plan.Next(w.now, &w.c, w.b); move != retry.Stop {
		w.t.Fatalf("%v after the end", move)
	}
	s := w.b.Snapshot(w.now)
	if s.Running != 0 || s.Calls > 1 || s.Calls+s.Extra != int64(w.c.Attempts()) {
		w.t.Fatalf("at the end the budget has %+v for %d attempts", s, w.c.Attempts())
	}
}

func newWalk(t fataler, attempts int, jitter retry.Jitter, deadline time.Duration) *walk {
	w := &walk{t: t, config: retry.Config{Attempts: attempts, Jitter: jitter}}
	w.plan, w.b = retry.New(w.config), budget.New(budget.Config{Ratio: 1, Floor: 2, Window: -1})
	w.c = w.plan.Begin(policy.Instant(deadline), 7)
	return w
}

func TestAnyVerbsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalk(t, rapid.IntRange(1, 6).Draw(t, "attempts"), retry.Jitter(rapid.IntRange(0, 4).Draw(t, "jitter")),
			time.Duration(rapid.IntRange(0, 4000).Draw(t, "deadline"))*ms)
		for range rapid.IntRange(1, 60).Draw(t, "verbs") {
			w.step(rapid.IntRange(0, 8).Draw(t, "verb"), time.Duration(rapid.IntRange(0, 800).Draw(t, "length"))*ms,
				rapid.IntRange(0, 63).Draw(t, "words"))
		}
		w.end()
	})
}

func FuzzCall(f *testing.F) {
	f.Add(3, uint8(0), int64(time.Second), []byte{0, 0, 0, 2, 0, 0, 3, 100, 2, 0, 0, 0})
	f.Add(math.MaxInt, uint8(4), int64(math.MaxInt64), []byte{0, 0, 0, 2, 0, 0, 3, 255, 34, 0, 0, 0, 2, 0, 0})
	f.Fuzz(func(t *testing.T, attempts int, jitter uint8, deadline int64, script []byte) {
		w := newWalk(t, max(attempts, 1), retry.Jitter(jitter%5), time.Duration(deadline))
		for ; len(script) >= 3; script = script[3:] {
			w.step(int(script[0]%9), time.Duration(script[1])<<(script[1]%56), int(script[2]))
		}
		w.end()
	})
}

// Whatever is configured, a wait is in [0, cap] and the schedule in (0, cap].
func TestWaitsStayWithinTheCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := retry.Config{
			Base:   time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "base")),
			Cap:    time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "cap")),
			Factor: rapid.OneOf(rapid.Float64Range(1, 10), rapid.SampledFrom([]float64{1, math.MaxFloat64, math.Inf(1), math.NaN(), -1})).Draw(t, "factor"),
			Jitter: retry.Jitter(rapid.IntRange(0, 4).Draw(t, "jitter")),
		}
		n := rapid.OneOf(rapid.Int(), rapid.IntRange(0, 100)).Draw(t, "n")
		last := time.Duration(rapid.Int64().Draw(t, "last"))
		if d := c.Schedule(n); d <= 0 || d > c.Cap {
			t.Fatalf("the schedule of %d waits %v, the cap is %v", n, d, c.Cap)
		}
		if d := c.Wait(n, last, rapid.Uint64().Draw(t, "seed")); d < 0 || d > c.Cap {
			t.Fatalf("the wait of %d is %v, the cap is %v", n, d, c.Cap)
		}
	})
}
