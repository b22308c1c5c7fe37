package sim_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// What each key of a scenario does, in figures that can be counted on paper.

func answered(m *sim.Moment) float64 { return m.Answered }
func attempts(m *sim.Moment) float64 { return m.Attempts }

// once lets a load come as one burst.
func once(s sim.Scenario, at time.Duration, calls int) sim.Scenario {
	s.Loads[0].Rate, s.Loads[0].Bursts = 0, []sim.Burst{{At: at, Calls: calls}}
	return s
}

// behind lets the server ask another one that takes a time.
func behind(s sim.Scenario, takes time.Duration, guard stack.Config) sim.Scenario {
	s.Services[0].Script, s.Services[0].Work = []sim.Step{{Action: sim.Action{Call: target("behind")}}}, random.Law{}
	s.Services[0].Guards = []sim.Guard{{To: "behind", Config: guard}}
	s.Services = append(s.Services, sim.Service{Name: "behind", Work: random.Constant(takes)})
	return s
}

// Answers for a process that stands still are taken in when it goes on.
func TestAnswersWaitForAPause(t *testing.T) {
	s := behind(steady(at(sim.Pause, nil)), 5*second, stack.Config{Exchange: 30 * second, Limit: limit.None(), Retry: retry.Config{Attempts: 1}})
	a := mustRun(t, s)
	if n := over(a, 20100*ms, 29900*ms, answered); n != 0 {
		t.Errorf("%v a second are answered by who stands still", n)
	}
	if before, after := over(a, 10*second, 20*second, answered), over(a, 30*second, 31*second, answered); before < 99 || after < 499 {
		t.Errorf("%v a second before, and %v in the second after it; want 100 and the 500 that were under way", before, after)
	}
}

// Two of one kind at a time multiply.
func TestSlownessMultiplies(t *testing.T) {
	other := at(sim.Latency, func(t *sim.Trigger) { t.Name, t.Factor = "other", 2 })
	a := mustRun(t, steady(at(sim.Latency, func(t *sim.Trigger) { t.Factor = 5 }), other))
	if q := a.Latency.Quantile(.9); q < 99*ms || q > 101*ms {
		t.Errorf("p90 %v, want ten times 10ms", q)
	}
}

func TestCrowdingIsPaidByWhoComesLater(t *testing.T) {
	s := once(steady(), second, 3)
	s.Services[0].Crowding = 5 * ms
	if l := mustRun(t, s).Latency; l.Quantile(0) != 15*ms || l.Max() != 25*ms {
		t.Errorf("from %v to %v, want 15ms to 25ms", l.Quantile(0), l.Max())
	}
}

func TestABurstMayTakeATime(t *testing.T) {
	s := once(steady(), 10*second, 100)
	s.Loads[0].Bursts[0].Over = 10 * second
	a := mustRun(t, s)
	if first, second := over(a, 10*second, 15*second, offered), over(a, 15*second, 20*second, offered); first != 10 || second != 10 {
		t.Errorf("%v a second, and then %v; want 10", first, second)
	}
}

// The door lets a burst in, and tells the others when to come back; whoever
// tries again obeys.
func TestTheDoorSaysWhenToComeBack(t *testing.T) {
	s := once(steady(), second, 100)
	s.Services[0].Accept = &sim.Accept{Rate: 10, Burst: 40}
	s.Services[0].RetryAfter = span.Range{Min: 5 * second, Max: 5 * second}
	s.Loads[0].Client = &sim.Client{Retry: &retry.Config{Attempts: 2, Base: 10 * ms, Cap: 10 * second}}
	a := mustRun(t, s)
	if n := a.Services[0].Refused; n != 60+20 { // 40 places are free again by then
		t.Errorf("%d are refused, want 60 of 100, and 20 of those 60", n)
	}
	if n := over(a, 6*second, 7*second, attempts); n != 60 {
		t.Errorf("%v try again in the sixth second, want 60", n)
	}
}

// Who leaves in order finishes what it has.
func TestADrainFinishesWhatItHas(t *testing.T) {
	for finish, lost := range map[time.Duration]float64{0: 50, second: 0} {
		s := steady(at(sim.Restart, func(t *sim.Trigger) { t.Drain, t.Finish = second, finish }))
		s.Services[0].Instances, s.Services[0].Work = 2, random.Constant(1500*ms)
		s.Triggers[0].Instances, s.Triggers[0].Notice = 1, second/2 // who comes until then has half a second too little
		a := mustRun(t, s)
		if got := float64(a.Loads[0].Requests) * a.Loads[0].Failed.Mean; got < lost*.7 || got > lost*1.3 {
			t.Errorf("finish %v: %v are lost, want about %v", finish, got, lost)
		}
	}
}

// A request that does something twice when it is done twice is not tried again
// when it ran out of time.
func TestUnsafeRequestsAreNotRepeated(t *testing.T) {
	for unsafe, want := range map[bool]float64{false: 3, true: 1} {
		s := steady()
		s.Services[0].Work = random.Constant(second)
		s.Loads[0].Unsafe, s.Loads[0].Client = unsafe, &sim.Client{Timeout: 100 * ms, Retry: &retry.Config{Attempts: 3, Jitter: retry.AtOnce}}
		near(t, "attempts", mustRun(t, s).Amplification.Mean, want, .01)
	}
}

