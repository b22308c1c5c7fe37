package sim_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// A mistake is a change to a good scenario; it is named by what must be said of
// it: where it is, and what to write instead.
type mistakes map[string]func(*sim.Scenario)

func (ms mistakes) check(t *testing.T) {
	for want, change := range ms {
		s := rich()
		change(&s)
		if got := fmt.Sprint(s.Validate()); !strings.Contains(got, want) {
			t.Errorf("want %q, got %.600s", want, got)
		}
	}
}

func TestEveryMistakeInServicesIsNamed(t *testing.T) {
	mistakes{
		`kind: "walk" is not this simulator; write events`: func(s *sim.Scenario) { s.Kind = "walk" },
		"name: is missing":                                             func(s *sim.Scenario) { s.Name = "" },
		"duration: is missing":                                         func(s *sim.Scenario) { s.Duration = 0 },
		"duration: 1000h0m0s is longer than any run":                   func(s *sim.Scenario) { s.Duration = 1000 * time.Hour },
		"replications: -1 is out of range":                             func(s *sim.Scenario) { s.Replications = -1 },
		"warmup: 50s leaves nothing of the 40s":                        func(s *sim.Scenario) { s.Warmup = 50 * second },
		"services: is empty":                                           func(s *sim.Scenario) { s.Services = nil },
		"loads: is empty":                                              func(s *sim.Scenario) { s.Loads = nil },
		`services."a/b": "a/b" is not a name`:                          func(s *sim.Scenario) { s.Services[3].Name = "a/b" },
		"services.store.workers: -1 is out of range":                   func(s *sim.Scenario) { s.Services[3].Workers = -1 },
		"services.store.instances: 5000 is out of range":               func(s *sim.Scenario) { s.Services[3].Instances = 5000 },
		"services.orders.errors: NaN is out of range":                  func(s *sim.Scenario) { s.Services[2].Errors = math.NaN() },
		"services.orders.business: 0.97 is out of range":               func(s *sim.Scenario) { s.Services[2].Business = .97 },
		"services.orders.queue.places: 2000000 is more than":           func(s *sim.Scenario) { s.Services[2].Queue.Places = 2e6 },
		"services.orders.queue.target: a queue that serves the newest": func(s *sim.Scenario) { s.Services[2].Queue.Target = second },
		"services.store.queue: nobody waits where all share":           func(s *sim.Scenario) { s.Services[3].Queue.Places = 3 },
		"services.gateway.script[0].optimistic: is said of work": func(s *sim.Scenario) {
			s.Services[0].Script[0].Optimistic, s.Services[0].Script[0].Work = true, random.Law{}
		},
		"services.store.work: takes 1000h0m0s on average": func(s *sim.Scenario) { s.Services[3].Work = random.Exponential(1000 * time.Hour) },
		"services.orders.accept.rate: 0 is out of range":  func(s *sim.Scenario) { s.Services[2].Accept = &sim.Accept{} },
		"services.orders.retry_after: 2h0m0s-1000h0m0s is out of range; write a range such as 3s-8s, up to 720h0m0s": func(s *sim.Scenario) {
			s.Services[2].RetryAfter.Min, s.Services[2].RetryAfter.Max = 2*time.Hour, 1000*time.Hour
		},
		"services.gateway.script: stands beside work":                                                                  func(s *sim.Scenario) { s.Services[0].Work = random.Constant(ms) },
		`services.gateway.script[0].parallel[1]: there is no service "x"; write one of gateway, prices, orders, store`: func(s *sim.Scenario) { s.Services[0].Script[0].Parallel[1].Service = "x" },
		`services.gateway.script[0].parallel[1]: orders has no route "fast"`:                                           func(s *sim.Scenario) { s.Services[0].Script[0].Parallel[1].Route = "fast" },
		"services.gateway.script[0]: does several things":                                                              func(s *sim.Scenario) { s.Services[0].Script[0].Call = target("store") },
		"services.gateway.script[0].miss: belongs to a cache":                                                          func(s *sim.Scenario) { s.Services[0].Script[0].Miss = []sim.Action{{}} },
		`services.prices.script[0].cache: there is no cache "d"`:                                                       func(s *sim.Scenario) { s.Services[1].Script[0].Cache = "d" },
		"services.prices.script[0].miss: is empty":                                                                     func(s *sim.Scenario) { s.Services[1].Script[0].Miss = nil },
		"services.prices.script[0]: looks a value up and does something else":                                          func(s *sim.Scenario) { s.Services[1].Script[0].Call = target("store") },
		"services.prices.caches.c.lifetime: is missing":                                                                func(s *sim.Scenario) { s.Services[1].Caches[0].Lifetime = 0 },
		"services.prices.caches.c.beta: -1 is out of range":                                                            func(s *sim.Scenario) { s.Services[1].Caches[0].Beta = -1 },
		"services.gateway.guards.orders.exchange: is negative":                                                         func(s *sim.Scenario) { s.Services[0].Guards[1].Exchange = -1 },
		`services.gateway.guards.nobody: there is no service "nobody"`:                                                 func(s *sim.Scenario) { s.Services[0].Guards = []sim.Guard{{To: "nobody"}} },
		"services.store.client.retry.attempts: -1":                                                                     func(s *sim.Scenario) { s.Services[3].Client = &sim.Client{Retry: &retry.Config{Attempts: -1}} },
		"services.store.routes.r.promise: -1ns is negative":                                                            func(s *sim.Scenario) { s.Services[3].Routes = []sim.Route{{Name: "r", Promise: -1}} },
		"services.gateway: its script leads back to store": func(s *sim.Scenario) {
			s.Services[3].Work, s.Services[3].Script = random.Law{}, []sim.Step{{Action: sim.Action{Call: target("store")}}}
		},
		"services.gateway: its script leads back to gateway": func(s *sim.Scenario) {
			s.Services[3].Work, s.Services[3].Script = random.Law{}, []sim.Step{{Action: sim.Action{Call: target("gateway")}}}
		},
	}.check(t)
}

