package sim_test

import (
	"fmt"
	"testing"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

func TestLookAtTipping(t *testing.T) {
	for _, tau := range []float64{.8, 1, 1.2} {
		for i, rho := range []float64{.4, .5, .6, .7, .8} {
			mid := []float64{1.75, 1.53, 1.32, 1.14, .99}[i]
			text := ""
			for _, d := range []float64{-.05, .05} {
				s := sim.Scenario{
					Name: "tip", Replications: 400, Duration: sec(20 + 40*tau), Warmup: 10 * second,
					Services: []sim.Service{{Name: "server", Workers: 1, Work: random.Constant(10 * ms)}},
					Loads: []sim.Load{{Name: "clients", To: sim.Target{Service: "server"}, Rate: 100 * rho,
						Client: &sim.Client{Timeout: sec(tau), Retry: &retry.Config{Attempts: 3, Jitter: retry.AtOnce}}}},
					Triggers: []sim.Trigger{{Name: "stop", What: sim.Stall, Of: sim.Target{Service: "server"}, At: 20 * second, For: sec((mid + d) * tau)}},
				}
				r, err := sim.Run(s, sim.Options{})
				if err != nil {
					t.Fatal(err)
				}
				v := r.Arms[0].Verdicts
				text += fmt.Sprintf(" %.2f:%d+%d", mid+d, v[sim.SlowDrain], v[sim.Metastable])
			}
			t.Logf("mu tau %v rho %v: %s", tau*100, rho, text)
		}
	}
}