// F20: who is marked as the owner of the retries is the only one to make any.
func TestAnOwnerRepeatsAlone(t *testing.T) {
	s := layers(3, 3, 1, nil)
	s.Duration, s.Loads[0].Rate, s.Loads[0].Client.Owner = 10*second, 100, true
	near(t, "calls at the bottom", share(mustRun(t, s), "s1"), 3, 1e-9)
	s.Loads[0].Client.Owner, s.Services[2].Client.Owner = false, true // the one behind the callers
	near(t, "calls at the bottom", share(mustRun(t, s), "s1"), 9, 1e-9)
}

// Work that stops when its caller leaves lets go of what it waits for, too.
func TestWhoIsCutCutsItsOwnCalls(t *testing.T) {
	for cancels, want := range map[bool]float64{true: 1, false: 10} {
		s := behind(steady(), 10*second, stack.Config{})
		s.Services[0].Guards, s.Services[0].Client = nil, &sim.Client{}
		s.Services[0].Cancels, s.Services[1].Cancels = true, cancels
		s.Loads[0].Rate, s.Loads[0].Deadline = 1, second
		s.Duration, s.Warmup = 120*second, 20*second
		w := mustRun(t, s).Services[1]
		near(t, "seconds of work a second", w.Work.Mean, want, .02)
		near(t, "and for nobody", w.Wasted.Mean, w.Work.Mean, 1e-9)
	}
}

// Lifetimes lie as far apart as they are told to.
func TestLifetimesSpread(t *testing.T) {
	for spread, want := range map[float64]float64{0: 1000, .5: 1500} {
		s := steady()
		s.Services[0].Caches = []sim.Cache{{Name: "c", Lifetime: 40 * second, Spread: spread}}
		s.Services[0].Script, s.Services[0].Work = []sim.Step{{Cache: "c", Miss: []sim.Action{{Work: random.Constant(ms)}}}}, random.Law{}
		s.Loads[0].Keys, s.Loads[0].Rate, s.Duration = 1000, 5_000, 40*second // half of those that spread end before that
		near(t, "misses", float64(mustRun(t, s).Caches[0].Rounds), want, .1)
	}
}

// A weight is a share of what there is, where there is too little.
func TestWeightsAreShares(t *testing.T) {
	s := behind(steady(), 10*ms, stack.Config{Checkout: 500 * ms, Limit: limit.Fixed(1), Room: room.Config{Waiting: 100, Window: time.Hour}, Retry: retry.Config{Attempts: 1}})
	s.Loads[0].Rate, s.Loads[0].Weight, s.Loads[0].Priority = 200, 3, 1
	s.Loads = append(s.Loads, sim.Load{Name: "other", To: target("server"), Rate: 200, Even: true, Priority: 1})
	a := mustRun(t, s)
	near(t, "heavy", a.Loads[0].Goodput.Mean, 75, .05)
	near(t, "light", a.Loads[1].Goodput.Mean, 25, .05)
}

// Work is in vain also where not its own caller has left, but that one's.
func TestWorkForWhoIsGoneIsWasted(t *testing.T) {
	for name, client := range map[string]*sim.Client{"directly": nil, "through a client": {}} {
		s := behind(steady(), 3*second, stack.Config{})
		s.Services[0].Guards, s.Services[0].Client = nil, client
		s.Loads[0].Rate, s.Loads[0].Deadline = 10, second
		if w := mustRun(t, s).Services[1]; w.Work.Mean < 25 || w.Wasted.Mean != w.Work.Mean {
			t.Errorf("%s: %v of %v seconds of work a second are wasted, want all", name, w.Wasted.Mean, w.Work.Mean)
		}
	}
}

// A cache that is warm has values of every age, so that they do not all end at
// once.
func TestAWarmCacheIsOfEveryAge(t *testing.T) {
	s := steady()
	s.Services[0].Caches = []sim.Cache{{Name: "c", Lifetime: 40 * second, Warm: true}}
	s.Services[0].Script, s.Services[0].Work = []sim.Step{{Cache: "c", Miss: []sim.Action{{Work: random.Constant(ms)}}}}, random.Law{}
	s.Loads[0].Keys, s.Loads[0].Rate, s.Duration = 1000, 20_000, 20*second
	near(t, "loads in half a lifetime", float64(mustRun(t, s).Caches[0].Rounds), 500, .1)
}

// A route's promise is a deadline of the service's own, before its own workers,
// and stands in the place of the service's.
func TestAPromiseIsADeadline(t *testing.T) {
	for route, want := range map[string]uint64{"": 10, "r": 5} {
		s := once(steady(), second, 20)
		s.Services[0].Workers, s.Services[0].Queue, s.Services[0].Promise = 1, sim.Queue{Expired: true}, 100*ms
		s.Services[0].Routes = []sim.Route{{Name: "r", Work: random.Constant(10 * ms), Promise: 50 * ms}}
		s.Loads[0].To.Route = route
		if n := mustRun(t, s).Loads[0].Answered; n != want {
			t.Errorf("route %q: %d of 20 are answered, want %d", route, n, want)
		}
	}
}

