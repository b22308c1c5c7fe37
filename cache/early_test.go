package cache

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// O-28: the sign, the probability and the one unit for all three.
func TestEarlyDrawsWithTheRightProbability(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		left       time.Duration
		beta       float64
		want, give int
	}{
		{100 * ms, 1, 3679, 150},
		{300 * ms, 1, 498, 70},
		{1000 * ms, 1, 0, 5},
		{0, 1, 10_000, 0},
		{-ms, 1, 10_000, 0},
		{200 * ms, 2, 3679, 150},
	} {
		dice := rand.New(rand.NewPCG(28, 1))
		refreshes := 0
		for range 10_000 {
			if Early(test.left, 100*ms, test.beta, 1-dice.Float64()) {
				refreshes++
			}
		}
		if refreshes < test.want-test.give || refreshes > test.want+test.give {
			t.Errorf("%v left, beta %v: %d refreshes in 10,000, want %d +-%d", test.left, test.beta, refreshes, test.want, test.give)
		}
	}
}

// What is left out because it is certain is what no draw would refresh.
func TestNoDrawIsLeftOutThatCouldRefresh(t *testing.T) {
	const smallest = 0x1p-53
	rapid.Check(t, func(t *rapid.T) {
		remaining := time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "remaining"))
		compute := time.Duration(rapid.Int64Min(0).Draw(t, "compute"))
		beta := rapid.Float64Range(0, 1000).Draw(t, "beta")
		if Early(remaining, compute, beta, smallest) && !undecided(remaining, compute, beta) {
			t.Fatalf("%v left of a value that took %v (beta %v) is never drawn for", remaining, compute, beta)
		}
	})
}
