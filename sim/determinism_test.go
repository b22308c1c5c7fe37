package sim_test

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// rich has something of everything: guards, a cache, restarts, a pause, a
// closed loop, processor sharing.
func rich() sim.Scenario {
	guard := stack.Config{Exchange: 300 * ms, Checkout: 250 * ms, Limit: limit.Fixed(8), Retry: retry.Config{Attempts: 2}}
	return sim.Scenario{
		Name: "rich", Replications: 4, Duration: 40 * second, Warmup: 5 * second,
		Services: []sim.Service{
			{Name: "gateway", Instances: 3, Workers: 50, Network: random.Exponential(2 * ms), Guards: []sim.Guard{{To: "prices", Config: guard}, {To: "orders", Config: guard}},
				Script: []sim.Step{{Action: sim.Action{Parallel: []sim.Target{target("prices"), target("orders")}}}}},
			{Name: "prices", Workers: 4, Caches: []sim.Cache{{Name: "c", Keys: 40, Lifetime: second, Beta: 1, OneFlight: true}},
				Script: []sim.Step{{Cache: "c", Miss: []sim.Action{{Call: target("store")}}}}},
			{Name: "orders", Workers: 6, Work: random.Lognormal(30*ms, 1), Errors: .05, Cancels: true, Queue: sim.Queue{Order: sim.Newest, Places: 30}},
			{Name: "store", Workers: 3, Sharing: true, Work: random.Erlang(3, 20*ms)},
		},
		Loads: []sim.Load{
			{Name: "callers", To: target("gateway"), Rate: 150, Keys: 40, Tenants: 20, Deadline: 800 * ms, Client: &sim.Client{Timeout: 400 * ms, Carry: true, Retry: &retry.Config{Attempts: 3}, Throttle: &throttle.Config{K: 1.2}}},
			{Name: "batch", To: target("orders"), Clients: 5, Think: random.Exponential(50 * ms)},
		},
		Triggers: []sim.Trigger{
			{Name: "rollout", What: sim.Restart, Of: target("gateway"), At: 10 * second, For: second, Every: 3 * second, Notice: second},
			{Name: "pause", What: sim.Pause, Of: target("gateway"), At: 25 * second, For: second, Instances: 1},
			{Name: "spike", What: sim.Spike, Of: target("callers"), At: 30 * second, For: 2 * second, Factor: 3},
		},
		Arms: []sim.Arm{{Name: "a"}, {Name: "b", Services: []sim.Service{{Name: "orders", Queue: sim.Queue{Places: 10}}}}},
	}
}

func play(t *testing.T, s sim.Scenario, o sim.Options) sim.Result {
	t.Helper()
	if err := s.Validate().Err(); err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(s, o)
	if err != nil {
		t.Fatal(err)
	}
	r.CPU = 0
	return r
}

// Same seed, same bytes: every figure, and the hash of every event, whatever
// plays at once and on however many processors.
func TestARunIsTheSameEverywhere(t *testing.T) {
	want := play(t, rich(), sim.Options{Parallel: 1})
	if want.Events < 100_000 || want.Hash == 0 {
		t.Fatalf("%d events, hash %x", want.Events, want.Hash)
	}
	for _, parallel := range []int{1, 7} {
		for _, processors := range []int{1, 2, 4} {
			before := runtime.GOMAXPROCS(processors)
			got := play(t, rich(), sim.Options{Parallel: parallel})
			runtime.GOMAXPROCS(before)
			if got.Hash != want.Hash || !reflect.DeepEqual(got, want) {
				t.Errorf("%d at once on %d processors: hash %x, want %x", parallel, processors, got.Hash, want.Hash)
			}
		}
	}
	other := rich()
	other.Seed = 2
	if got := play(t, other, sim.Options{}); got.Hash == want.Hash {
		t.Error("another seed is the same run")
	}
}

// Adding a service and its callers shifts no number of the others.
func TestServicesShareNoRandomNumbers(t *testing.T) {
	s := rich()
	s.Services[1].Caches[0].Warm = true
	want := play(t, s, sim.Options{}).Arms[0]
	s.Services = append([]sim.Service{{Name: "another", Workers: 1, Work: random.Exponential(ms), Caches: []sim.Cache{{Name: "c", Lifetime: second, Warm: true}}}}, s.Services...)
	s.Loads = append([]sim.Load{{Name: "more", To: target("another"), Rate: 90}}, s.Loads...)
	got := play(t, s, sim.Options{}).Arms[0]
	for i := range want.Loads {
		if !reflect.DeepEqual(got.Loads[i+1], want.Loads[i]) {
			t.Errorf("a service that nobody else calls has changed what becomes of %s", want.Loads[i].Name)
		}
	}
	for i := range want.Services {
		if !reflect.DeepEqual(got.Services[i+1], want.Services[i]) {
			t.Errorf("a service that nobody else calls has changed %s", want.Services[i].Name)
		}
	}
}

// Arms meet the same requests: as many, at the same instants, with the same work,
// whoever is served when.
func TestArmsMeetTheSameRequests(t *testing.T) {
	s := sim.Scenario{
		Name: "common", Replications: 3, Duration: 200 * second, Warmup: -1,
		Services: []sim.Service{{Name: "server", Workers: 2, Work: random.Exponential(10 * ms)}},
		Loads:    []sim.Load{{Name: "load", To: target("server"), Rate: 150}},
		Arms: []sim.Arm{{Name: "oldest"}, {Name: "newest", Services: []sim.Service{{Name: "server", Queue: sim.Queue{Order: sim.Newest}}}},
			{Name: "four", Services: []sim.Service{{Name: "server", Workers: 4}}}},
	}
	r := play(t, s, sim.Options{})
	first := r.Arms[0]
	for _, a := range r.Arms[1:] {
		if a.Offered != first.Offered {
			t.Errorf("%s is offered %v, %s %v", a.Name, a.Offered, first.Name, first.Offered)
		}
		// All but the last few are finished, so their work adds up to the same.
		if off := a.Services[0].Work.Mean/first.Services[0].Work.Mean - 1; off > 1e-3 || off < -1e-3 {
			t.Errorf("%s does %v seconds of work a second, %s %v", a.Name, a.Services[0].Work.Mean, first.Name, first.Services[0].Work.Mean)
		}
	}
}

func TestProgressIsToldInOrder(t *testing.T) {
	s := rich()
	s.Duration, s.Triggers = 6*second, nil
	var told []float64
	play(t, s, sim.Options{Parallel: 3, Progress: func(share float64) { told = append(told, share) }})
	if len(told) < 8 || !slices.IsSorted(told) || math.Abs(told[len(told)-1]-1) > 1e-9 {
		t.Errorf("told %v", told)
	}
}

// Assumptions name what the model takes for granted.
func TestAssumptions(t *testing.T) {
	text := fmt.Sprint(play(t, rich(), sim.Options{}).Assumptions)
	for _, want := range []string{"batch is a closed loop of 5 callers", "callers comes at random", "finishes what its caller has left: gateway, prices, store",
		"has a queue without a bound: gateway, prices", "is reached in no time: prices, orders, store"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %q in %s", want, text)
		}
	}
}