// An error of the caller's is an answer, unless the client takes it for a failure.
func TestWhoBlamesTriesAgain(t *testing.T) {
	for blame, want := range map[bool]float64{false: 1, true: 2} {
		s := steady()
		s.Services[0].Business = 1
		s.Loads[0].Client = &sim.Client{Blame: blame, Retry: &retry.Config{Attempts: 2, Jitter: retry.AtOnce}}
		near(t, "attempts", mustRun(t, s).Amplification.Mean, want, 1e-3)
	}
}

// A door that does not say when to come back is not asked again: 429 without a
// Retry-After.
func TestWhoIsNotToldWhenStaysAway(t *testing.T) {
	s := once(steady(), second, 100)
	s.Services[0].Accept = &sim.Accept{Rate: 10, Burst: 40}
	s.Loads[0].Client = &sim.Client{Retry: &retry.Config{Attempts: 2, Base: 10 * ms}}
	if a := mustRun(t, s); a.Services[0].Arrived != 100 || a.Loads[0].Refused.Mean != .6 {
		t.Errorf("%d knock, %v are refused; want 100 and .6", a.Services[0].Arrived, a.Loads[0].Refused.Mean)
	}
}

// An answer that is not needed may be missing.
func TestOptionalCallsMayFail(t *testing.T) {
	for optional, want := range map[bool]uint64{false: 0, true: 6000} {
		s := behind(steady(), 0, stack.Config{})
		s.Services[0].Guards, s.Services[0].Script[0].Optional, s.Services[1].Errors = nil, optional, 1
		if n := mustRun(t, s).Loads[0].Answered; n != want {
			t.Errorf("optional %v: %d of 6000 are answered, want %d", optional, n, want)
		}
	}
}

// A spike multiplies a ramp, and leaves it where it would have been.
func TestASpikeOnARamp(t *testing.T) {
	s := steady(at(sim.Spike, func(t *sim.Trigger) { t.Of, t.At, t.Factor = target("load"), 30*second, 2 }))
	s.Loads[0].Rate, s.Loads[0].Profile = 0, []sim.Point{{Ramp: true}, {At: 60 * second, Rate: 60}}
	a := mustRun(t, s)
	for _, row := range []struct{ from, to, want float64 }{{0, 30, 15}, {30, 40, 70}, {40, 60, 50}} {
		near(t, "a second", over(a, time.Duration(row.from)*second, time.Duration(row.to)*second, offered), row.want, .02)
	}
}

// Caches are counted from the gate on, as everything is.
func TestCachesAreCountedFromTheGate(t *testing.T) {
	s := steady()
	s.Services[0].Caches = []sim.Cache{{Name: "c", Lifetime: time.Hour}}
	s.Services[0].Script, s.Services[0].Work = []sim.Step{{Cache: "c", Miss: []sim.Action{{Work: random.Constant(ms)}}}}, random.Law{}
	s.Warmup = 10 * second
	if c := mustRun(t, s).Caches[0]; c.Misses != 0 || c.Rounds != 0 || c.Hits != 5000 {
		t.Errorf("%+v, want 5000 hits and nothing of before", c)
	}
}

// A process that is restarted knows nothing of what it had learned: its breakers
// are closed.
func TestARestartForgets(t *testing.T) {
	s := behind(steady(at(sim.Errors, func(t *sim.Trigger) { t.Of, t.At = target("behind"), 10*second })), 10*ms,
		stack.Config{Limit: limit.None(), Retry: retry.Config{Attempts: 1}, Breaker: breaker.Config{Open: time.Hour}})
	if n := over(mustRun(t, s), 31*second, 59*second, good); n != 0 {
		t.Fatalf("%v a second pass a breaker that is open", n)
	}
	s.Triggers = append(s.Triggers, at(sim.Restart, func(t *sim.Trigger) { t.Name, t.At, t.For = "restart", 30*second, 100*ms }))
	if n := over(mustRun(t, s), 31*second, 59*second, good); n < 99.9 {
		t.Errorf("%v a second are answered after the restart, want 100", n)
	}
}

// The edge that is named is the one that amplifies most, wherever it stands.
func TestTheEdgeThatAmplifiesMostIsNamed(t *testing.T) {
	for _, most := range []string{"a", "b"} {
		s := steady()
		s.Services[0].Work, s.Services[0].Script = random.Law{}, []sim.Step{
			{Action: sim.Action{Call: target("a"), Optional: true}}, {Action: sim.Action{Call: target("b"), Optional: true}}}
		s.Services[0].Client = &sim.Client{Retry: &retry.Config{Attempts: 3, Jitter: retry.AtOnce}}
		for _, name := range []string{"a", "b"} {
			v := sim.Service{Name: name, Errors: .2}
			if name == most {
				v.Errors = .8
			}
			s.Services = append(s.Services, v)
		}
		if got := mustRun(t, s).Amplifies; got != "server>"+most {
			t.Errorf("%q is named, want server>%s", got, most)
		}
	}
}
