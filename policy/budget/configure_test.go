package budget_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/budget"
)

// What is out and what was counted survive a change, of the window too.
func TestConfigureKeepsWhatWasCounted(t *testing.T) {
	b := budget.New(budget.Config{Floor: -1, Ratio: .5})
	for range 10 {
		b.Call(second)
	}
	held, _ := b.Retry(second)
	done, _ := b.Retry(second)
	b.End(second, &done)
	for i, c := range []budget.Config{
		{Floor: -1, Ratio: .5, Window: time.Minute},
		{Floor: -1, Ratio: .5, Window: -1},
		{Floor: -1, Ratio: .5, Window: time.Second},
		{Floor: 2, Ratio: .9, Window: time.Second},
	} {
		b.Configure(second, c)
		s := b.Snapshot(second)
		if s.Calls != 10 || s.Running != 1 {
			t.Fatalf("after change %d: %+v; want 10 calls and 1 retry running", i, s)
		}
	}
	late := second.Add(time.Hour)
	if s := b.Snapshot(late); s.Calls != 0 || s.Outlived != 1 {
		t.Errorf("an hour later: %+v; want the retry that still runs", s)
	}
	b.End(late, &held)
	if s := b.Snapshot(late); s.Running != 0 {
		t.Errorf("%d running after the last has ended", s.Running)
	}
}

func TestObserveDeniesNothingAndCounts(t *testing.T) {
	b := budget.New(budget.Config{Ratio: .1, Floor: -1, Observe: true})
	b.Call(0)
	for range 5 {
		if _, ok := b.Retry(0); !ok {
			t.Fatal("denied while observing")
		}
	}
	if d := b.Snapshot(0).Denied; d != 4 {
		t.Errorf("%d would have been denied, want 4", d)
	}
}
