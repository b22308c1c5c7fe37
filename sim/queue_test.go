package sim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

const ms = time.Millisecond

// The conventions of the theory: 100 services a second a server.
const (
	mu      = 100.
	service = 10 * ms
)

// A queue is one station of the theory.
type queue struct {
	load    float64 // lambda / (c mu)
	servers int
	law     random.Law
	queue   sim.Queue
	sharing bool
	n       int // services to play, in all replications together
}

// play returns the station's figures for a seed. The longer the queue, the
// longer it takes to fill.
func (q queue) play(t *testing.T, seed uint64) *sim.ArmResult {
	t.Helper()
	const replications = 10
	rate := q.load * float64(q.servers) * mu
	long := time.Duration(float64(q.n)/replications/rate*1e9) * time.Nanosecond
	law := q.law
	if law.IsZero() {
		law = random.Exponential(service)
	}
	r, err := sim.Run(sim.Scenario{
		Name: "queue", Seed: seed, Replications: replications, Duration: long + long/20, Warmup: long / 20,
		Services: []sim.Service{{Name: "server", Workers: q.servers, Work: law, Queue: q.queue, Sharing: q.sharing}},
		Loads:    []sim.Load{{Name: "load", To: sim.Target{Service: "server"}, Rate: rate}},
	}, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Arms[0]
}

// long says why a statistical test is left out, where it is.
func long(t *testing.T) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("millions of services; run without -short")
	case race:
		t.Skip("one goroutine a world and ten times slower under the race detector; run without -race")
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s is %.6g, want %.6g within %.2g %%: %+.2f %%", what, got, want, 100*tolerance, 100*(got/want-1))
	}
}

func seeds(t *testing.T, test func(t *testing.T, seed uint64)) {
	for seed := uint64(1); seed <= 5; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { test(t, seed) })
	}
}

func in(d time.Duration) float64 { return float64(d) / float64(ms) }

// M/M/1: every column of the table, for all five seeds.
func TestMM1(t *testing.T) {
	for _, row := range []struct {
		load                                   float64
		n                                      int
		l, t, wq, p50, p95, p99, p999, waitP99 float64
	}{
		{.5, 5e6, 1, 20, 10, 13.863, 59.915, 92.103, 138.155, 78.240},
		{.8, 20e6, 4, 50, 40, 34.657, 149.787, 230.259, 345.388, 219.101},
		{.9, 40e6, 9, 100, 90, 69.315, 299.573, 460.517, 690.776, 449.981},
	} {
		t.Run(fmt.Sprint(row.load), func(t *testing.T) {
			long(t)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: row.load, servers: 1, queue: sim.Queue{}, n: row.n}.play(t, seed)
				s := &r.Services[0]
				near(t, "L", s.Present.Mean, row.l, .01)
				near(t, "T", in(s.Stay.Mean()), row.t, .01)
				near(t, "Wq", in(s.Wait.Mean()), row.wq, .01)
				near(t, "p50", in(s.Stay.Quantile(.5)), row.p50, .01)
				near(t, "p95", in(s.Stay.Quantile(.95)), row.p95, .01)
				near(t, "p99", in(s.Stay.Quantile(.99)), row.p99, .01)
				near(t, "p99.9", in(s.Stay.Quantile(.999)), row.p999, .02)
				near(t, "p99 of Wq", in(s.Wait.Quantile(.99)), row.waitP99, .01)
			})
		})
	}
}

// M/M/c: Wq = C/(c mu - lambda), with Erlang's C.
func TestMMc(t *testing.T) {
	for _, row := range []struct {
		servers                   int
		load                      float64
		n                         int
		b, c, wq, t, p99, waitP99 float64
	}{
		{2, .8, 20e6, .329897, .711111, 17.7778, 27.7778, 119.374, 106.606},
		{8, .8, 20e6, .144394, .457645, 2.8603, 12.8603, 51.522, 23.897},
		{16, .8, 40e6, .080647, .304884, .9528, 10.9528, 47.350, 10.679},
		{64, .95, 40e6, .066609, .588011, 1.8375, 11.8375, 48.420, 12.732},
	} {
		b, c := erlang(float64(row.servers)*row.load, row.servers)
		near(t, "Erlang B", b, row.b, 1e-5)
		near(t, "Erlang C", c, row.c, 1e-5)
		t.Run(fmt.Sprint(row.servers, " at ", row.load), func(t *testing.T) {
			long(t)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: row.load, servers: row.servers, n: row.n}.play(t, seed)
				s := &r.Services[0]
				near(t, "Wq", in(s.Wait.Mean()), row.wq, .01)
				near(t, "T", in(s.Stay.Mean()), row.t, .01)
				near(t, "p99", in(s.Stay.Quantile(.99)), row.p99, .01)
				near(t, "p99 of Wq", in(s.Wait.Quantile(.99)), row.waitP99, .01)
				near(t, "C", waited(s), row.c, .01)
			})
		})
	}
}

