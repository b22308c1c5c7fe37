package sim_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// steady is a service of 10 ms without a limit, asked a hundred times a second at
// even distances for a minute: every figure can be counted on paper.
func steady(trouble ...sim.Trigger) sim.Scenario {
	return sim.Scenario{
		Name: "steady", Replications: 1, Duration: 60 * second, Warmup: -1,
		Services: []sim.Service{{Name: "server", Work: random.Constant(10 * ms)}},
		Loads:    []sim.Load{{Name: "load", To: target("server"), Rate: 100, Even: true}},
		Triggers: trouble,
	}
}

func at(what sim.Trouble, change func(*sim.Trigger)) sim.Trigger {
	t := sim.Trigger{Name: "trouble", What: what, Of: target("server"), At: 20 * second, For: 10 * second}
	if change != nil {
		change(&t)
	}
	return t
}

func TestLatencyMultipliesAndAdds(t *testing.T) {
	a := mustRun(t, steady(at(sim.Latency, func(t *sim.Trigger) { t.Factor = 5 })))
	if q := a.Latency.Quantile(.9); q < 49*ms || q > 51*ms || a.Latency.Quantile(.8) > 11*ms {
		t.Errorf("p90 %v, p80 %v; a sixth of all takes five times as long", q, a.Latency.Quantile(.8))
	}
	a = mustRun(t, steady(at(sim.Latency, func(t *sim.Trigger) { t.Add = second })))
	if q := a.Latency.Quantile(.9); q < 1000*ms || q > 1020*ms {
		t.Errorf("p90 %v, want a second more", q)
	}
}

func TestErrorsFailTheirShare(t *testing.T) {
	a := mustRun(t, steady(at(sim.Errors, func(t *sim.Trigger) { t.Share = .3 })))
	near(t, "failed", a.Loads[0].Failed.Mean, .05, .1)
	a = mustRun(t, steady(at(sim.Errors, nil)))
	near(t, "failed", a.Loads[0].Failed.Mean, 1./6, .01)
}

func TestSpikesMultiplyTheRate(t *testing.T) {
	a := mustRun(t, steady(at(sim.Spike, func(t *sim.Trigger) { t.Of, t.Factor = target("load"), 3 })))
	if n := a.Loads[0].Requests; n < 7990 || n > 8010 {
		t.Errorf("%d requests, want 6000 and 2000 more", n)
	}
}

// A paused process takes in what came meanwhile after it, in order: nobody is
// lost, and everybody who came in the ten seconds has waited for their end.
func TestAPauseHoldsEverythingBack(t *testing.T) {
	s := steady(at(sim.Pause, nil))
	s.Services[0].Script = []sim.Step{{Action: sim.Action{Call: target("behind")}}}
	s.Services[0].Work = random.Law{}
	s.Services[0].Guards = []sim.Guard{{To: "behind", Config: stack.Config{Exchange: 20 * second, Limit: limit.None(), Retry: retry.Config{Attempts: 1}}}}
	s.Services = append(s.Services, sim.Service{Name: "behind", Work: random.Constant(10 * ms)})
	a := mustRun(t, s)
	if n := a.Loads[0].Answered; n != 6000 && n != 5999 {
		t.Errorf("%d of 6000 are answered", n)
	}
	near(t, "p99", a.Latency.Quantile(.99).Seconds(), 9.4, .02)
	if m := a.Latency.Max(); m > 10030*ms {
		t.Errorf("somebody waits %v", m)
	}
}

