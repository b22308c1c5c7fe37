package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// odd are scenarios whose reports are unlike the usual one.
func odd() map[string]sim.Scenario {
	system := func(seconds int, rate float64, more func(*sim.Scenario)) sim.Scenario {
		s := sim.Scenario{
			Kind: sim.Kind, Name: "odd", Replications: 2, Duration: time.Duration(seconds) * time.Second,
			Services: []sim.Service{{Name: "shop", Workers: 4, Work: random.Exponential(10 * ms)}},
			Loads:    []sim.Load{{Name: "visitors", To: sim.Target{Service: "shop"}, Rate: rate, Deadline: 200 * ms}},
		}
		more(&s)
		return s
	}
	shop := sim.Target{Service: "shop"}
	return map[string]sim.Scenario{
		"ramp": system(60, 100, func(s *sim.Scenario) {
			s.Loads[0].Profile = []sim.Point{{At: 0, Rate: 50, Ramp: true}, {At: 60 * time.Second, Rate: 600}}
		}),
		"spike": system(40, 100, func(s *sim.Scenario) {
			s.Triggers = []sim.Trigger{{Name: "ten times as many", What: sim.Spike, Of: sim.Target{Service: "visitors"}, At: 15 * time.Second, For: 5 * time.Second, Factor: 10}}
		}),
		"troubles": system(60, 200, func(s *sim.Scenario) {
			s.Triggers = []sim.Trigger{
				{Name: "slow disk", What: sim.Latency, Of: shop, At: 20 * time.Second, For: 2 * time.Second, Factor: 3},
				{Name: "stall of the shop that has a long name", What: sim.Stall, Of: shop, At: 22 * time.Second, For: time.Second},
				{Name: "errors", What: sim.Errors, Of: shop, At: 23 * time.Second, For: 10 * time.Second, Share: .5},
			}
			s.Loads = append(s.Loads, sim.Load{Name: "robots", To: shop, Rate: 90, Deadline: 50 * ms})
			for i := range 7 {
				s.Arms = append(s.Arms, sim.Arm{Name: fmt.Sprintf("%d workers", i+2), Services: []sim.Service{{Name: "shop", Workers: i + 2}}})
			}
		}),
		"tenants": system(30, 300, func(s *sim.Scenario) {
			s.Services[0].Queue = sim.Queue{Places: 30}
			s.Loads[0].Tenants, s.Loads[0].Priority = 200, 1
			s.Loads = append(s.Loads, sim.Load{Name: "loop", To: shop, Rate: 400, Priority: 1, Deadline: 50 * ms}, sim.Load{Name: "orders", To: shop, Rate: 20, Weight: 3})
			s.Arms = []sim.Arm{{Name: "oldest first"}, {Name: "newest first", Services: []sim.Service{{Name: "shop", Queue: sim.Queue{Order: sim.Newest}}}}}
		}),
		"too soon": system(20, 100, func(s *sim.Scenario) {
			s.Triggers = []sim.Trigger{{Name: "stall", What: sim.Stall, Of: shop, At: 15 * time.Second, For: 2 * time.Second}}
		}),
		"sweep": system(60, 100, func(s *sim.Scenario) {
			s.Services[0].Workers = 1
			s.Loads[0].Client = &sim.Client{Timeout: 500 * ms, Retry: &retry.Config{Attempts: 2, Jitter: retry.AtOnce}}
			s.Loads[0].Deadline = 0
			s.Triggers = []sim.Trigger{{Name: "stall", What: sim.Stall, Of: shop, At: 10 * time.Second, For: 2 * time.Second}}
			for _, rate := range []float64{30, 40, 50, 60, 70, 80, 90} {
				s.Arms = append(s.Arms, sim.Arm{Name: fmt.Sprintf("%.0f/s", rate), Loads: []sim.Load{{Name: "visitors", Rate: rate}}})
			}
			s.Searches = []sim.Search{
				{Name: "largest load that heals", Arm: "80/s", Load: "visitors", From: 20, To: 100},
				{Name: "shortest stall that tips it", Arm: "80/s", Trigger: "stall", From: .1, To: 4},
			}
		}),
		"silence": system(10, 50, func(s *sim.Scenario) {
			s.Services[0].Work = random.Constant(30 * time.Second)
		}),
		"late trigger": system(20, 20, func(s *sim.Scenario) {
			s.Replications = 1
			s.Triggers = []sim.Trigger{{Name: "never ends", What: sim.Stall, Of: shop, At: 19 * time.Second}}
		}),
		"busy": system(3, 60000, func(s *sim.Scenario) {
			s.Services[0].Workers, s.Services[0].Work = 0, random.Constant(30*time.Microsecond)
		}),
	}
}

// Whatever comes, the page fits, its labels keep their distance, and it holds
// no figure that is none.
func TestOddResults(t *testing.T) {
	for name, s := range odd() {
		t.Run(name, func(t *testing.T) {
			r, err := sim.Run(s, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			v := open(t, &r)
			if text := written(t, &r); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Error("the page has a figure that is none")
			}
			for _, width := range []int64{320, 1280} {
				v.show(width, "light", true)
				if over := ask[float64](v, overflow); over > 0 {
					t.Errorf("the page is %v px wider than the window", over)
				}
				for _, pair := range ask[[]string](v, collisions) {
					t.Errorf("labels collide: %s", pair)
				}
				v.picture(fmt.Sprintf("odd-%s-%d.png", name, width))
			}
		})
	}
}

// A result without any arm is a page that says so little, and no crash.
func TestNothingAtAll(t *testing.T) {
	if text := written(t, &sim.Result{}); !strings.Contains(text, "(no name)") {
		t.Error("the page of nothing has a name")
	}
}

func TestTheSameResultIsTheSamePage(t *testing.T) {
	first := written(t, played(t))
	if second := written(t, played(t)); first != second {
		t.Error("two reports of one result differ")
	}
}
