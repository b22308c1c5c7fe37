package budget_test

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
)

const second = policy.Instant(time.Second)

// lesson is B8: a share of all calls ever made.
func lesson(ratio float64) *budget.Budget {
	return budget.New(budget.Config{Ratio: ratio, Floor: -1, Window: -1})
}

func retries(b *budget.Budget, now policy.Instant, asked int) (granted int) {
	for range asked {
		if _, ok := b.Retry(now); ok {
			granted++
		}
	}
	return granted
}

// O-13 (a): retries that wait in their backoff are counted already.
func TestFailuresTogetherStayWithinTheRatio(t *testing.T) {
	for name, window := range map[string]time.Duration{"lifetime": -1, "10s": 0} {
		b := budget.New(budget.Config{Ratio: 0.2, Floor: -1, Window: window})
		for range 1000 {
			b.Call(0)
		}
		got := retries(b, 0, 1000) + retries(b, second, 1000)
		if got != 200 {
			t.Errorf("%s: %d retries for 1000 calls that fail together, want 200", name, got)
		}
	}
}

// O-13 (b): the original of a waiting retry is still in the base.
func TestEveryCallMayRetryOnceAtHundredPercent(t *testing.T) {
	b := lesson(1)
	for i := range 50 {
		now := policy.Instant(i) * second
		call := b.Call(now)
		b.End(now, &call)
		if got := retries(b, now, 3); got != 1 {
			t.Fatalf("call %d was retried %d times, want once", i, got)
		}
	}
}

// B8: an extra attempt is allowed only while extra < ratio x primary.
func TestLessonComparesBeforeItAdds(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		calls int
		want  int
	}{
		{0.3, 1, 1}, {0.3, 3, 1}, {0.3, 4, 2}, {0.3, 10, 3}, {0.3, 160, 48},
		{0.07, 100, 7}, {0.1, 30, 3}, {0.1, 0, 0}, {1, 1, 1}, {2, 3, 6},
	} {
		b := lesson(c.ratio)
		for range c.calls {
			b.Call(0)
		}
		if left := b.Snapshot(0).Left; left != int64(c.want) {
			t.Errorf("%v x %d: the snapshot says %d left, want %d", c.ratio, c.calls, left, c.want)
		}
		if got := retries(b, 0, c.calls*3+3); got != c.want {
			t.Errorf("%v x %d: %d retries, want %d", c.ratio, c.calls, got, c.want)
		}
	}
}

func TestRunningRetryCountsBeyondTheWindow(t *testing.T) {
	b := budget.New(budget.Config{Ratio: 0.1, Floor: 1, Window: time.Second})
	mark, ok := b.Retry(0)
	if !ok {
		t.Fatal("the floor allows one")
	}
	if _, ok := b.Retry(5 * second); ok {
		t.Error("one is still running: it must count although it is older than the window")
	}
	if s := b.Snapshot(5 * second); s.Extra != 0 || s.Running != 1 || s.Outlived != 1 {
		t.Errorf("snapshot %+v, want the running one only", s)
	}
	b.End(5*second, &mark)
	if _, ok := b.Retry(5 * second); !ok {
		t.Error("it has ended: the floor is free again")
	}
}

func TestUndoIsAsIfItHadNeverBeen(t *testing.T) {
	for _, later := range []policy.Instant{0, second / 2, 20 * second} {
		b := budget.New(budget.Config{Ratio: 0.5, Floor: -1, Window: time.Second})
		before := b.Snapshot(later)
		c, r := b.Call(0), budget.Mark{}
		r, _ = b.Retry(0)
		b.Undo(later, &r)
		b.Undo(later, &c)
		b.Undo(later, &r) // twice is nothing
		b.End(later, &c)
		if after := b.Snapshot(later); after != before {
			t.Errorf("undone at %v: %+v, want %+v", later, after, before)
		}
	}
}

