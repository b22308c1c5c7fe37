package sim_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// A server that stands still for ten seconds, and callers who do not wait
// longer than one: with a retry they keep it down for ever.
func Example() {
	server := sim.Target{Service: "server"}
	scenario := sim.Scenario{
		Name: "stop", Duration: 3 * time.Minute,
		Services: []sim.Service{{Name: "server", Workers: 1, Work: random.Exponential(time.Second / 300)}},
		Loads: []sim.Load{{
			Name: "callers", To: server, Rate: 200,
			Client: &sim.Client{Timeout: time.Second},
		}},
		Triggers: []sim.Trigger{{Name: "stop", What: sim.Stall, Of: server, At: 30 * time.Second, For: 10 * time.Second}},
		Arms: []sim.Arm{
			{Name: "one attempt"},
			{Name: "two attempts", Loads: []sim.Load{{Name: "callers", Client: &sim.Client{
				Retry: &retry.Config{Attempts: 2, Jitter: retry.AtOnce},
			}}}},
		},
	}
	if err := scenario.Validate().Err(); err != nil {
		fmt.Println(err)
		return
	}
	result, err := sim.Run(scenario, sim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, arm := range result.Arms {
		fmt.Printf("%s: %v, amplification %.1f\n", arm.Name, arm.Verdict, arm.Amplification.Mean)
	}
	// Output:
	// one attempt: recovers, amplification 1.0
	// two attempts: metastable, amplification 1.9
}
