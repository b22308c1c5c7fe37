package sim_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
	"github.com/kalan-go/kalan/sim/record"
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

// slow says why a test that takes its time is left out, where it is.
func slow(t *testing.T) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("many seconds of processor time; run without -short")
	case race:
		t.Skip("ten times slower under the race detector, and a world is one goroutine; run without -race")
	}
}

// row is slow, and returns how many services to play and how far the result may
// be off: what the targets say in `make theory`, which sets KALAN_LONG and takes
// many minutes, and a sixteenth of the services with six times the tolerance
// elsewhere: four would be the same precision, and these rows have none to spare.
func row(t *testing.T, n int, tolerance float64) (int, float64) {
	t.Helper()
	slow(t)
	if os.Getenv("KALAN_LONG") == "" {
		return n / 16, 6 * tolerance
	}
	return n, tolerance
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

// A few of the rows below with a twentieth of the services and three times the
// tolerance: for those who do not want to wait.
func TestQueuesInAHurry(t *testing.T) {
	if race {
		t.Skip("half a million services, ten times slower under the race detector; run without -race")
	}
	for _, row := range []struct {
		name string
		q    queue
		wq   float64
	}{
		{"M/M/1", queue{load: .5, servers: 1, n: 3e5}, 10}, {"M/M/8", queue{load: .8, servers: 8, n: 3e5}, 2.8603},
		{"M/D/1", queue{load: .7, servers: 1, law: random.Constant(service), n: 3e5}, 11.667},
		{"newest first", queue{load: .5, servers: 1, queue: sim.Queue{Order: sim.Newest}, n: 3e5}, 10},
	} {
		near(t, row.name+": Wq", in(row.q.play(t, 1).Services[0].Wait.Mean()), row.wq, .03)
	}
	r := queue{load: .5, servers: 1, sharing: true, n: 3e5}.play(t, 1)
	near(t, "processor sharing: T", in(r.Services[0].Stay.Mean()), 20, .03)
	s := queue{load: 1, servers: 5, queue: sim.Queue{Places: -1}, n: 3e5}.play(t, 1).Services[0]
	near(t, "Erlang B", float64(s.Refused)/float64(s.Arrived), .284868, .03)
}

// M/M/1: every column of the table, for all five seeds.
func TestMM1(t *testing.T) {
	for _, want := range []struct {
		load                                   float64
		n                                      int
		l, t, wq, p50, p95, p99, p999, waitP99 float64
	}{
		{.5, 5e6, 1, 20, 10, 13.863, 59.915, 92.103, 138.155, 78.240},
		{.8, 20e6, 4, 50, 40, 34.657, 149.787, 230.259, 345.388, 219.101},
		{.9, 40e6, 9, 100, 90, 69.315, 299.573, 460.517, 690.776, 449.981},
	} {
		t.Run(fmt.Sprint(want.load), func(t *testing.T) {
			n, tolerance := row(t, want.n, .01)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: want.load, servers: 1, queue: sim.Queue{}, n: n}.play(t, seed)
				s := &r.Services[0]
				near(t, "L", s.Present.Mean, want.l, tolerance)
				near(t, "T", in(s.Stay.Mean()), want.t, tolerance)
				near(t, "Wq", in(s.Wait.Mean()), want.wq, tolerance)
				near(t, "p50", in(s.Stay.Quantile(.5)), want.p50, tolerance)
				near(t, "p95", in(s.Stay.Quantile(.95)), want.p95, tolerance)
				near(t, "p99", in(s.Stay.Quantile(.99)), want.p99, tolerance)
				near(t, "p99.9", in(s.Stay.Quantile(.999)), want.p999, 2*tolerance)
				near(t, "p99 of Wq", in(s.Wait.Quantile(.99)), want.waitP99, tolerance)
			})
		})
	}
}

