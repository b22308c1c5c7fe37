package walk_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim/walk"
)

func anyScenario(t *rapid.T) walk.Scenario {
	length := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * ms })
	attempts := rapid.IntRange(1, 4).Draw(t, "attempts")
	s := walk.Scenario{
		Kind: walk.Kind, Name: "any", Promise: length.Draw(t, "promise") + ms, Share: length.Draw(t, "share"),
		Requests: rapid.IntRange(1, 30).Draw(t, "requests"), Rate: 100,
		Chain:   walk.Chain{Depth: rapid.IntRange(1, 4).Draw(t, "depth"), Branches: rapid.IntRange(1, 3).Draw(t, "branches")},
		Regimes: []walk.Regime{{Name: "any", Cycle: rapid.SliceOfN(length, 1, 20).Draw(t, "cycle")}},
	}
	base := walk.Configuration{
		Name: "any", Timeout: length.Draw(t, "timeout"),
		Retry: retry.Config{Attempts: attempts, Jitter: retry.Jitter(rapid.IntRange(0, 4).Draw(t, "jitter"))},
	}
	s.Configurations = []walk.Configuration{base, base, base}
	s.Configurations[1].Propagate = true
	s.Configurations[2].Budget = &budget.Config{Ratio: float64(rapid.IntRange(1, 10).Draw(t, "tenths")) / 10, Floor: -1, Window: -1}
	return s
}

// Whatever is walked: every request is counted once; no step is called more
// often than the plan allows; with propagation nothing outlasts the promise and
// no call is made after it; a budget bounds the extra calls by its share, plus
// the one that B8 lets through by asking before it adds.
func TestWhateverIsWalked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		if ps := s.Validate(); ps.Err() != nil {
			t.Fatalf("refused: %v", ps)
		}
		result := walk.Run(s)
		if again := walk.Run(s); !reflect.DeepEqual(result, again) {
			t.Fatalf("twice the same walk: %+v and %+v", result, again)
		}
		rows := result.Regimes[0].Rows
		for _, r := range rows {
			if r.InTime+r.Late+r.Failed != s.Requests || r.MedianMs > r.WorstMs || r.Multiplier > float64(s.Configurations[0].Retry.Attempts) {
				t.Fatalf("%d requests: %+v", s.Requests, r)
			}
			if r.Multiplier < 1 && r.Failed == 0 {
				t.Fatalf("fewer calls than steps and nothing failed: %+v", r)
			}
		}
		end := max(s.Promise, s.Share)
		if r := rows[1]; r.Late > 0 && s.Share <= s.Promise || r.WorstMs > float64(end)/float64(ms) {
			t.Fatalf("with propagation: %+v, the promise is %v", r, s.Promise)
		}
		primary := float64(s.Requests * s.Chain.Steps())
		if r := rows[2]; r.Multiplier*primary > primary*(1+s.Configurations[2].Budget.Ratio)+1 {
			t.Fatalf("with the budget: %+v", r)
		}
	})
}

// With no time left for the first call none is made (B7).
func TestNothingRemainingIsNotCalled(t *testing.T) {
	s := lesson()
	s.Share = s.Promise
	for i, row := range walk.Run(s).Regimes[0].Rows {
		if propagates := i > 0; propagates && (row.Multiplier != 0 || row.Failed != s.Requests) || !propagates && row.Multiplier < 1 {
			t.Errorf("%+v", row)
		}
	}
}

// A budget is shared by all steps and requests of a walk, and begins anew with
// the next walk.
func TestOneBudgetPerWalk(t *testing.T) {
	s := lesson()
	s.Regimes = append(s.Regimes, s.Regimes[1])
	result := walk.Run(s)
	if first, second := result.Regimes[1], result.Regimes[2]; !reflect.DeepEqual(first.Rows, second.Rows) || !first.Rows[3].BudgetBound {
		t.Errorf("the same regime twice: %+v and %+v", first, second)
	}
}

// B10 over both regimes, and a budget that is too small for the first.
func TestVerdicts(t *testing.T) {
	if v := walk.Run(lesson()).Verdicts(); len(v) != 1 {
		t.Errorf("verdicts %q, want the budget of 0.30 sized right", v)
	}
	s := lesson()
	s.Configurations[3].Budget.Ratio = 0.05
	result := walk.Run(s)
	if v := result.Verdicts(); len(v) != 0 || !result.Regimes[0].Rows[3].BudgetBound {
		t.Errorf("verdicts %q, want none: 0.05 binds in normal conditions", v)
	}
}

// one returns a walk of one step a request under one configuration.
func one(timeout time.Duration, b *budget.Config, lengths ...int) walk.Row {
	s := lesson()
	s.Chain, s.Share = walk.Chain{Depth: 1, Branches: 1}, 0
	s.Regimes = []walk.Regime{{Name: "one", Cycle: cycle(lengths...)}}
	s.Configurations = []walk.Configuration{{
		Name: "one", Timeout: timeout, Retry: retry.Config{Attempts: 2, Jitter: retry.AtOnce}, Budget: b,
	}}
	return walk.Run(s).Regimes[0].Rows[0]
}

// An answer at the very end of the timeout is an answer, and one at the very
// end of the promise is in time.
func TestExactlyAtTheLimit(t *testing.T) {
	if row := one(200*ms, nil, 200); row.InTime != 40 || row.Multiplier != 1 {
		t.Errorf("%+v, want all in time", row)
	}
	if row := one(200*ms, nil, 201); row.Failed != 40 || row.WorstMs != 400 {
		t.Errorf("%+v, want all failed after two timeouts", row)
	}
}

// A budget hears of every end and every outcome, so that the production form
// of it can be walked as well: retries leave the window once they have ended,
// and the floor leaves with the successes.
func TestWindowedBudgetHearsOfEveryAttempt(t *testing.T) {
	production := &budget.Config{Ratio: 0.001, Floor: 1, Window: 100 * ms}
	if row := one(100*ms, production, 10, 500, 10); row.BudgetBound || row.InTime != 40 {
		t.Errorf("every third attempt hangs: %+v, want the floor to carry one retry a window", row)
	}
	outage := &budget.Config{Ratio: 0.001, Floor: 5, Window: time.Minute}
	if row := one(100*ms, outage, 500); !row.BudgetBound || row.Multiplier != 41.0/40 {
		t.Errorf("everything hangs: %+v, want the very first to be retried, and no floor", row)
	}
}

func BenchmarkWalk(b *testing.B) {
	s := lesson()
	b.ReportAllocs()
	for b.Loop() {
		walk.Run(s)
	}
}