func TestEveryMistakeInTheRestIsNamed(t *testing.T) {
	mistakes{
		"loads.store: is the name of a service, too":                                 func(s *sim.Scenario) { s.Loads[0].Name = "store" },
		"loads.callers.to: is missing":                                               func(s *sim.Scenario) { s.Loads[0].To = sim.Target{} },
		`loads.callers.to: store has no route "x"; there are none`:                   func(s *sim.Scenario) { s.Loads[0].To = sim.Target{Service: "store", Route: "x"} },
		"loads.callers.rate: -1 is out of range":                                     func(s *sim.Scenario) { s.Loads[0].Rate = -1 },
		"loads.callers.rate: +Inf is out of range":                                   func(s *sim.Scenario) { s.Loads[0].Rate = math.Inf(1) },
		"loads.batch.rate: nobody calls":                                             func(s *sim.Scenario) { s.Loads[1].Clients = 0 },
		"loads.callers.deadline: -1ns is negative":                                   func(s *sim.Scenario) { s.Loads[0].Deadline = -1 },
		"loads.callers.client.timeout: -1ns is negative":                             func(s *sim.Scenario) { s.Loads[0].Client.Timeout = -1 },
		"loads.callers.guard.exchange: is negative":                                  func(s *sim.Scenario) { s.Loads[0].Guard = &sim.Guard{Config: stack.Config{Exchange: -1}} },
		"loads.callers.profile[0].at: 0s does not come after":                        func(s *sim.Scenario) { s.Loads[0].Profile = []sim.Point{{Rate: 1}} },
		"loads.callers.profile[1].at: 1s does not come after":                        func(s *sim.Scenario) { s.Loads[0].Profile = []sim.Point{{At: second}, {At: second}} },
		"loads.callers.profile[0].ramp: leads nowhere":                               func(s *sim.Scenario) { s.Loads[0].Profile = []sim.Point{{At: second, Ramp: true}} },
		"loads.callers.bursts[0].calls: 0 is out of range":                           func(s *sim.Scenario) { s.Loads[0].Bursts = []sim.Burst{{}} },
		"loads.callers.trace[0].at: -1ns is negative":                                func(s *sim.Scenario) { s.Loads[0].Trace = []sim.Arrival{{At: -1}} },
		"triggers.pause.at: 50s is not within the 40s":                               func(s *sim.Scenario) { s.Triggers[1].At = 50 * second },
		"triggers.pause.what: is missing; write one of stall, latency":               func(s *sim.Scenario) { s.Triggers[1].What = 0 },
		`triggers.pause.of: there is no service "x"`:                                 func(s *sim.Scenario) { s.Triggers[1].Of = target("x") },
		"triggers.pause.of: gateway/r is a route":                                    func(s *sim.Scenario) { s.Triggers[1].Of.Route = "r" },
		`triggers.spike.of: there is no load "gateway"; write one of callers, batch`: func(s *sim.Scenario) { s.Triggers[2].Of = target("gateway") },
		"triggers.spike.factor: is missing":                                          func(s *sim.Scenario) { s.Triggers[2].Factor = 0 },
		"triggers.spike.factor: is missing; write how many times slower": func(s *sim.Scenario) {
			s.Triggers[2].What, s.Triggers[2].Of, s.Triggers[2].Factor = sim.Latency, target("store"), 0
		},
		`triggers.spike.of: "prices" is not a cache`:                           func(s *sim.Scenario) { s.Triggers[2].What, s.Triggers[2].Of = sim.Flush, target("prices") },
		"expect[0]: there is no load \"x\"":                                    expecting("goodput of x >= 1"),
		"expect[0]: there is no service \"x\"":                                 expecting("work of x >= 1"),
		"expect[0]: recovery is known of the whole system":                     expecting("recovery of callers < 1s"),
		"expect[0]: nobody calls over \"a>b\"":                                 expecting("amplification of a>b < 2"),
		"arms.b.expect[0]: there is no load \"x\"":                             func(s *sim.Scenario) { s.Arms[1].Expect = claims("goodput of x >= 1") },
		"arms.b.services.orders.workers: -3 is out of range":                   func(s *sim.Scenario) { s.Arms[1].Services[0].Workers = -3 },
		`arms.b.loads.new.to: there is no service "x"`:                         func(s *sim.Scenario) { s.Arms[1].Loads = []sim.Load{{Name: "new", Rate: 1, To: target("x")}} },
		"searches.s.trigger: write what is varied":                             searching(sim.Search{}),
		"searches.s.trigger: there is no trigger \"x\"":                        searching(sim.Search{Trigger: "x"}),
		"searches.s.load: there is no load \"batch\" with a rate; give it one": searching(sim.Search{Load: "batch"}),
		"searches.s.arm: there is no arm \"x\"; write one of a, b":             searching(sim.Search{Arm: "x", Load: "callers"}),
		"searches.s.to: 3 is not above from, 5":                                searching(sim.Search{Load: "callers", From: 5, To: 3}),
		"duration: the run may need":                                           func(s *sim.Scenario) { s.Duration, s.Replications = 20*24*time.Hour, 1000 },
	}.check(t)
}

