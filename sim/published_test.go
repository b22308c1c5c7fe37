package sim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/throttle"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/internal/agenda"
	"github.com/kalan-go/kalan/sim/random"
	"github.com/kalan-go/kalan/sim/record"
)

// E12: a server whose latency grows with what is in flight, and callers who
// give up. Five seconds of twice the load are enough. Without backoff a run either comes
// back at once or not at all: a coin, of which a quarter of the throws are good.
func TestE12SpikeAndBackoff(t *testing.T) {
	slow(t)
	b := open(t, published)
	const none, jitter = "E12: no backoff, answered/s at 40 to 79 s", "E12: jitter over 20 s x 2^k, answered/s at 60 to 79 s"
	answered := func(t *testing.T, runs int, seed uint64, plan retry.Config, from time.Duration) float64 {
		a := mustRun(t, sim.Scenario{
			Name: "spike", Replications: runs, Seed: seed, Duration: 80 * second, Warmup: -1,
			Services: []sim.Service{{Name: "server", Work: random.Constant(second), Crowding: 10 * ms, Network: random.Exponential(100 * ms)}},
			Loads: []sim.Load{{Name: "clients", To: sim.Target{Service: "server"}, Rate: 40,
				Client: &sim.Client{Timeout: 3 * second, Retry: &plan}}},
			Triggers: []sim.Trigger{{Name: "spike", What: sim.Spike, Of: sim.Target{Service: "clients"}, Factor: 2, At: 20 * second, For: 5 * second}},
		})
		return over(a, from, 79*second, func(m *sim.Moment) float64 { return m.Answered })
	}
	seeds(t, func(t *testing.T, seed uint64) {
		b.saw(none, answered(t, 200, seed, retry.Config{Attempts: 3, Jitter: retry.AtOnce}, 40*second))
		// Twenty seconds, doubled, all of it jitter.
		b.saw(jitter, answered(t, 40, seed, retry.Config{Attempts: 3, Base: 20 * second, Cap: 80 * second}, 60*second))
	})
	b.between(none, "about 12", 5.5, 15)
	b.near(jitter, 39.2, .05, 1)
}

// E14: 100 clients of ten calls a second against a service that fails, as
// published in words and pictures (Brooker, 2022): four attempts; a bucket that
// gets a tenth of a token for each call, holds five and pays one for a retry;
// retries only while less than a tenth of a client's attempts have failed. The
// bucket is played as it was published, and as what it became here: the budget of
// policy/budget over 25 s, with a floor of five. Success is held within 5 % of
// four deviations: of 25,000 calls it is known within .011/sqrt(share) of itself.
func TestE14RetriesTokensBreaker(t *testing.T) {
	b := open(t, published)
	for _, row := range []struct {
		p                                            float64
		retries, retryLoad, tokens, tokenLoad, alone float64
	}{
		{.2, .998, 1.25, .893, 1.117, .802}, {.5, .937, 1.87, .562, 1.121, .500}, {.75, .687, 2.73, .283, 1.122, .253},
	} {
		what := func(defence, figure string) string { return fmt.Sprintf("E14: p = %v, %s: %s", row.p, defence, figure) }
		seeds(t, func(t *testing.T, seed uint64) {
			a := mustRun(t, seeded(layers(1, 4, row.p, nil), seed))
			b.saw(what("3 retries", "success"), a.Goodput.Mean/a.Offered.Mean)
			b.saw(what("3 retries", "load"), a.Amplification.Mean)

			s := seeded(layers(1, 4, row.p, &budget.Config{Ratio: .1, Floor: 5, Window: -1}), seed)
			s.Loads[0].Processes, s.Duration, s.Replications = 100, 25*second, 8
			a = mustRun(t, s)
			b.saw(what("our budget", "success"), a.Goodput.Mean/a.Offered.Mean)
			b.saw(what("our budget", "load"), a.Amplification.Mean)

			success, load := fleet(row.p, seed, tokens)
			b.saw(what("token bucket", "success"), success)
			b.saw(what("token bucket", "load"), load)
			success, load = fleet(row.p, seed, tenth)
			b.saw(what("breaker at 10 %", "success"), success)
			b.saw(what("breaker at 10 %", "load"), load)
		})
		b.near(what("3 retries", "success"), row.retries, .05, 1)
		b.near(what("3 retries", "load"), row.retryLoad, .05, 1)
		for _, bucket := range []string{"token bucket", "our budget"} {
			b.near(what(bucket, "success"), row.tokens, .05, 1)
			b.near(what(bucket, "load"), row.tokenLoad, .05, 1)
		}
		b.near(what("breaker at 10 %", "success"), row.alone, .05, 1)
		b.near(what("breaker at 10 %", "load"), 1, .05, 1)
	}
}

