package budget_test

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
)

func inFlight(ratio float64, floor int) *budget.Budget {
	return budget.New(budget.Config{Ratio: ratio, Floor: floor, InFlight: true})
}

// O-13 (a): a thousand calls that fail together, each asking for its retry before
// its own attempt has ended, share one budget however long the backoff is.
func TestInFlightFailuresTogether(t *testing.T) {
	b := inFlight(.2, -1)
	first := make([]budget.Mark, 1000)
	for i := range first {
		first[i] = b.Call(0)
	}
	granted := 0
	for i := range first {
		if _, ok := b.Retry(0); ok {
			granted++
		}
		b.End(0, &first[i])
	}
	if granted != 200 {
		t.Errorf("%d retries for 1000 calls that fail together, want 200", granted)
	}
	if s := b.Snapshot(second); s.Calls != 0 || s.Extra != 200 || s.Running != 200 {
		t.Errorf("while they back off: %+v; want 200 extra attempts and nothing else", s)
	}
}

// O-13 (b): at a hundred per cent every call has its retry, one at a time.
func TestInFlightEveryCallMayRetryOnce(t *testing.T) {
	b := inFlight(1, -1)
	for i := range 50 {
		now := policy.Instant(i) * second
		first := b.Call(now)
		m, ok := b.Retry(now)
		b.End(now, &first)
		if !ok {
			t.Fatalf("call %d was not retried", i)
		}
		b.End(now, &m)
	}
	if s := b.Snapshot(50 * second); s.Calls != 0 || s.Running != 0 {
		t.Errorf("at the end: %+v; want nothing under way", s)
	}
}

// What takes longer than any window counts for as long as it takes, on both
// sides, and not a moment longer.
func TestInFlightCountsWhatRuns(t *testing.T) {
	b := inFlight(.1, -1)
	var first [20]budget.Mark
	for i := range first {
		first[i] = b.Call(0)
	}
	later := policy.Instant(time.Hour)
	m, ok := b.Retry(later)
	if s := b.Snapshot(later); !ok || s.Calls != 20 || s.Left != 2 {
		t.Fatalf("an hour later: %v, %+v; want 20 calls, and 3 retries in all", ok, s)
	}
	retries(b, later, 2)
	if _, ok := b.Retry(later); ok {
		t.Error("a fourth retry: 3 of them are not below 10 % of 23 attempts")
	}
	for i := range first {
		b.End(later, &first[i])
	}
	if _, ok := b.Retry(later); ok {
		t.Error("nothing but retries runs, and one more was allowed")
	}
	b.End(later, &m)
	if s := b.Snapshot(later); s.Extra != 2 || s.Running != 2 {
		t.Errorf("after one has ended: %+v; want 2", s)
	}
}

// The snapshot says how many would be allowed, and so many are.
func TestInFlightLeft(t *testing.T) {
	for _, c := range []struct {
		ratio        float64
		calls, floor int
		want         int64
	}{
		{.1, 0, -1, 0}, {.1, 1, -1, 1}, {.1, 100, -1, 12}, {.2, 1000, -1, 250}, {.1, 0, 3, 4}, {.5, 3, -1, 3}, {.9, 1, 1, 19},
		{1, 1, -1, math.MaxInt64}, {2, 3, -1, math.MaxInt64}, {1, 0, -1, 0}, {1, 0, 1, math.MaxInt64},
	} {
		b := inFlight(c.ratio, c.floor)
		for range c.calls {
			b.Call(0)
		}
		left := b.Snapshot(0).Left
		if left != c.want {
			t.Errorf("%v of %d calls, floor %d: the snapshot says %d left, want %d", c.ratio, c.calls, c.floor, left, c.want)
		}
		if asked := min(left, 1000) + 1; int64(retries(b, 0, int(asked))) != min(left, asked) {
			t.Errorf("%v of %d calls, floor %d: not %d retries", c.ratio, c.calls, c.floor, left)
		}
	}
}

// From one form to the other: what is out goes on counting until it ends, and a
// mark that an earlier form gave out ends nothing twice.
func TestConfigureBetweenTheForms(t *testing.T) {
	window, flying := budget.Config{Ratio: .5, Floor: -1}, budget.Config{Ratio: .5, Floor: -1, InFlight: true}
	b := budget.New(window)
	old, retried := b.Call(0), budget.Mark{}
	retried, _ = b.Retry(0)
	b.Configure(0, flying)
	if s := b.Snapshot(0); s.Calls != 0 || s.Running != 1 {
		t.Errorf("to what is under way: %+v; want the retry, and no calls, of which nobody knows whether they run", s)
	}
	fresh := b.Call(0)
	b.End(0, &old)
	b.End(0, &retried)
	if s := b.Snapshot(0); s.Calls != 1 || s.Running != 0 {
		t.Errorf("after the old ones have ended: %+v; want the new call alone", s)
	}
	b.Configure(second, window)
	b.End(second, &fresh)
	if s := b.Snapshot(second); s.Calls != 1 || s.Running != 0 {
		t.Errorf("back to a window: %+v; want the call that it has seen", s)
	}
}