func expecting(text string) func(*sim.Scenario) {
	return func(s *sim.Scenario) { s.Expect = claims(text) }
}

func claims(text string) []sim.Claim {
	var c sim.Claim
	if err := c.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return []sim.Claim{c}
}

func searching(q sim.Search) func(*sim.Scenario) {
	q.Name = "s"
	return func(s *sim.Scenario) { s.Searches = []sim.Search{q} }
}

func TestNoCapacityIsClaimedWhereThereIsNone(t *testing.T) {
	s := rich()
	for i := range s.Services {
		s.Services[i].Workers, s.Services[i].Sharing = 0, false
	}
	s.Expect = claims("goodput >= 0.9 capacity")
	if got := fmt.Sprint(s.Validate()); !strings.Contains(got, "expect[0]: nothing limits what the system can answer") {
		t.Error(got)
	}
}

// All mistakes at once, and a good scenario has none.
func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	s := rich()
	if ps := s.Validate(); ps != nil {
		t.Fatalf("a good scenario: %v", ps)
	}
	s.Name, s.Services[3].Workers, s.Loads[0].Rate, s.Triggers[1].What = "", -1, -1, 0
	s.Services[3].Work, s.Services[3].Script = random.Law{}, []sim.Step{{Action: sim.Action{Call: target("nobody")}}, {Action: sim.Action{Call: target("gateway")}}}
	if ps := s.Validate().Errors(); len(ps) != 6 || !strings.Contains(fmt.Sprint(ps), "leads back to") || !strings.Contains(fmt.Sprint(ps), "no service \"nobody\"") {
		t.Errorf("%d problems, want 6: %v", len(ps), ps)
	}
}

// What would need more memory than there may be is refused with the estimate; a
// bound on the queue, or a limit before it, makes it small.
func TestWhatWouldPileUpIsRefused(t *testing.T) {
	s := sim.Scenario{
		Name: "pile", Duration: 100 * second,
		Services: []sim.Service{{Name: "server", Workers: 100, Work: random.Constant(10 * ms)}},
		Loads:    []sim.Load{{Name: "load", To: target("server"), Rate: 40_000, Client: &sim.Client{Retry: &retry.Config{Attempts: 2}}}},
	}
	want := "duration: up to 7e+06 requests would wait at once, some 7.0 GB, and 4.19e+06 are the most; bound a queue"
	if got := fmt.Sprint(s.Validate()); !strings.Contains(got, want) {
		t.Errorf("want %q, got %s", want, got)
	}
	s.Services[0].Queue.Places = 1000
	if err := s.Validate().Err(); err != nil {
		t.Error(err)
	}
	s.Services[0].Queue.Places = 0
	s.Loads[0].Guard = &sim.Guard{Config: stack.Config{Checkout: second}}
	if err := s.Validate().Err(); err != nil {
		t.Error(err)
	}
}

