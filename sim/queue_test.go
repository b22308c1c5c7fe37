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

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s is %.6g, want %.6g within %.2g %%: %+.2f %%", what, got, want, 100*tolerance, 100*(got/want-1))
	}
}

// seeds plays a test for seeds 1 to 5, and for the first one where nobody waits.
func seeds(t *testing.T, test func(t *testing.T, seed uint64)) {
	for seed := uint64(1); seed <= 5; seed++ {
		if seed > 1 && (testing.Short() || race) {
			return
		}
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

// A station's figure, and how many millions of services it takes to know it
// within a quarter of its tolerance: what four standard errors need. They were measured
// over 60 runs each, as services x (4 deviation / tolerance)^2; for the Wq and L of M/M/1
// that is what theory says, rho (2 + 5 rho - 4 rho^2 + rho^3)/(1 - rho)^4 and
// 2 (1 + rho)/(1 - rho)^2 variances a service, in units of S^2 and of L^2.
type metric struct {
	name  string
	want  float64
	needs float64 // 0: at most what is wanted
	of    func(*sim.ServiceResult) float64
}

func present(s *sim.ServiceResult) float64  { return s.Present.Mean }
func stay(s *sim.ServiceResult) float64     { return in(s.Stay.Mean()) }
func wait(s *sim.ServiceResult) float64     { return in(s.Wait.Mean()) }
func blocking(s *sim.ServiceResult) float64 { return float64(s.Refused) / float64(s.Arrived) }
func squares(s *sim.ServiceResult) float64 {
	return in(s.Wait.Deviation())*in(s.Wait.Deviation()) + in(s.Wait.Mean())*in(s.Wait.Mean())
}

func stays(q float64) func(*sim.ServiceResult) float64 {
	return func(s *sim.ServiceResult) float64 { return in(s.Stay.Quantile(q)) }
}

func waits(q float64) func(*sim.ServiceResult) float64 {
	return func(s *sim.ServiceResult) float64 { return in(s.Wait.Quantile(q)) }
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

// hold plays so many millions of services for each seed, as many as all seeds
// together need for every figure, or, in make theory, as each needs for itself.
func (q queue) hold(t *testing.T, name string, millions float64, metrics ...metric) {
	t.Run(name, func(t *testing.T) {
		slow(t)
		if long {
			for _, m := range metrics {
				millions = max(millions, min(m.needs, 400))
			}
		}
		q.n = int(millions * 1e6)
		b := open(t, theory)
		seeds(t, func(t *testing.T, seed uint64) {
			s := &q.play(t, seed).Services[0]
			for _, m := range metrics {
				b.saw(name+": "+m.name, m.of(s))
			}
		})
		for _, m := range metrics {
			if m.needs == 0 {
				b.between(name+": "+m.name, "0.25", math.Inf(-1), m.want)
				b.together(name+": "+m.name+", together", 0, .25, m.want-.25)
				continue
			}
			tolerance := .01
			if m.name == "p99.9, ms" {
				tolerance = .02
			}
			b.near(name+": "+m.name, m.want, tolerance, m.needs/millions)
		}
	})
}

const precision = "half width of T's interval of ten replications, ms"

// M/M/1: every column of the table, for all five seeds.
func TestMM1(t *testing.T) {
	for _, row := range []struct {
		load, millions float64
		want, needs    [8]float64
	}{
		{.5, 12, [8]float64{1, 20, 10, 13.863, 59.915, 92.103, 138.155, 78.240}, [8]float64{2, 2, 5, 2, 3, 9, 10, 12}},
		{.8, 34, [8]float64{4, 50, 40, 34.657, 149.787, 230.259, 345.388, 219.101}, [8]float64{15, 15, 21, 10, 27, 65, 125, 72}},
		{.9, 72, [8]float64{9, 100, 90, 69.315, 299.573, 460.517, 690.776, 449.981}, [8]float64{61, 60, 72, 36, 140, 310, 360, 325}},
	} {
		var metrics []metric
		for i, of := range []func(*sim.ServiceResult) float64{present, stay, wait, stays(.5), stays(.95), stays(.99), stays(.999), waits(.99)} {
			name := []string{"L", "T, ms", "Wq, ms", "p50, ms", "p95, ms", "p99, ms", "p99.9, ms", "p99 of Wq, ms"}[i]
			metrics = append(metrics, metric{name, row.want[i], row.needs[i], of})
		}
		if row.load == .8 {
			// The precision of ten replications, half a per cent: at 80 variances
			// a service and with Student's 2.26 that is .174 ms on average. One
			// such width has a deviation of a quarter, so four of them for a
			// seed are .34, and for the mean of five .25.
			metrics = append(metrics, metric{name: precision, want: .34, of: func(s *sim.ServiceResult) float64 { return s.MeanStay.Half }})
		}
		queue{load: row.load, servers: 1}.hold(t, fmt.Sprint("M/M/1 at ", row.load), row.millions, metrics...)
	}
}

// M/M/c: Wq = C/(c mu - lambda), with Erlang's C.
func TestMMc(t *testing.T) {
	for _, row := range []struct {
		servers        int
		load, millions float64
		b              float64
		want, needs    [5]float64 // C, Wq, T, p99, p99 of Wq
	}{
		{2, .8, 15.5, .329897, [5]float64{.711111, 17.7778, 27.7778, 119.374, 106.606}, [5]float64{1, 26, 12, 60, 75}},
		{8, .8, 19, .144394, [5]float64{.457645, 2.8603, 12.8603, 51.522, 23.897}, [5]float64{6, 60, 4, 6, 95}},
		{16, .8, 29, .080647, [5]float64{.304884, .9528, 10.9528, 47.350, 10.679}, [5]float64{16, 115, 2, 1, 145}},
		{64, .95, 11, .066609, [5]float64{.588011, 1.8375, 11.8375, 48.420, 12.732}, [5]float64{55, 680, 19, 5, 1150}},
	} {
		name := fmt.Sprintf("M/M/%d at %v", row.servers, row.load)
		b, c := erlang(float64(row.servers)*row.load, row.servers)
		near(t, "Erlang B", b, row.b, 1e-5)
		near(t, "Erlang C", c, row.want[0], 1e-5)
		var metrics []metric
		for i, of := range []func(*sim.ServiceResult) float64{waited, wait, stay, stays(.99), waits(.99)} {
			metrics = append(metrics, metric{[]string{"C", "Wq, ms", "T, ms", "p99, ms", "p99 of Wq, ms"}[i], row.want[i], row.needs[i], of})
		}
		queue{load: row.load, servers: row.servers}.hold(t, name, row.millions, metrics...)
	}
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
		load            float64
		k               int
		block, t, needs float64
	}{
		{.8, 5, .088819, 25.631, 6}, {1, 10, .090909, 55, 12}, {1.2, 10, .192586, 69.261, 4}, {2, 10, .500244, 90.098, 1},
	} {
		queue{load: row.load, servers: 1, queue: sim.Queue{Places: row.k - 1}}.hold(t, fmt.Sprintf("M/M/1/%d at %v", row.k, row.load), min(row.needs, 4),
			metric{"blocking", row.block, row.needs, blocking}, metric{"T of the accepted, ms", row.t, min(row.needs, 2), stay})
	}
}

// Erlang B: nobody waits. The servers of M/M/c lose by the same formula when
// nobody may wait, so the column B of their table is played here.
func TestErlangB(t *testing.T) {
	for _, row := range []struct {
		offered            float64
		servers            int
		b, needs, millions float64
	}{
		{5, 5, .284868, 1, 1}, {10, 10, .214582, 2, 2}, {100, 100, .075700, 28, 6},
		{1.6, 2, .329897, 1, 1}, {6.4, 8, .144394, 4, 2}, {12.8, 16, .080647, 9, 3}, {60.8, 64, .066609, 30, 6},
	} {
		queue{load: row.offered / float64(row.servers), servers: row.servers, queue: sim.Queue{Places: -1}}.hold(t,
			fmt.Sprintf("Erlang B, %v for %d", row.offered, row.servers), row.millions, metric{"blocking", row.b, row.needs, blocking})
	}
}

// Pollaczek and Khinchine: Wq = rho (1 + cv^2) S / (2 (1 - rho)).
func TestPollaczekKhinchine(t *testing.T) {
	for _, row := range []struct {
		name                string
		law                 random.Law
		wq, needs, millions [3]float64 // at .7, .8, .9
	}{
		{"M/D/1", random.Constant(service), [3]float64{11.667, 20, 45}, [3]float64{4.5, 9, 37}, [3]float64{4.5, 4, 8}},
		{"M/Erlang-4/1", random.Erlang(4, service), [3]float64{14.583, 25, 56.25}, [3]float64{6, 13.5, 46}, [3]float64{6, 5, 10}},
		{"M/lognormal/1", random.Lognormal(service, 1), [3]float64{31.713, 54.366, 122.323}, [3]float64{23, 38, 104}, [3]float64{5, 8, 21}},
	} {
		for i, load := range []float64{.7, .8, .9} {
			queue{load: load, servers: 1, law: row.law}.hold(t, fmt.Sprintf("%s at %v", row.name, load), row.millions[i],
				metric{"Wq, ms", row.wq[i], row.needs[i], wait})
		}
	}
}

// Processor sharing: T = S/(1 - rho) whatever the law.
func TestProcessorSharing(t *testing.T) {
	for _, row := range []struct {
		name                     string
		law                      random.Law
		load, t, needs, millions float64
	}{
		{"exponential", random.Exponential(service), .5, 20, 2, 2}, {"exponential", random.Exponential(service), .8, 50, 15, 5},
		{"exponential", random.Exponential(service), .9, 100, 60, 12}, {"constant", random.Constant(service), .8, 50, 6, 6},
		{"hyperexponential", mustLaw(t, "hyper 0.9 5ms 0.1 55ms"), .8, 50, 43, 9},
	} {
		queue{load: row.load, servers: 1, law: row.law, sharing: true}.hold(t, fmt.Sprintf("processor sharing, %s, at %v", row.name, row.load), row.millions,
			metric{"T, ms", row.t, row.needs, stay})
	}
}

// LIFO has the mean of FIFO, and E[Wq^2] is 1/(1 - rho) times as large.
func TestNewestFirst(t *testing.T) {
	for _, row := range []struct {
		load, millions, mean, squares float64
	}{{.5, 11, 5, 52}, {.8, 9, 21, 380}} {
		mean := row.load * in(service) / (1 - row.load)
		fifo := 2 * row.load * in(service) * in(service) / ((1 - row.load) * (1 - row.load))
		queue{load: row.load, servers: 1, queue: sim.Queue{Order: sim.Newest}}.hold(t, fmt.Sprint("M/M/1 at ", row.load, ", newest first"), row.millions,
			metric{"Wq, ms", mean, row.mean, wait}, metric{"E[Wq^2], ms^2", fifo / (1 - row.load), row.squares, squares})
	}
}

func sec(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Of a hundred intervals of ten short replications 95 cover 50 ms, for each seed.
func TestTheIntervalCovers(t *testing.T) {
	slow(t)
	b := open(t, theory)
	const row = "M/M/1 at 0.8: intervals of a hundred that cover T"
	seeds(t, func(t *testing.T, seed uint64) {
		covered := 0.
		for i := range uint64(100) {
			if (queue{load: .8, servers: 1, n: 1e5}).play(t, 1000*seed+i).Services[0].MeanStay.Covers(50) {
				covered++
			}
		}
		b.saw(row, covered)
	})
	b.between(row, "95", 95-4*2.18, 100) // 2.18: the deviation of a hundred coins of .95
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
	b := open(t, theory)
	b.saw("one gate for warm-up: blocking, from a cold start as after a long one", float64(w.Refused)/float64(w.Arrived)/(float64(c.Refused)/float64(c.Arrived)))
	b.between("one gate for warm-up: blocking, from a cold start as after a long one", "1", .98, 1.02)
	if w.Arrived < w.Finished+w.Refused-10 || w.Arrived > w.Finished+w.Refused+10 {
		t.Errorf("%d arrived, %d finished, %d were refused", w.Arrived, w.Finished, w.Refused)
	}
}
