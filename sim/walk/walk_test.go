package walk_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/deadline"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim/walk"
)

const ms = time.Millisecond

// lesson is the model of the lesson (B4, B5), as scenarios/chain-budget.yaml
// has it.
func lesson() walk.Scenario {
	plan := retry.Config{Attempts: 3, Jitter: retry.AtOnce}
	divided := deadline.Divide(200*ms, 20*ms, 2, 3)
	return walk.Scenario{
		Kind: walk.Kind, Name: "lesson", Promise: 200 * ms, Share: 20 * ms, Requests: 40, Rate: 416.67,
		Chain: walk.Chain{Depth: 2, Branches: 2},
		Regimes: []walk.Regime{
			{Name: "normal", Usual: true, Cycle: cycle(6, 7, 6, 8, 6, 7, 6, 45, 6, 7, 6, 8, 6, 7, 6, 1000)},
			{Name: "slowdown", Cycle: cycle(6, 1000, 1000, 1000, 6, 1000, 1000, 1000)},
		},
		Configurations: []walk.Configuration{
			{Name: "none", Timeout: 200 * ms, Retry: plan},
			{Name: "propagation", Timeout: 200 * ms, Retry: plan, Propagate: true},
			{Name: "divided", Timeout: divided, Retry: plan, Propagate: true},
			{Name: "budget", Timeout: divided, Retry: plan, Propagate: true, Budget: &budget.Config{Ratio: 0.3, Floor: -1, Window: -1}},
		},
	}
}

func cycle(lengths ...int) []time.Duration {
	c := make([]time.Duration, len(lengths))
	for i, n := range lengths {
		c[i] = time.Duration(n) * ms
	}
	return c
}

// B6: both tables, every figure.
func TestTablesOfTheLesson(t *testing.T) {
	type figures struct {
		inTime, late, failed int
		median, worst        float64
		calls                int
		multiplier, inner    string
		bound                bool
	}
	want := [][]figures{{
		{30, 10, 0, 71, 233, 170, "1.06", "1770.85", false},
		{30, 0, 10, 71, 200, 160, "1.00", "1666.68", false},
		{40, 0, 0, 62, 63, 182, "1.14", "1895.85", false},
		{40, 0, 0, 62, 63, 182, "1.14", "1895.85", false},
	}, {
		{0, 0, 40, 626, 626, 320, "2.00", "3333.36", false},
		{0, 0, 40, 200, 200, 107, "0.67", "1114.59", false},
		{0, 0, 40, 116, 116, 320, "2.00", "3333.36", false},
		{0, 0, 40, 86, 86, 155, "0.97", "1614.60", true},
	}}
	for i, regime := range walk.Run(lesson()).Regimes {
		for j, row := range regime.Rows {
			w := want[i][j]
			got := figures{row.InTime, row.Late, row.Failed, row.MedianMs, row.WorstMs, w.calls,
				figure.Fixed(row.Multiplier, 2), figure.Fixed(row.InnerRPS, 2), row.BudgetBound}
			if got != w || row.Multiplier != float64(w.calls)/160 {
				t.Errorf("%s, %s:\n got %+v (multiplier %v)\nwant %+v", regime.Name, row.Configuration, got, row.Multiplier, w)
			}
		}
	}
}
