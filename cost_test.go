package kalan_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// Allocation budgets with every policy on.
func TestAllocations(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates for itself")
	}
	deadline, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	hold := func(way kalan.Way[int]) func(context.Context, *kalan.Guard) {
		call := holding(way)
		return func(ctx context.Context, g *kalan.Guard) { _ = call(ctx, g, nothing) }
	}
	do := func(ctx context.Context, g *kalan.Guard) { _, _ = kalan.Do(ctx, g, nothing) }
	for _, test := range []struct {
		name   string
		change func(*kalan.Config)
		ctx    context.Context
		call   func(context.Context, *kalan.Guard)
		most   float64
	}{
		{"Do without a limit of its own, with a deadline", withoutTimeout, deadline, do, 0},
		{"Do without either", withoutTimeout, context.Background(), do, 0},
		{"Do with a limit that nobody waits on", nil, deadline, do, 1},
		{"Do with a limit that is asked for and not waited on", nil, deadline, func(ctx context.Context, g *kalan.Guard) {
			_, _ = kalan.Do(ctx, g, func(ctx context.Context) (int, error) { _, _ = ctx.Deadline(); return 0, ctx.Err() })
		}, 1},
		{"Do that fails and is not retried", once, deadline, func(ctx context.Context, g *kalan.Guard) {
			_, _ = kalan.Do(ctx, g, func(context.Context) (int, error) { return 0, errBusiness })
		}, 1},
		{"inline without a limit", withoutTimeout, deadline, hold(kalan.Way[int]{}), 0},
		{"inline with one", nil, deadline, hold(kalan.Way[int]{}), 1},
		{"in flight", nil, deadline, hold(leave), 6},
	} {
		g := guard(t, test.change)
		test.call(test.ctx, g)
		if n := testing.AllocsPerRun(1000, func() { test.call(test.ctx, g) }); n > test.most {
			t.Errorf("%s: %v allocations, at most %v are allowed", test.name, n, test.most)
		} else {
			t.Logf("%s: %v allocations", test.name, n)
		}
	}
}

// A refusal costs its error and nothing more.
func TestARefusalAllocatesOnlyItsError(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates for itself")
	}
	g := guard(t, all(once, tripsAt(1, time.Hour, 1)))
	_, _ = kalan.Do(t.Context(), g, fails)
	if n := testing.AllocsPerRun(1000, func() { _, _ = kalan.Do(t.Context(), g, nothing) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
	if n := g.Snapshot().Counts.Refused[policy.Open]; n < 1000 {
		t.Errorf("%d refused", n)
	}
}

// The stack and its driver cost at most three times the two readings of the
// clock that they cannot do without. The fence is wider, since other work on
// the machine slows memory more than it slows the clock; the figure is logged.
func TestDoAgainstTwoClockReadings(t *testing.T) {
	if underRace {
		t.Skip("the race detector slows the mutex and not the clock")
	}
	if testing.Short() {
		t.Skip("a measurement: left out of -short")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	g := guard(t, withoutTimeout)
	const fence = 4
	best := measureDo(ctx, g)
	for range 4 {
		if best > fence {
			best = min(best, measureDo(ctx, g))
		}
	}
	t.Logf("Do takes %.2f times two readings of the clock", best)
	if best > fence {
		t.Errorf("Do takes %.2f times two readings of the clock, 3 is the aim and %d the fence", best, fence)
	}
}

// measureDo returns the median of many short rounds, in each of which calls and
// readings follow each other: most rounds are never interrupted.
func measureDo(ctx context.Context, g *kalan.Guard) float64 {
	const rounds, calls = 401, 200
	ratios := make([]float64, rounds)
	var sum time.Duration
	for i := range ratios {
		start := time.Now()
		for range calls {
			_, _ = kalan.Do(ctx, g, nothing)
		}
		done := time.Since(start)
		epoch := time.Now()
		for range calls {
			sum += time.Since(epoch)
			sum += time.Since(epoch)
		}
		ratios[i] = float64(done) / float64(max(time.Since(epoch), 1))
	}
	slices.Sort(ratios)
	return ratios[rounds/2]
}
