package report_test

import (
	"sync"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

const ms = time.Millisecond

// hostile is what a scenario file of somebody else's may call things.
const hostile = `</script><img src=x onerror="document.title='owned'">'"&<b>` + "\u202e\x00"

func claim(t testing.TB, text string) sim.Claim {
	t.Helper()
	var c sim.Claim
	if err := c.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return c
}

// storm is a server that stands still for a while, before clients that try
// twice: E1 of the metastable experiments, in small.
func storm(t testing.TB) sim.Scenario {
	twice := &sim.Client{Timeout: time.Second, Retry: &retry.Config{Attempts: 2, Jitter: retry.AtOnce}}
	once := &sim.Client{Timeout: time.Second, Retry: &retry.Config{Attempts: 1}}
	return sim.Scenario{
		Kind: sim.Kind, Name: "A stall, and clients that try twice", Seed: 7, Replications: 5, Duration: 120 * time.Second,
		About:    "A server of 300 requests a second stands still for five seconds at 93 % of its load.",
		Services: []sim.Service{{Name: "server", Workers: 1, Work: random.Exponential(10 * ms / 3)}},
		Loads:    []sim.Load{{Name: "clients", To: sim.Target{Service: "server"}, Rate: 280, Deadline: 2 * time.Second, Client: twice}},
		Triggers: []sim.Trigger{{Name: "stall", What: sim.Stall, Of: sim.Target{Service: "server"}, At: 30 * time.Second, For: 5 * time.Second}},
		Expect:   []sim.Claim{claim(t, "goodput >= 0.5 offered from 10s to 30s")},
		Arms: []sim.Arm{
			{Name: "bare", About: "Two attempts, an unbounded queue.", Expect: []sim.Claim{claim(t, "metastable")}},
			{Name: "once", About: "One attempt.", Loads: []sim.Load{{Name: "clients", Client: once}}},
			{Name: "short queue", About: "At most 150 may wait.", Services: []sim.Service{{Name: "server", Queue: sim.Queue{Places: 150}}},
				Expect: []sim.Claim{claim(t, "not metastable"), claim(t, "recovery < 5s"), claim(t, "p99 < 800ms")}},
		},
	}
}

// storms plays the storm once for all tests.
var storms = sync.OnceValues(func() (sim.Result, error) {
	r, err := sim.Run(storm(new(testing.T)), sim.Options{})
	r.Assumptions = []string{"A server finishes what its callers have given up on.", "The network takes no time."}
	r.Searches = []sim.SearchResult{
		{Name: "largest load that heals", Arm: "bare", What: "load", Found: 150.2, Low: 148.9, High: 151.4, Runs: 9},
		{Name: "shortest stall that tips it", Arm: "bare", What: "trigger", Found: 1.06, Low: 1.04, High: 1.08, Runs: 8},
	}
	return r, err
})

func played(t testing.TB) *sim.Result {
	t.Helper()
	r, err := storms()
	if err != nil {
		t.Fatal(err)
	}
	return &r
}
