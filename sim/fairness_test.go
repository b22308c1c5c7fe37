package sim

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/sim/internal/world"
	"github.com/kalan-go/kalan/sim/random"
)

// crowd is a scenario with loads of so many requests each, of which none was
// answered but those that are said.
func crowd(loads []Load, offered, good []uint64) (*compiler, *world.Tally) {
	t := &world.Tally{}
	for i := range loads {
		t.Loads = append(t.Loads, world.LoadTally{Offered: offered[i], Good: good[i]})
	}
	return &compiler{s: &Scenario{Loads: loads}}, t
}

// Who would have got what, and how fair it was, by hand.
func TestFairShares(t *testing.T) {
	for name, test := range map[string]struct {
		loads         []Load
		offered, good []uint64
		fair          []float64
		jain          float64
	}{
		"everybody is answered":      {[]Load{{}, {}}, []uint64{10, 90}, []uint64{10, 90}, []float64{10, 90}, 1},
		"one of two gets everything": {[]Load{{}, {}}, []uint64{100, 100}, []uint64{100, 0}, []float64{50, 50}, 0.5},
		"who asks little gets all":   {[]Load{{}, {}}, []uint64{20, 1000}, []uint64{20, 80}, []float64{20, 80}, 1},
		"by weight":                  {[]Load{{Weight: 3}, {}}, []uint64{100, 100}, []uint64{60, 20}, []float64{60, 20}, 1},
		"by tenants":                 {[]Load{{Tenants: 9}, {}}, []uint64{100, 100}, []uint64{10, 90}, []float64{90, 10}, (1./9 + 9) * (1./9 + 9) / 2 / (1./81 + 81)},
		"the important first":        {[]Load{{Priority: 1}, {}}, []uint64{100, 30}, []uint64{20, 30}, []float64{20, 30}, 1},
		"the important last":         {[]Load{{Priority: 1}, {}}, []uint64{100, 30}, []uint64{50, 0}, []float64{20, 30}, 0.5},
		"nobody gets anything":       {[]Load{{}, {}}, []uint64{100, 30}, []uint64{0, 0}, []float64{0, 0}, 1},
		"answered, and asked before": {[]Load{{}, {}}, []uint64{9, 30}, []uint64{10, 30}, []float64{10, 30}, 1},
	} {
		c, tally := crowd(test.loads, test.offered, test.good)
		fair := c.fair(tally)
		for i := range fair {
			if math.Abs(fair[i]-test.fair[i]) > 1e-9 {
				t.Errorf("%s: fair %v, want %v", name, fair, test.fair)
			}
		}
		if got := jain(goods(tally), fair); math.Abs(got-test.jain) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, test.jain)
		}
	}
}

// loop is one of fifty customers who asks in a loop; the important ones are
// served first where a guard knows them.
func loop(guarded bool) Scenario {
	to := Target{Service: "gateway"}
	s := Scenario{
		Name: "loop", Duration: 20 * time.Second, Replications: 3,
		Services: []Service{
			{Name: "gateway", Script: []Step{{Action: Action{Call: Target{Service: "backend"}}}}},
			{Name: "backend", Workers: 4, Work: random.Exponential(20 * time.Millisecond), Queue: Queue{Places: 50}},
		},
		Loads: []Load{
			{Name: "customers", To: to, Rate: 120, Tenants: 50, Deadline: time.Second, Priority: 1},
			{Name: "loop", To: to, Rate: 1000, Deadline: time.Second, Priority: 1},
			{Name: "orders", To: to, Rate: 20, Deadline: time.Second},
		},
	}
	if guarded {
		g := Guard{To: "backend"}
		g.Exchange, g.Checkout, g.Limit, g.Room.Waiting, g.Retry.Attempts = 500*time.Millisecond, 300*time.Millisecond, limit.Fixed(4), 200, 1
		s.Services[0].Guards = []Guard{g}
	}
	return s
}

func TestWhoSufferedIsSaid(t *testing.T) {
	r, err := Run(loop(false), Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := &r.Arms[0]
	if a.Fairness.Mean > 0.8 || len(a.Levels) != 2 || a.Levels[0].Name != "priority 0" || len(a.Tenants) != mostParts || a.Tenants[0].Name != "loop" {
		t.Errorf("fairness %v, levels %+v, tenants %+v", a.Fairness, a.Levels, a.Tenants)
	}
	for _, parts := range [][]PartResult{a.Levels, a.Tenants} {
		for _, p := range parts {
			if sum := p.Goodput.Mean/p.Offered.Mean + p.Refused.Mean + p.Late.Mean + p.Failed.Mean; math.Abs(sum-1) > .05 {
				t.Errorf("%s: the shares add up to %v: %+v", p.Name, sum, p)
			}
		}
	}
	if customers := &a.Loads[0]; a.Fair[0].Mean < 115 || customers.Goodput.Mean > 50 || customers.Tenants != 50 || customers.Starved.Mean > 0.1 {
		t.Errorf("%v of fair %v, starved %v", customers.Goodput, a.Fair[0], customers.Starved)
	}
	if r, err = Run(loop(true), Options{}); err != nil {
		t.Fatal(err)
	}
	if a = &r.Arms[0]; a.Fairness.Mean < .99 || a.Levels[0].Goodput.Mean < 19 {
		t.Errorf("tenants in turn: fairness %v, levels %+v", a.Fairness, a.Levels)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"fairness":{"mean":0.99`) || !strings.Contains(string(text), `"levels":[{"name":"priority 0"`) {
		t.Errorf("%v %s", err, text)
	}
}

// Of more tenants than are told apart the first stand for all.
func TestTenantsAreBounded(t *testing.T) {
	s := loop(false)
	s.Loads[0].Tenants = 1_000_000
	r, err := Run(s, Options{})
	if err != nil || len(r.Arms[0].Tenants) != mostParts || r.Arms[0].Loads[0].Tenants != 1_000_000 {
		t.Errorf("%v, %d tenants", err, len(r.Arms[0].Tenants))
	}
}

func TestFairnessAndLatenessCanBeClaimed(t *testing.T) {
	s := loop(false)
	for _, text := range []string{"fairness >= 0.9", "late of loop <= 0.001", "fairness of loop >= 0.9"} {
		var c Claim
		if err := c.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		s.Expect = append(s.Expect, c)
	}
	problems := s.Validate()
	if len(problems) != 1 || problems[0].Path != "expect[2]" {
		t.Fatal(problems)
	}
	s.Expect = s.Expect[:2]
	r, err := Run(s, Options{})
	if err != nil || r.Arms[0].Checks[0].OK || !r.Arms[0].Checks[1].OK {
		t.Errorf("%v, %+v", err, r.Arms[0].Checks)
	}
}
