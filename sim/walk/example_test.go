package walk_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim/walk"
)

// Every fourth call hangs. With a timeout of its own for each attempt the promise
// of 100 ms is kept; with the whole promise for each it is not.
func Example() {
	again := retry.Config{Attempts: 2, Jitter: retry.AtOnce}
	s := walk.Scenario{
		Kind: walk.Kind, Name: "one in four", Promise: 100 * time.Millisecond, Requests: 8, Rate: 10,
		Chain:   walk.Chain{Depth: 2, Branches: 1},
		Regimes: []walk.Regime{{Name: "normal", Usual: true, Cycle: []time.Duration{ms, ms, ms, time.Second}}},
		Configurations: []walk.Configuration{
			{Name: "100 ms each", Timeout: 100 * time.Millisecond, Retry: again},
			{Name: "divided", Timeout: 25 * time.Millisecond, Retry: again},
		},
	}
	for _, row := range walk.Run(s).Regimes[0].Rows {
		fmt.Printf("%s: %d in time, %d late, the worst took %v ms\n", row.Configuration, row.InTime, row.Late, row.WorstMs)
	}
	// Output:
	// 100 ms each: 3 in time, 5 late, the worst took 102 ms
	// divided: 8 in time, 0 late, the worst took 27 ms
}
