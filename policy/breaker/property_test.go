package breaker

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

// clone returns an independent copy.
func (b *Breaker) clone() *Breaker {
	c := *b
	c.window.last = slices.Clone(b.window.last)
	return &c
}

func same(t *rapid.T, why string, got, want *Breaker) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", why, got, want)
	}
}

// Small figures, so that walks of a few dozen steps reach every state; steps
// of time from nothing to more than every timer.
var (
	someConfig = rapid.Custom(func(t *rapid.T) Config {
		return Config{
			Mode:        rapid.SampledFrom([]Mode{Auto, Auto, Auto, Auto, Auto, Observe, ForcedOpen, ForcedClosed, Disabled}).Draw(t, "mode"),
			Window:      rapid.SampledFrom([]time.Duration{0, 30 * ms, 10 * time.Second}).Draw(t, "window"),
			Count:       rapid.SampledFrom([]int{0, 0, 0, 7}).Draw(t, "count"),
			Calls:       rapid.IntRange(1, 6).Draw(t, "calls"),
			FailureRate: rapid.SampledFrom([]float64{0, .3, 1}).Draw(t, "failure rate"),
			Slow:        rapid.SampledFrom([]time.Duration{0, 100 * ms, -1}).Draw(t, "slow"),
			SlowRate:    rapid.SampledFrom([]float64{0, .3, 1}).Draw(t, "slow rate"),
			Open:        time.Second,
			OpenMax:     rapid.SampledFrom([]time.Duration{0, 5 * time.Second}).Draw(t, "open max"),
			OpenJitter:  rapid.SampledFrom([]float64{0, .5}).Draw(t, "jitter"),
			Probes:      rapid.IntRange(1, 5).Draw(t, "probes"),
			HalfOpen:    rapid.SampledFrom([]time.Duration{0, 700 * ms}).Draw(t, "half-open"),
			Ramp:        rapid.SampledFrom([]time.Duration{0, 2 * time.Second}).Draw(t, "ramp"),
			Exchange:    rapid.SampledFrom([]time.Duration{0, 300 * ms}).Draw(t, "exchange"),
			Seed:        rapid.Uint64().Draw(t, "seed"),
		}
	})
	longestOpen = 7500 * ms

	someStep = rapid.SampledFrom([]time.Duration{
		0, 0, 0, 1, ms, 50 * ms, 100 * ms, 400 * ms, time.Second, 3 * time.Second, 31 * time.Second, 2 * time.Minute, -5 * time.Second,
	})
	someOutcome = rapid.SampledFrom([]policy.Outcome{policy.Success, policy.Failure, policy.Failure, policy.Ignored, policy.Cut})
	someRun     = rapid.SampledFrom([]time.Duration{0, ms, 100 * ms, 300 * ms, time.Hour, -ms})
)

// A walk does anything to a breaker in any order. The owners look late, give
// back twice, and outlive open times.
type walk struct {
	*rapid.T
	b      *Breaker
	now    policy.Instant
	passes []*Pass
	used   []Pass // copies of what was given back already
}

func TestAnyWalk(t *testing.T) { rapid.Check(t, anyWalk) }

func FuzzAnyWalk(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyWalk)) }

func anyWalk(t *rapid.T) {
	w := &walk{T: t, b: New(someConfig.Draw(t, "config"))}
	often := []func(*rapid.T){w.admit, w.admit, w.admit, w.settle, w.settle, w.overdue, w.undo, w.burst, w.stale, w.look}
	rarely := []func(*rapid.T){w.mode, w.configure}
	for range 150 { // rapid favours small numbers, and short walks get nowhere
		actions := often
		if rapid.IntRange(0, 19).Draw(t, "rare") == 0 {
			actions = rarely
		}
		actions[rapid.IntRange(0, len(actions)-1).Draw(t, "action")](t)
		w.check(t)
	}
}

func (w *walk) pass(t *rapid.T) *Pass {
	w.now = w.now.Add(someStep.Draw(t, "step"))
	if len(w.passes) == 0 {
		return &Pass{}
	}
	i := rapid.IntRange(0, len(w.passes)-1).Draw(t, "which")
	return w.passes[i]
}

func (w *walk) done(p *Pass, was Pass) {
	w.passes = slices.DeleteFunc(w.passes, func(q *Pass) bool { return q == p })
	w.used = append(w.used, was)
	if *p != (Pass{}) {
		w.Fatalf("a pass that was given back is %+v, not cleared", *p)
	}
}

func (w *walk) admit(t *rapid.T) {
	w.now = w.now.Add(someStep.Draw(t, "step"))
	w.b.Look(w.now)
	before := w.b.clone()
	p, ok := w.b.Admit(w.now)
	if ok {
		w.passes = append(w.passes, &p)
	}
	after := w.b.clone()
	if w.b.refused > before.refused {
		// A refusal costs nothing; it earns credit in a ramp.
		after.refused, after.credit = before.refused, before.credit
		same(w.T, "a refusal changed something", after, before)
		return
	}
	undone := p
	after.Undo(w.now, &undone)
	same(w.T, "an undone admission left something behind", after, before)
}