// waited returns the share of requests that had to wait at all.
func waited(s *sim.ServiceResult) float64 {
	for from, b := range s.Wait.Buckets() {
		if from == 0 {
			return 1 - float64(b.Count)/float64(s.Wait.Count())
		}
	}
	return 1
}

// erlang returns Erlang's B and C for an offered load of a and that many
// servers.
func erlang(a float64, servers int) (b, c float64) {
	b = 1
	for k := 1; k <= servers; k++ {
		b = a * b / (float64(k) + a*b)
	}
	return b, b / (1 - a/float64(servers)*(1-b))
}

// M/M/1/K; K counts the one in service.
func TestMM1K(t *testing.T) {
	for _, row := range []struct {
		load     float64
		k        int
		block, t float64
	}{
		{.8, 5, .088819, 25.631}, {1, 10, .090909, 55}, {1.2, 10, .192586, 69.261}, {2, 10, .500244, 90.098},
	} {
		t.Run(fmt.Sprint(row.load, " with ", row.k), func(t *testing.T) {
			long(t)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: row.load, servers: 1, queue: sim.Queue{Places: row.k - 1}, n: 4e6}.play(t, seed)
				s := &r.Services[0]
				near(t, "blocking", float64(s.Refused)/float64(s.Arrived), row.block, .01)
				near(t, "T of the accepted", in(s.Stay.Mean()), row.t, .01)
			})
		})
	}
}

// Erlang B: nobody waits.
func TestErlangB(t *testing.T) {
	for _, row := range []struct {
		offered float64
		servers int
		b       float64
	}{
		{5, 5, .284868}, {10, 10, .214582}, {100, 100, .075700},
	} {
		t.Run(fmt.Sprint(row.servers), func(t *testing.T) {
			long(t)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: row.offered / float64(row.servers), servers: row.servers, queue: sim.Queue{Places: -1}, n: 6e6}.play(t, seed)
				s := &r.Services[0]
				near(t, "blocking", float64(s.Refused)/float64(s.Arrived), row.b, .01)
			})
		})
	}
}

// Pollaczek and Khinchine: Wq = rho (1 + cv^2) S / (2 (1 - rho)).
func TestPollaczekKhinchine(t *testing.T) {
	for _, row := range []struct {
		name string
		law  random.Law
		n    [3]int
		wq   [3]float64 // at .7, .8, .9
	}{
		{"D", random.Constant(service), [3]int{2e6, 5e6, 14e6}, [3]float64{11.667, 20, 45}},
		{"Erlang-4", random.Erlang(4, service), [3]int{2e6, 6e6, 20e6}, [3]float64{14.583, 25, 56.25}},
		{"lognormal", random.Lognormal(service, 1), [3]int{10e6, 20e6, 40e6}, [3]float64{31.713, 54.366, 122.323}},
	} {
		for i, load := range []float64{.7, .8, .9} {
			t.Run(fmt.Sprint(row.name, " at ", load), func(t *testing.T) {
				long(t)
				seeds(t, func(t *testing.T, seed uint64) {
					r := queue{load: load, servers: 1, law: row.law, n: row.n[i]}.play(t, seed)
					near(t, "Wq", in(r.Services[0].Wait.Mean()), row.wq[i], .01)
				})
			})
		}
	}
}

// Processor sharing: T = S/(1 - rho) whatever the law.
func TestProcessorSharing(t *testing.T) {
	hyper, err := random.Parse("hyper 0.9 5ms 0.1 55ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		law  random.Law
		load float64
		n    int
		t    float64
	}{
		{"M", random.Exponential(service), .5, 2e6, 20}, {"M", random.Exponential(service), .8, 8e6, 50},
		{"M", random.Exponential(service), .9, 24e6, 100}, {"D", random.Constant(service), .8, 6e6, 50}, {"hyper", hyper, .8, 10e6, 50},
	} {
		t.Run(fmt.Sprint(row.name, " at ", row.load), func(t *testing.T) {
			long(t)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: row.load, servers: 1, law: row.law, sharing: true, n: row.n}.play(t, seed)
				near(t, "T", in(r.Services[0].Stay.Mean()), row.t, .01)
			})
		})
	}
}

// LIFO has the mean of FIFO, and E[Wq^2] is 1/(1 - rho) times as large.
func TestNewestFirst(t *testing.T) {
	for _, row := range []struct {
		load float64
		n    int
	}{
		{.5, 5e6}, {.8, 30e6},
	} {
		t.Run(fmt.Sprint(row.load), func(t *testing.T) {
			long(t)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: row.load, servers: 1, queue: sim.Queue{Order: sim.Newest}, n: row.n}.play(t, seed)
				w := &r.Services[0].Wait
				mean := row.load * in(service) / (1 - row.load)
				near(t, "Wq", in(w.Mean()), mean, .01)
				squares := in(w.Deviation())*in(w.Deviation()) + in(w.Mean())*in(w.Mean())
				fifo := 2 * row.load * in(service) * in(service) / ((1 - row.load) * (1 - row.load))
				near(t, "E[Wq^2]", squares, fifo/(1-row.load), .03)
			})
		})
	}
}

func sec(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