// M/M/c: Wq = C/(c mu - lambda), with Erlang's C. At 64 servers and .95 a seed
// would need 700 million services to be within one per cent; there the five are
// held to it together, and each to its own precision of four.
func TestMMc(t *testing.T) {
	for _, want := range []struct {
		servers                   int
		load                      float64
		n                         int
		b, c, wq, t, p99, waitP99 float64
		tolerance                 float64 // of one seed; all five together have one per cent
	}{
		{2, .8, 20e6, .329897, .711111, 17.7778, 27.7778, 119.374, 106.606, .01},
		{8, .8, 20e6, .144394, .457645, 2.8603, 12.8603, 51.522, 23.897, .01},
		{16, .8, 40e6, .080647, .304884, .9528, 10.9528, 47.350, 10.679, .01},
		{64, .95, 40e6, .066609, .588011, 1.8375, 11.8375, 48.420, 12.732, .04},
	} {
		b, c := erlang(float64(want.servers)*want.load, want.servers)
		near(t, "Erlang B", b, want.b, 1e-5)
		near(t, "Erlang C", c, want.c, 1e-5)
		t.Run(fmt.Sprint(want.servers, " at ", want.load), func(t *testing.T) {
			n, tolerance := row(t, want.n, .01)
			check := func(t *testing.T, wait, stay *record.Histogram, ofWait float64) {
				near(t, "Wq", in(wait.Mean()), want.wq, ofWait)
				near(t, "T", in(stay.Mean()), want.t, tolerance)
				near(t, "p99", in(stay.Quantile(.99)), want.p99, tolerance)
				near(t, "p99 of Wq", in(wait.Quantile(.99)), want.waitP99, ofWait)
				near(t, "C", waited(wait), want.c, tolerance)
			}
			var wait, stay record.Histogram
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: want.load, servers: want.servers, n: n}.play(t, seed)
				s := &r.Services[0]
				wait.Merge(&s.Wait)
				stay.Merge(&s.Stay)
				check(t, &s.Wait, &s.Stay, want.tolerance*tolerance/.01)
			})
			check(t, &wait, &stay, tolerance)
		})
	}
}

// waited returns the share of requests that had to wait at all.
func waited(wait *record.Histogram) float64 {
	for from, b := range wait.Buckets() {
		if from == 0 {
			return 1 - float64(b.Count)/float64(wait.Count())
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
	for _, want := range []struct {
		load     float64
		k        int
		block, t float64
	}{
		{.8, 5, .088819, 25.631}, {1, 10, .090909, 55}, {1.2, 10, .192586, 69.261}, {2, 10, .500244, 90.098},
	} {
		t.Run(fmt.Sprint(want.load, " with ", want.k), func(t *testing.T) {
			n, tolerance := row(t, 4e6, .01)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: want.load, servers: 1, queue: sim.Queue{Places: want.k - 1}, n: n}.play(t, seed)
				s := &r.Services[0]
				near(t, "blocking", float64(s.Refused)/float64(s.Arrived), want.block, tolerance)
				near(t, "T of the accepted", in(s.Stay.Mean()), want.t, tolerance)
			})
		})
	}
}

// Erlang B: nobody waits.
func TestErlangB(t *testing.T) {
	for _, want := range []struct {
		offered float64
		servers int
		b       float64
	}{
		{5, 5, .284868}, {10, 10, .214582}, {100, 100, .075700},
	} {
		t.Run(fmt.Sprint(want.servers), func(t *testing.T) {
			n, tolerance := row(t, 6e6, .01)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: want.offered / float64(want.servers), servers: want.servers, queue: sim.Queue{Places: -1}, n: n}.play(t, seed)
				s := &r.Services[0]
				near(t, "blocking", float64(s.Refused)/float64(s.Arrived), want.b, tolerance)
			})
		})
	}
}