func (w *walk) burst(t *rapid.T) {
	outcome, ran := someOutcome.Draw(t, "outcome"), someRun.Draw(t, "ran")
	for range rapid.IntRange(1, 8).Draw(t, "calls") {
		if p, ok := w.b.Admit(w.now); ok {
			w.b.Settle(w.now, &p, outcome, ran)
		}
	}
}

func (w *walk) settle(t *rapid.T) {
	p := w.pass(t)
	was := *p
	w.b.Settle(w.now, p, someOutcome.Draw(t, "outcome"), someRun.Draw(t, "ran"))
	w.done(p, was)
}

func (w *walk) undo(t *rapid.T) {
	p := w.pass(t)
	was := *p
	w.b.Undo(w.now, p)
	w.done(p, was)
}

// overdue counts once.
func (w *walk) overdue(t *rapid.T) {
	p := w.pass(t)
	w.b.Overdue(w.now, p)
	before := w.b.clone()
	w.b.Overdue(w.now, p)
	same(w.T, "a second Overdue changed something", w.b, before)
}

// stale uses passes of older generations, the zero pass among them.
func (w *walk) stale(t *rapid.T) {
	p := Pass{flags: uint8(rapid.IntRange(0, 7).Draw(t, "flags"))}
	if len(w.used) > 0 {
		p = rapid.SampledFrom(w.used).Draw(t, "used")
	}
	w.b.Look(w.now)
	if p.generation == w.b.generation {
		return // a copy of a pass is the caller's own fault
	}
	before := w.b.clone()
	for _, verb := range []func(*Pass){
		func(p *Pass) { w.b.Overdue(w.now, p) },
		func(p *Pass) { w.b.Undo(w.now, p) },
		func(p *Pass) { w.b.Settle(w.now, p, policy.Failure, time.Hour) },
	} {
		q := p
		verb(&q)
		same(w.T, "a stale pass changed something", w.b, before)
	}
}

func (w *walk) look(t *rapid.T) {
	w.now = w.now.Add(someStep.Draw(t, "step"))
	before := w.b.clone()
	snapshot := w.b.Snapshot(w.now)
	same(w.T, "a snapshot changed something", w.b, before)
	w.b.Look(w.now)
	if again := w.b.Snapshot(w.now); again != snapshot {
		t.Fatalf("a snapshot was stale: %+v, after a look %+v", snapshot, again)
	}
}

func (w *walk) mode(t *rapid.T) {
	w.b.SetMode(w.now, Mode(rapid.IntRange(0, len(modes)-1).Draw(t, "mode")))
}

func (w *walk) configure(t *rapid.T) {
	w.b.Configure(w.now, someConfig.Draw(t, "config"))
}

func (w *walk) check(t *rapid.T) {
	v, b := w.b.Snapshot(w.now), w.b.clone()
	b.Look(w.now)
	checkCounts(t, v, b)
	checkProbes(t, v, b)
	out, open := 0, 0
	for _, p := range w.passes {
		if p.Probe() && p.generation == b.generation {
			out++
			open += 1 - int(p.flags&isCounted)/int(isCounted)
		}
	}
	if b.probes.out != out || b.probes.open != open {
		t.Fatalf("%d probes are out, %d of them without a verdict: %+v", out, open, b.probes)
	}
	wait := v.RetryAt.Sub(b.last)
	if wait < 0 || v.State != Open && wait > b.rules.Open/10 || v.State == Open && wait > longestOpen {
		t.Fatalf("a caller refused at %v may come back at %v: %+v", b.last, v.RetryAt, v)
	}
}

func checkCounts(t *rapid.T, v Snapshot, b *Breaker) {
	for _, c := range []tally{b.window.total, b.probes.counted} {
		if c.failed > c.bad || c.slow > c.bad || c.bad > c.failed+c.slow || c.bad > c.calls || int32(c.calls) < 0 {
			t.Fatalf("counts that cannot be: %+v", c)
		}
	}
	if v.Score < 0 || v.Score > b.rules.Calls || v.Share < .1 || v.Share > 1 || b.credit > whole {
		t.Fatalf("outside its bounds: %+v, credit %d", v, b.credit)
	}
}

func checkProbes(t *rapid.T, v Snapshot, b *Breaker) {
	p := &b.probes
	if v.State != HalfOpen {
		if *p != (probes{}) {
			t.Fatalf("%v with probes: %+v", v.State, *p)
		}
		return
	}
	free := p.free(b.rules.Probes)
	switch {
	case p.open < 0 || p.open > p.out || p.out > p.open+int(p.counted.calls):
		t.Fatalf("probes that cannot be: %+v", *p)
	case free == 0 && p.out == 0:
		t.Fatalf("half-open, no place is free and nothing is out: %+v", *p)
	case free < b.rules.Probes && b.due == policy.Never:
		t.Fatalf("half-open with probes and no end: %+v", *p)
	}
}