// A process that is killed loses what it had, and those who knock until the
// balancer has noticed; one that leaves in order loses nobody.
func TestRestarts(t *testing.T) {
	s := steady(at(sim.Restart, func(t *sim.Trigger) { t.For, t.Notice, t.Instances = 8*second, 5*second, 1 }))
	s.Services[0].Instances = 4
	s.Services[0].Work = random.Constant(200 * ms)
	a := mustRun(t, s)
	// A quarter of 100 a second for 5 s, and 5 that were being served.
	near(t, "lost", float64(a.Loads[0].Requests)*a.Loads[0].Failed.Mean, 130, .15)
	if a.Services[0].Finished+130 > a.Loads[0].Requests || a.Services[0].Finished < 5800 {
		t.Errorf("%d of %d are finished", a.Services[0].Finished, a.Loads[0].Requests)
	}
	s.Triggers[0].Drain, s.Triggers[0].Finish = 6*second, second
	a = mustRun(t, s)
	if lost := a.Loads[0].Failed.Mean; lost != 0 {
		t.Errorf("%.2f %% are lost although it leaves in order", 100*lost)
	}
	// Its guards begin anew: what was out before is not heard of after.
	s = steady(at(sim.Restart, func(t *sim.Trigger) { t.For = 100 * ms }))
	s.Services[0].Script, s.Services[0].Work = []sim.Step{{Action: sim.Action{Call: target("behind")}}}, random.Law{}
	s.Services[0].Guards = []sim.Guard{{To: "behind", Config: stack.Config{Exchange: 10 * second, Checkout: second, Limit: limit.Fixed(30), Room: room.Config{Waiting: 100}}}}
	s.Services = append(s.Services, sim.Service{Name: "behind", Work: random.Constant(250 * ms)})
	a = mustRun(t, s)
	if over(a, 25*second, 59*second, good) < 99 {
		t.Errorf("%v a second are answered after the restart", over(a, 25*second, 59*second, good))
	}
}

func TestAFlushEmptiesTheCache(t *testing.T) {
	s := steady(sim.Trigger{Name: "flush", What: sim.Flush, Of: sim.Target{Service: "server", Route: "c"}, At: 30 * second})
	s.Services[0].Caches = []sim.Cache{{Name: "c", Lifetime: time.Hour, OneFlight: true}}
	s.Services[0].Script, s.Services[0].Work = []sim.Step{{Cache: "c", Miss: []sim.Action{{Work: random.Constant(50 * ms)}}}}, random.Law{}
	s.Loads[0].Keys = 10
	c := mustRun(t, s).Caches[0]
	if c.Misses != 20 || c.Rounds != 20 || c.Hits+c.Waited+c.Misses < 5990 {
		t.Errorf("%+v, want each of ten values loaded twice", c)
	}
}

// E18: A waits ten seconds for B, which works for eight and calls C behind five
// seconds of others. With the remaining time on the wire C drops it at its turn;
// with a fixed limit at B it works for nobody.
func TestE18DeadlineCarried(t *testing.T) {
	b := open(t, published)
	const answered, dropped = "E18: A's calls answered", "E18: carried, calls that C drops"
	const carried, fixed = "E18: carried, share of C's work that is for nobody", "E18: a fixed 20 s at B, share of C's work that is for nobody"
	seeds(t, func(t *testing.T, seed uint64) {
		for _, carry := range []bool{true, false} {
			a := mustRun(t, sim.Scenario{
				Name: "carried", Seed: seed, Replications: 2, Duration: 300 * second, Warmup: 50 * second,
				Services: []sim.Service{
					{Name: "b", Client: &sim.Client{Timeout: 20 * second, Carry: carry},
						Script: []sim.Step{{Action: sim.Action{Work: random.Constant(8 * second)}}, {Action: sim.Action{Call: target("c")}}}},
					{Name: "c", Workers: 1, Work: random.Exponential(100 * ms), Queue: sim.Queue{Expired: true}},
				},
				Loads: []sim.Load{{Name: "a", To: target("b"), Rate: .5, Deadline: 10 * second, Client: &sim.Client{Carry: true}},
					{Name: "others", To: target("c"), Clients: 50}},
			})
			c := &a.Services[1]
			b.saw(answered, a.Loads[0].Goodput.Mean)
			if carry {
				b.saw(carried, c.Wasted.Mean/c.Work.Mean)
				b.saw(dropped, float64(c.Dropped))
			} else {
				b.saw(fixed, c.Wasted.Mean/c.Work.Mean)
			}
		}
	})
	b.between(answered, "0", 0, 0)
	b.between(carried, "0", 0, 0)
	b.between(dropped, "all that come to its turn: 250", 180, 320) // Poisson: four deviations of 16 on both sides
	b.between(fixed, ".05", .035, .065)                            // half a call a second of a tenth of a second each; Poisson again
}