// Pollaczek and Khinchine: Wq = rho (1 + cv^2) S / (2 (1 - rho)).
func TestPollaczekKhinchine(t *testing.T) {
	for _, want := range []struct {
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
			t.Run(fmt.Sprint(want.name, " at ", load), func(t *testing.T) {
				n, tolerance := row(t, want.n[i], .01)
				seeds(t, func(t *testing.T, seed uint64) {
					r := queue{load: load, servers: 1, law: want.law, n: n}.play(t, seed)
					near(t, "Wq", in(r.Services[0].Wait.Mean()), want.wq[i], tolerance)
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
	for _, want := range []struct {
		name string
		law  random.Law
		load float64
		n    int
		t    float64
	}{
		{"M", random.Exponential(service), .5, 2e6, 20}, {"M", random.Exponential(service), .8, 8e6, 50},
		{"M", random.Exponential(service), .9, 24e6, 100}, {"D", random.Constant(service), .8, 6e6, 50}, {"hyper", hyper, .8, 10e6, 50},
	} {
		t.Run(fmt.Sprint(want.name, " at ", want.load), func(t *testing.T) {
			n, tolerance := row(t, want.n, .01)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: want.load, servers: 1, law: want.law, sharing: true, n: n}.play(t, seed)
				near(t, "T", in(r.Services[0].Stay.Mean()), want.t, tolerance)
			})
		})
	}
}

// LIFO has the mean of FIFO, and E[Wq^2] is 1/(1 - rho) times as large.
func TestNewestFirst(t *testing.T) {
	for _, want := range []struct {
		load float64
		n    int
	}{
		{.5, 5e6}, {.8, 30e6},
	} {
		t.Run(fmt.Sprint(want.load), func(t *testing.T) {
			n, tolerance := row(t, want.n, .01)
			seeds(t, func(t *testing.T, seed uint64) {
				r := queue{load: want.load, servers: 1, queue: sim.Queue{Order: sim.Newest}, n: n}.play(t, seed)
				w := &r.Services[0].Wait
				mean := want.load * in(service) / (1 - want.load)
				near(t, "Wq", in(w.Mean()), mean, tolerance)
				squares := in(w.Deviation())*in(w.Deviation()) + in(w.Mean())*in(w.Mean())
				fifo := 2 * want.load * in(service) * in(service) / ((1 - want.load) * (1 - want.load))
				near(t, "E[Wq^2]", squares, fifo/(1-want.load), 3*tolerance)
			})
		})
	}
}

func sec(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// With ten replications the interval of M/M/1 at .8 covers 50 ms, as 95 of 100
// do, and is within half a per cent of it.
func TestTheIntervalCovers(t *testing.T) {
	n, precision := row(t, 40e6, .005)
	covered := 0
	seeds(t, func(t *testing.T, seed uint64) {
		i := queue{load: .8, servers: 1, n: n}.play(t, seed).Services[0].MeanStay
		if i.Covers(50) {
			covered++
		}
		if i.Half > 50*precision {
			t.Errorf("T is %v ms, and no wider than %v of it is wanted", i, precision)
		}
	})
	if covered < 4 {
		t.Errorf("%d of 5 intervals cover 50 ms", covered)
	}
}

// Every counter begins at the gate. A counter that also saw the warm-up, here
// as long as what is counted, would have twice of everything.
func TestOneGate(t *testing.T) {
	slow(t)
	s := sim.Scenario{
		Name: "gate", Replications: 1, Duration: 2000 * second, Warmup: 1000 * second,
		Services: []sim.Service{{Name: "server", Workers: 2, Work: random.Exponential(10 * ms), Queue: sim.Queue{Places: 3}}},
		Loads:    []sim.Load{{Name: "load", To: sim.Target{Service: "server"}, Rate: 250, Client: &sim.Client{Timeout: second}}},
	}
	warm := mustRun(t, s)
	s.Duration, s.Warmup = 1000*second, -1
	cold := mustRun(t, s)
	w, c := &warm.Services[0], &cold.Services[0]
	for what, pair := range map[string][2]float64{
		"arrived": {float64(w.Arrived), float64(c.Arrived)}, "refused": {float64(w.Refused), float64(c.Refused)},
		"finished": {float64(w.Finished), float64(c.Finished)}, "waits": {float64(w.Wait.Count()), float64(c.Wait.Count())},
		"stays": {float64(w.Stay.Count()), float64(c.Stay.Count())}, "present": {w.Present.Mean, c.Present.Mean},
		"utilisation": {w.Utilisation.Mean, c.Utilisation.Mean},
		"offered":     {warm.Offered.Mean, cold.Offered.Mean}, "goodput": {warm.Goodput.Mean, cold.Goodput.Mean},
		"attempts": {warm.Attempts.Mean, cold.Attempts.Mean}, "calls": {float64(warm.Edges[0].Calls), float64(cold.Edges[0].Calls)},
		"latencies": {float64(warm.Latency.Count()), float64(cold.Latency.Count())},
	} {
		near(t, what, pair[0], pair[1], .02)
	}
	if w.Arrived < w.Finished+w.Refused-10 || w.Arrived > w.Finished+w.Refused+10 {
		t.Errorf("%d arrived, %d finished, %d were refused", w.Arrived, w.Finished, w.Refused)
	}
}