// tokens is the published bucket.
func tokens() func(fresh bool) bool {
	bucket := 5.
	return func(fresh bool) bool {
		if fresh {
			bucket = min(bucket+.1, 5)
		} else if bucket > 1 {
			bucket--
			return true
		}
		return false
	}
}

// tenth is the published breaker.
func tenth() func(fresh bool) bool {
	calls, failures := 0., 0.
	return func(fresh bool) bool {
		if fresh {
			calls++
			return false
		}
		failures++
		return failures/calls <= .1
	}
}

// fleet plays 800 clients with 250 calls each; may is told of each fresh call,
// and asked after each failure.
func fleet(p float64, seed uint64, client func() (may func(fresh bool) bool)) (success, load float64) {
	s := random.Of(14, seed, math.Float64bits(p))
	for range 800 {
		may := client()
		for range 250 {
			may(true)
			load++
			for s.Float64() < p {
				if !may(false) {
					success--
					break
				}
				load++
			}
			success++
		}
	}
	return success / 200_000, load / 200_000
}

// E15: writers who read a version, write it, and read again if somebody else
// was faster (Brooker, 2015). The jitters are the plan's own, but for the
// decorrelated one: as published it draws beyond the cap and cuts, the plan's
// draws below it, and is done 8 % sooner for it.
func TestE15OptimisticWriters(t *testing.T) {
	slow(t)
	b := open(t, published)
	for _, row := range []struct {
		jitter      retry.Jitter
		time, calls float64
	}{
		{retry.AtOnce, 2014, 2420}, {retry.Constant, 63924, 1871}, {retry.Equal, 6839, 812},
		{retry.Full, 4886, 794}, {retry.Decorrelated, 4691, 1016},
	} {
		ends, calls := fmt.Sprintf("E15: %v, ms", row.jitter), fmt.Sprintf("E15: %v, calls", row.jitter)
		const runs = 200
		seeds(t, func(t *testing.T, seed uint64) {
			took, sent := 0., 0.
			for run := range uint64(runs) {
				last, n := writers(patience(row.jitter, random.Of(150, seed, run)), random.Of(15, seed, run))
				took, sent = took+in(last)/runs, sent+float64(n)/runs
			}
			b.saw(ends, took)
			b.saw(calls, sent)
		})
		b.near(ends, row.time, .05, 3)
		b.near(calls, row.calls, .05, 1)
	}
}

// patience returns how long a writer waits.
func patience(j retry.Jitter, dice random.Stream) func(*writer) time.Duration {
	plan := retry.Config{Base: 5 * ms, Cap: 2 * second, Jitter: j}
	if j == retry.Decorrelated {
		return func(w *writer) time.Duration {
			most := 3 * max(w.last, 5*ms)
			return min(2*second, 5*ms+time.Duration(dice.Float64()*float64(most-5*ms)))
		}
	}
	return func(w *writer) time.Duration { return plan.Wait(w.attempt, w.last, w.seed) }
}

type writer struct {
	seed    uint64
	attempt int
	seen    int32
	last    time.Duration // that it waited
}

// writers lets 100 of them contend for one row, and returns when the last has
// written and how many writes it took.
func writers(wait func(*writer) time.Duration, s random.Stream) (time.Duration, int) {
	const reads, hasRead, writes, hasWritten = 0, 1, 2, 3
	network := random.Normal(10*ms, 2*ms)
	all, version, calls := make([]writer, 100), int32(0), 0
	var a agenda.Agenda
	send := func(kind uint8, who int32, after time.Duration, ok uint32) {
		a.Push(a.Now().Add(after+network.Draw(&s, 0)), kind, who, 0, ok)
	}
	for i := range all {
		all[i].seed = s.Uint64()
		send(reads, int32(i), 0, 0)
	}
	for {
		e, more := a.Pop()
		if !more {
			return time.Duration(a.Now()), calls
		}
		w := &all[e.A]
		switch e.Kind {
		case reads:
			w.seen = version
			send(hasRead, e.A, 0, 0)
		case hasRead:
			send(writes, e.A, 0, 0)
		case writes:
			calls++
			ok := uint32(0)
			if w.seen == version {
				version++
				ok = 1
			}
			send(hasWritten, e.A, 0, ok)
		case hasWritten:
			if e.Gen == 0 {
				w.attempt++
				w.last = wait(w)
				send(reads, e.A, w.last, 0)
			}
		}
	}
}