// A run that outgrows what Validate could foresee ends with an error.
func TestARunThatOutgrowsItsBoundEnds(t *testing.T) {
	slow(t)
	s := sim.Scenario{
		Name: "outgrown", Replications: 1, Duration: 100 * second,
		Services: []sim.Service{{Name: "server"}},
		Loads:    []sim.Load{{Name: "load", To: target("server"), Rate: 100_000}},
	}
	s.Services[0].Script = []sim.Step{{Action: sim.Action{Work: random.Constant(1000 * second)}}}
	if err := s.Validate().Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Run(s, sim.Options{}); err == nil || !strings.Contains(err.Error(), "requests are in the system at 41.9") {
		t.Errorf("error %v", err)
	}
}

// What an arm says replaces what the scenario says, key by key; what it does not
// name stays, and the scenario is not changed by its arms.
func TestArmsReplaceKeyByKey(t *testing.T) {
	s := sim.Scenario{
		Name: "arms", Replications: 1, Duration: 20 * second, Warmup: -1,
		Services: []sim.Service{{Name: "server", Workers: 1, Work: random.Constant(10 * ms), Queue: sim.Queue{Places: 5}}, {Name: "other", Workers: 1}},
		Loads:    []sim.Load{{Name: "load", To: target("server"), Rate: 200, Even: true, Client: &sim.Client{Timeout: second, Retry: &retry.Config{Attempts: 3, Jitter: retry.AtOnce}}}},
		Arms: []sim.Arm{
			{Name: "itself"},
			{Name: "four workers", Services: []sim.Service{{Name: "server", Workers: 4}}},
			{Name: "one attempt", Loads: []sim.Load{{Name: "load", Client: &sim.Client{Retry: &retry.Config{Attempts: 1}}}}},
			{Name: "errors", Services: []sim.Service{{Name: "server", Workers: 4, Errors: 1}}},
			{Name: "full jitter", Loads: []sim.Load{{Name: "load", Client: &sim.Client{Retry: &retry.Config{Base: 10 * second, Cap: 10 * second}}}}, Zeros: []string{"loads.load.client.retry.jitter"}},
			{Name: "another load", Loads: []sim.Load{{Name: "more", To: target("other"), Rate: 50, Even: true}}},
		},
	}
	arms := play(t, s, sim.Options{}).Arms
	near(t, "goodput of the scenario", arms[0].Goodput.Mean, 100, .02)
	near(t, "goodput with four workers", arms[1].Goodput.Mean, 200, .02)
	near(t, "amplification with one attempt", arms[2].Amplification.Mean, 1, 0)
	if a := arms[3]; a.Goodput.Mean != 0 || a.Amplification.Mean < 2.99 {
		t.Errorf("with errors: goodput %v, amplification %v", a.Goodput, a.Amplification)
	}
	if arms[4].Loads[0].Refused.Mean >= arms[0].Loads[0].Refused.Mean {
		t.Errorf("jitter that an arm sets back to full is not: %v are refused, %v without", arms[4].Loads[0].Refused, arms[0].Loads[0].Refused)
	}
	if len(arms[5].Loads) != 2 || len(arms[0].Loads) != 1 || arms[5].Loads[1].Goodput.Mean < 49 {
		t.Errorf("a load that an arm adds: %+v", arms[5].Loads)
	}
	near(t, "goodput after all", play(t, s, sim.Options{}).Arms[0].Goodput.Mean, 100, .02)
}

// The capacity of a system is that of its narrowest service, counted by how long
// each request keeps a worker, also one that waits for others.
func TestCapacity(t *testing.T) {
	call := func(names ...string) []sim.Step {
		var targets []sim.Target
		for _, n := range names {
			targets = append(targets, target(n))
		}
		return []sim.Step{{Action: sim.Action{Work: random.Constant(5 * ms)}}, {Action: sim.Action{Parallel: targets}}}
	}
	s := sim.Scenario{
		Duration: 10 * second,
		Services: []sim.Service{
			{Name: "gateway", Workers: 20, Script: call("a", "b")},
			{Name: "a", Workers: 2, Work: random.Constant(10 * ms)}, {Name: "b", Workers: 2, Work: random.Constant(15 * ms)},
		},
		Loads: []sim.Load{{Name: "l", To: target("gateway"), Rate: 10}},
	}
	near(t, "capacity", s.Capacity(), 2/.015, 1e-6)
	s.Services[2].Workers, s.Services[1].Workers = 100, 100
	near(t, "capacity of the gateway", s.Capacity(), 20/.020, 1e-6) // 5 ms, then 15 behind the slower of two
	s.Loads[0].Rate, s.Loads[0].Clients = 0, 10
	near(t, "capacity for a closed loop", s.Capacity(), 20/.020, 1e-6)
	s.Services[0].Instances = 3
	near(t, "capacity of three", s.Capacity(), 60/.020, 1e-6)
}