// E23: 3,000 readers a second, nine of ten of whom find their value, and a
// database that has 300 calls a second to answer until the cache is lost. It gets ten times
// as many, answers them too late for the application to keep them, and so they stay
// ten times as many; five slots before it, which is what it has, and it fills up.
func TestE23LostCache(t *testing.T) {
	slow(t)
	b := open(t, published)
	const before, after, never, guarded = "E23: calls/s of the database before", "E23: calls/s of the database after the loss", "E23: metastable without a guard", "E23: recover with a guard of five slots"
	seeds(t, func(t *testing.T, seed uint64) {
		s := sim.Scenario{
			Name: "lost", Seed: seed, Replications: 2, Duration: 70 * second, Warmup: 60 * second,
			Services: []sim.Service{
				{Name: "app", Caches: []sim.Cache{{Name: "values", Keys: 30_000, Lifetime: 90 * second, Spread: .2, Warm: true}}, Client: &sim.Client{Timeout: second},
					Script: []sim.Step{{Cache: "values", Miss: []sim.Action{{Call: target("database")}}}}},
				{Name: "database", Workers: 5, Work: random.Exponential(10 * ms)},
			},
			Loads: []sim.Load{{Name: "readers", To: target("app"), Rate: 3000, Keys: 30_000}},
		}
		usual := s // over a whole cycle of the values: 90 s of life, and 10 s until the next reader
		usual.Duration, usual.Warmup = 300*second, 200*second
		b.saw(before, float64(mustRun(t, usual).Services[1].Arrived)/200)
		s.Triggers = []sim.Trigger{{Name: "lost", What: sim.Flush, Of: sim.Target{Service: "app", Route: "values"}, At: 60 * second}}
		b.saw(after, float64(mustRun(t, s).Services[1].Arrived)/20)
		s.Duration, s.Warmup = 180*second, 20*second
		b.saw(never, tips(t, s, sim.Metastable))
		s.Services[0].Guards = []sim.Guard{{To: "database", Config: stack.Config{
			Exchange: second, Checkout: 500 * ms, Limit: limit.Fixed(5), Retry: retry.Config{Attempts: 1},
		}}}
		b.saw(guarded, tips(t, s, sim.Recovers))
	})
	b.near(before, 300, .05, 1)
	b.near(after, 3000, .05, 1)
	b.always(never, 2)
	b.always(guarded, 2)
}

// Deadlines grow shorter at each hop by what has passed and by the margin: a
// service that has less than it needs is not asked.
func TestTheRemainingTimeIsCarriedHopByHop(t *testing.T) {
	hop := func(to string) sim.Service {
		return sim.Service{
			Script: []sim.Step{{Action: sim.Action{Work: random.Constant(50 * ms)}}, {Action: sim.Action{Call: target(to)}}},
			Guards: []sim.Guard{{To: to, Margin: 10 * ms, Config: stack.Config{Exchange: second, Checkout: 500 * ms, Limit: limit.None(), Retry: retry.Config{Attempts: 1}}}},
		}
	}
	a, b := hop("b"), hop("c")
	a.Name, b.Name = "a", "b"
	for needs, answered := range map[time.Duration]bool{70 * ms: true, 90 * ms: false} {
		s := steady()
		// 200 ms, less 50 and 10 at a, less 50 and 10 at b: c is told 80.
		s.Services = []sim.Service{a, b, {Name: "c", Work: random.Constant(ms), Queue: sim.Queue{Needs: needs}}}
		s.Loads[0].To, s.Loads[0].Deadline, s.Loads[0].Client = target("a"), 200*ms, &sim.Client{Carry: true}
		r := mustRun(t, s)
		if got := r.Loads[0].Goodput.Mean > 99; got != answered {
			t.Errorf("c needs %v: %v a second are answered", needs, r.Loads[0].Goodput)
		}
	}
}
