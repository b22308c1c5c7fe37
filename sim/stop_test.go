package sim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// A run that is stopped in the middle has the arms that were played until then,
// the same as if all had been.
func TestAStoppedRunKeepsWhatIsKnown(t *testing.T) {
	s := sim.Scenario{
		Name: "long", Duration: 100 * time.Second, Replications: 2,
		Services: []sim.Service{{Name: "server", Workers: 1, Work: random.Exponential(time.Millisecond)}},
		Loads:    []sim.Load{{Name: "callers", To: target("server"), Rate: 500}},
		Arms:     []sim.Arm{{Name: "first"}, {Name: "second"}, {Name: "third"}},
		Searches: []sim.Search{{Name: "most", Load: "callers"}},
	}
	whole := s
	whole.Searches = nil
	want := play(t, whole, sim.Options{})
	for at, arms := range map[float64]int{0: 0, .1: 1, .8: 3} { // six replications, and about twenty for the search
		stop := make(chan struct{})
		if at == 0 {
			close(stop)
		}
		r, err := sim.Run(s, sim.Options{Parallel: 1, Stop: stop, Progress: func(share float64) {
			if at > 0 && share > at {
				close(stop)
				at = 2
			}
		}})
		if !errors.Is(err, sim.ErrStopped) || len(r.Arms) != arms || len(r.Searches) > 0 {
			t.Fatalf("%v, %d arms, %d searches", err, len(r.Arms), len(r.Searches))
		}
		for i := range r.Arms {
			if r.Arms[i].Goodput != want.Arms[i].Goodput {
				t.Errorf("%s: %v, and %v when not stopped", r.Arms[i].Name, r.Arms[i].Goodput, want.Arms[i].Goodput)
			}
		}
	}
}