func TestFloorNeedsHalfOfTheLastTen(t *testing.T) {
	b := budget.New(budget.Config{Floor: 3})
	if got := retries(b, 0, 5); got != 3 {
		t.Fatalf("nothing known: %d retries, want the floor of 3", got)
	}
	for _, c := range []struct {
		good, bad int
		want      bool
	}{{0, 1, false}, {1, 1, true}, {1, 2, false}, {5, 5, true}, {4, 6, false}, {10, 4, true}, {10, 6, false}} {
		b := budget.New(budget.Config{})
		for range c.good {
			b.Heard(true)
		}
		for range c.bad {
			b.Heard(false)
		}
		if got := b.Snapshot(0).Floor; got != c.want {
			t.Errorf("%d good, then %d bad: floor %v, want %v", c.good, c.bad, got, c.want)
		}
	}
}

// A mark that another budget gave out later than this one has ever been asked
// takes nothing away here.
func TestForeignMarkTakesNothing(t *testing.T) {
	later := budget.New(budget.Config{Window: time.Second})
	b := budget.New(budget.Config{Window: time.Second})
	if _, ok := b.Retry(0); !ok {
		t.Fatal("the floor allows one")
	}
	for _, give := range []func(policy.Instant, *budget.Mark){b.Undo, b.End} {
		foreign, _ := later.Retry(500 * second)
		give(5*second, &foreign)
		if s := b.Snapshot(5 * second); s.Running != 1 || foreign.Held() {
			t.Errorf("%+v, want one that still runs", s)
		}
	}
}

func TestNilBudgetAllowsEverything(t *testing.T) {
	var b *budget.Budget
	mark := b.Call(0)
	b.End(0, &mark)
	if mark, ok := b.Retry(0); !ok || mark.Held() {
		t.Error("a nil budget has nothing to refuse or to hold")
	}
	b.Undo(0, &mark)
	b.Heard(false)
	if b.Snapshot(0) != (budget.Snapshot{}) {
		t.Error("a nil budget counts nothing")
	}
}

func TestHostileConfigurationAllowsNothingBeyondTheFloor(t *testing.T) {
	for _, ratio := range []float64{math.NaN(), math.Inf(-1), -1} {
		b := budget.New(budget.Config{Ratio: ratio, Floor: 2, Window: 1})
		for range 100 {
			b.Call(policy.Never - 1)
		}
		if got := retries(b, policy.Never-1, 10); got != 2 {
			t.Errorf("ratio %v: %d retries, want 2", ratio, got)
		}
	}
	b := lesson(math.Inf(1))
	b.Call(0)
	if _, ok := b.Retry(0); !ok {
		t.Error("a huge ratio allows a lot")
	}
}

// A floor without an end is shown as one, and not as nothing left.
func TestLeftSaturates(t *testing.T) {
	b := budget.New(budget.Config{Floor: math.MaxInt})
	for range 1000 {
		b.Call(0)
	}
	if left := b.Snapshot(0).Left; left < math.MaxInt64-1000 {
		t.Errorf("%d left", left)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		config budget.Config
		path   string
		fatal  bool
	}{
		{budget.Config{}, "", false},
		{budget.Config{Ratio: .3, Floor: -1, Window: -1}, "", false},
		{budget.Config{Ratio: math.NaN()}, "ratio", true},
		{budget.Config{Ratio: math.Inf(1)}, "ratio", true},
		{budget.Config{Ratio: -.1}, "ratio", true},
		{budget.Config{Ratio: 1.5}, "ratio", false},
		{budget.Config{Window: 10}, "window", true},
	} {
		ps := c.config.Validate()
		switch {
		case c.path == "" && len(ps) > 0, c.path != "" && (len(ps) != 1 || ps[0].Path != c.path):
			t.Errorf("%+v: %v, want a problem at %q", c.config, ps, c.path)
		case (ps.Err() != nil) != c.fatal:
			t.Errorf("%+v: %v, want fatal: %v", c.config, ps, c.fatal)
		}
		if once := c.config.WithDefaults(); c.config.Ratio == c.config.Ratio && once.WithDefaults() != once {
			t.Errorf("%+v: defaults are not idempotent", c.config)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	b := budget.New(budget.Config{})
	now := policy.Instant(0)
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(7 * time.Millisecond)
		call := b.Call(now)
		b.Heard(true)
		if mark, ok := b.Retry(now); ok {
			b.End(now, &mark)
		}
		b.End(now, &call)
		b.Snapshot(now)
	}); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
}