// E19: clients that throttle themselves send K times what is accepted, and refuse
// the rest at home (Site Reliability Engineering, chapter 21): min(R, K A) are
// sent, and 1 - K A/R refused. Three times what a server can do is offered, evenly, so
// that R is what it is; the throttle looks back as far as the book's, and the
// server has places enough to have something to do whenever it is done.
func TestE19AdaptiveThrottling(t *testing.T) {
	b, form := open(t, published), open(t, forms)
	for _, row := range []struct{ k, want float64 }{{1.1, 1.08}, {1.5, 1.49}, {2, 2}} {
		name, rejects := fmt.Sprintf("E19: K = %v, sent for each accepted", row.k), fmt.Sprintf("adaptive throttling, K = %v, R = 3 A: rejected", row.k)
		seeds(t, func(t *testing.T, seed uint64) {
			a := mustRun(t, sim.Scenario{
				Name: "throttle", Replications: 1, Seed: seed, Duration: 15 * time.Minute, Warmup: 4 * time.Minute,
				Services: []sim.Service{{Name: "server", Workers: 1, Work: random.Constant(10 * ms), Queue: sim.Queue{Places: 50}}},
				Loads: []sim.Load{{Name: "clients", To: sim.Target{Service: "server"}, Rate: 300, Even: true,
					Client: &sim.Client{Throttle: &throttle.Config{K: row.k, Window: 2 * time.Minute, Floor: -1}}}},
			})
			b.saw(name, a.Attempts.Mean/a.Goodput.Mean)
			form.saw(rejects, 1-a.Attempts.Mean/a.Offered.Mean)
		})
		b.near(name, row.want, .05, 1)
		form.near(rejects, 1-row.k/3, .01, 1)
	}
}

// E22: ten workers, a queue of 1,000, callers who ask again with probability
// one half when they find, at the end, that they were too late; ten times slower
// for the first thousand requests. FIFO never catches up for a long time.
func TestE22NewestFirstAfterASpike(t *testing.T) {
	slow(t)
	b := open(t, published)
	for _, row := range []struct {
		name   string
		newest bool
		failed float64
	}{{"E22: newest first, failed", true, .0079}, {"E22: oldest first, failed", false, .0991}} {
		const runs = 4
		seeds(t, func(t *testing.T, seed uint64) {
			var shares []float64
			for run := range uint64(runs) {
				shares = append(shares, ticking(row.newest, random.Of(22, seed, run)))
			}
			b.saw(row.name, record.Over(shares).Mean)
		})
		b.near(row.name, row.failed, .05, 1) // one run's deviation is 1 %
	}
}

// ticking plays a million ticks of the published model, tick by tick: the order
// of what happens within one is part of it.
func ticking(newest bool, s random.Stream) float64 {
	type request struct{ left, since int }
	normal := func(mean float64) float64 { return mean + mean/4*math.Sqrt2*math.Erfinv(2*s.Float64()-1) }
	var queue []request
	workers := make([]*request, 10)
	spike, due, failed, total := 1000, 0.0, 0.0, 0.0
	fail := func() {
		failed++
		if s.Float64() < .5 {
			due++
		}
	}
	for now := range 1_000_000 {
		for due += normal(.1); due > 0; {
			due--
			total++
			work := max(0, normal(50))
			if spike > 0 {
				spike--
				work *= 10
			}
			r := request{left: int(work), since: now}
			free := -1
			for i, w := range workers {
				if w == nil {
					free = i
					break
				}
			}
			switch {
			case free >= 0:
				workers[free] = &r
			case len(queue) < 1000:
				queue = append(queue, r)
			default:
				fail()
			}
		}
		for i, w := range workers {
			if w == nil {
				if n := len(queue); n > 0 {
					next := queue[0]
					if newest {
						next, queue = queue[n-1], queue[:n-1]
					} else {
						queue = queue[1:]
					}
					workers[i] = &next
				}
				continue
			}
			if w.left--; w.left <= 0 {
				if now-w.since >= 1000 {
					fail()
				}
				workers[i] = nil
			}
		}
	}
	return failed / total
}
