package world

import (
	"fmt"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
	"github.com/kalan-go/kalan/sim/random"
)

// Random systems under random trouble: services that call each other in every
// way, caches, guards, restarts in the middle of everything. After each event the
// world's books are balanced, and when nobody asks any more it comes to rest with
// nothing left over.
func TestRandomWorldsKeepTheirBooks(t *testing.T) {
	seeds := 400
	if testing.Short() {
		seeds = 60
	}
	var seen Tally
	for seed := range uint64(seeds) {
		m := randomModel(random.Of(seed, random.Name("model")))
		w := New(m, random.Of(seed))
		for n := 0; w.Step(); n++ {
			if n%17 == 0 {
				if err := w.balance(); err != nil {
					t.Fatalf("seed %d, event %d at %v: %v", seed, n, w.now, err)
				}
			}
		}
		if err := w.rest(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		seen.add(w.tally)
	}
	for what, n := range map[string]uint64{
		"answers": seen.Loads[0].Good, "failures": seen.Loads[0].Failed, "refusals": seen.Loads[0].Refused,
		"requests dropped": seen.Services[0].Dropped, "requests refused at a door": seen.Services[0].Refused,
		"hits": seen.Caches[0].Hits, "who waits for a load": seen.Caches[0].Waited, "early refreshes": seen.Caches[0].Early,
	} {
		if n < 100 {
			t.Errorf("only %d %s in all worlds", n, what)
		}
	}
}

func (t *Tally) add(o *Tally) {
	if t.Loads == nil {
		t.Loads, t.Services, t.Caches = make([]LoadTally, 1), make([]ServiceTally, 1), make([]CacheTally, 1)
	}
	for i := range o.Loads {
		t.Loads[0].Good += o.Loads[i].Good
		t.Loads[0].Failed += o.Loads[i].Failed
		t.Loads[0].Refused += o.Loads[i].Refused
	}
	for i := range o.Services {
		t.Services[0].Dropped += o.Services[i].Dropped
		t.Services[0].Refused += o.Services[i].Refused
	}
	for i := range o.Caches {
		t.Caches[0].Hits += o.Caches[i].Hits
		t.Caches[0].Waited += o.Caches[i].Waited
		t.Caches[0].Early += o.Caches[i].Early
	}
}

// randomModel makes a chain of up to four services, each of which calls those
// behind it, and two loads that stop after a minute of the hour.
func randomModel(s random.Stream) *Model {
	often := func(p float64) bool { return s.Float64() < p }
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(s.IntN(int(high-low))) }
	m := &Model{End: policy.Instant(time.Hour), Bin: time.Minute, Visits: 1 << 20, Caches: []Cache{{
		Keys: 1 + s.IntN(20), Lifetime: between(100*ms, 5*time.Second), Spread: .2 * s.Float64(),
		Beta: float64(s.IntN(2)), OneFlight: often(.6), Warm: often(.5), Loading: 20 * ms,
	}}}
	if often(.3) {
		m.Gate = policy.Instant(between(0, 20*time.Second))
	}
	n := 1 + s.IntN(4)
	for i := range int32(n) {
		m.Services = append(m.Services, randomService(&s, i))
	}
	scripts := make([]int32, n)
	for i := int32(n) - 1; i >= 0; i-- { // those behind have their scripts already
		scripts[i] = int32(len(m.Ops))
		m.addScript(&s, i, scripts)
	}
	instances := int32(0)
	for i := range m.Services {
		for range m.Services[i].Instances {
			m.addTrouble(&s, instances)
			instances++
		}
	}
	for i := range 2 {
		g := none
		if often(.7) {
			g = m.addGuard(&s, none, 1+s.IntN(3))
		}
		l := Load{
			Name: fmt.Sprint(i), Edge: int32(len(m.Edges)), Even: often(.3), Tenants: 1 + s.IntN(5), Keys: 1 + s.IntN(30),
			Level: uint8(s.IntN(3)), Unsafe: often(.2),
			Rates: []Rate{{PerSecond: 1 + 40*s.Float64()}, {From: policy.Instant(30 * time.Second), PerSecond: 60, Slope: -2}, {From: policy.Instant(time.Minute)}},
			Trace: []Arrival{{At: policy.Instant(between(0, 50*time.Second)), Count: 1 + s.IntN(200), Over: between(0, 5*time.Second), Leaves: between(0, time.Second)}},
		}
		if g != none && often(.6) {
			l.Deadline = between(10*ms, 3*time.Second)
		}
		m.Edges = append(m.Edges, Edge{Guard: g, Service: 0, Script: scripts[0]})
		m.Loads = append(m.Loads, l)
	}
	return m
}

func randomService(s *random.Stream, i int32) Service {
	often := func(p float64) bool { return s.Float64() < p }
	v := Service{
		Name: fmt.Sprint(i), Instances: 1 + s.IntN(3), Workers: s.IntN(6), Shared: often(.15), Cancels: often(.4), Business: .1 * s.Float64(),
		Queue: Queue{Newest: often(.3), Places: s.IntN(40) - 1, Expired: often(.4), Interval: 100 * ms},
	}
	if often(.3) {
		v.Queue.Target = 5 * ms
	}
	if often(.3) {
		v.Network = random.Exponential(5 * ms)
	}
	if often(.2) {
		v.Accept = &bucket.Config{Rate: 20}
	}
	if often(.2) && !v.Shared {
		v.Crowding = ms
	}
	if often(.4) {
		v.Errors = []Share{{From: policy.Instant(10 * time.Second), To: policy.Instant(20 * time.Second), P: s.Float64()}}
	}
	if often(.4) {
		v.Speeds = []Speed{{From: policy.Instant(15 * time.Second), To: policy.Instant(18 * time.Second), Rate: s.Float64(), Instance: s.IntN(3) - 1},
			{From: policy.Instant(17 * time.Second), To: policy.Instant(25 * time.Second), Instance: -1}}
	}
	return v
}

// addScript lets a service work, and call those behind it: one after the other,
// at the same time, through a cache, with a guard and without.
func (m *Model) addScript(s *random.Stream, i int32, scripts []int32) {
	work := func() {
		m.Ops = append(m.Ops, Op{Kind: Work, Law: random.Exponential(time.Duration(1+s.IntN(40)) * ms)})
	}
	cached := i == 0 && s.Float64() < .5
	at := len(m.Ops)
	if cached {
		m.Ops = append(m.Ops, Op{Kind: Look, N: 0})
	}
	work()
	if behind := int32(len(scripts)) - 1 - i; behind > 0 {
		n := int32(1 + s.IntN(3))
		optional := s.Float64() < .2
		for k := range n {
			to := i + 1 + int32(s.IntN(int(behind)))
			g := none
			if s.Float64() < .7 {
				g = m.addGuard(s, i, m.Services[i].Instances)
			}
			m.Edges = append(m.Edges, Edge{Guard: g, Service: to, Script: scripts[to]})
			m.Ops = append(m.Ops, Op{Kind: Ask, Edge: int32(len(m.Edges) - 1), N: n - k, Optional: optional})
		}
	}
	if cached {
		m.Ops = append(m.Ops, Op{Kind: Store, N: 0})
		m.Ops[at].Jump = int32(len(m.Ops))
	}
	if s.Float64() < .3 {
		work()
	}
	m.Ops = append(m.Ops, Op{Kind: Done})
}

func (m *Model) addGuard(s *random.Stream, owner int32, processes int) int32 {
	often := func(p float64) bool { return s.Float64() < p }
	g := Guard{Owner: owner, Processes: processes, Carry: often(.6), Margin: time.Duration(s.IntN(5)) * ms, Inline: often(.2), Mark: often(.2), Config: stack.Config{
		Exchange: time.Duration(20+s.IntN(500)) * ms, Checkout: time.Duration(1+s.IntN(200)) * ms,
		Limit: limit.Fixed(1 + s.IntN(8)), Room: room.Config{Waiting: 1 + s.IntN(30)},
		Retry: retry.Config{Attempts: 1 + s.IntN(3), Base: 10 * ms}, Cancels: often(.4),
	}}
	if often(.3) {
		g.Config.Limit = limit.Config{}
	}
	if often(.2) {
		g.Config.Retry.Hedge.After = 30 * ms
	}
	if often(.2) {
		g.Config.Throttle = &throttle.Config{K: 1.2}
	}
	m.Guards = append(m.Guards, g)
	return int32(len(m.Guards) - 1)
}

// addTrouble lets one thing happen to an instance, or none.
func (m *Model) addTrouble(s *random.Stream, instance int32) {
	at := policy.Instant(5*time.Second + time.Duration(s.IntN(int(40*time.Second))))
	long := time.Duration(s.IntN(int(3 * time.Second)))
	switch s.IntN(5) {
	case 0:
		m.Upsets = append(m.Upsets, Upset{Kind: Kill, At: at, Of: instance}, Upset{Kind: Unlist, At: at + 1, Of: instance},
			Upset{Kind: Rise, At: at.Add(long), Of: instance}, Upset{Kind: List, At: at.Add(long) + 1, Of: instance})
	case 1:
		m.Upsets = append(m.Upsets, Upset{Kind: Unlist, At: at, Of: instance}, Upset{Kind: Close, At: at.Add(long), Of: instance},
			Upset{Kind: Kill, At: at.Add(2 * long), Of: instance}, Upset{Kind: Rise, At: at.Add(3 * long), Of: instance}, Upset{Kind: List, At: at.Add(3*long) + 1, Of: instance})
	case 2:
		m.Upsets = append(m.Upsets, Upset{Kind: Freeze, At: at, To: at.Add(long), Of: instance})
	case 3:
		m.Upsets = append(m.Upsets, Upset{Kind: Flush, At: at})
	}
}

// balance compares every count with what it counts.
func (w *World) balance() error {
	live := 0
	waiting, busy := make([]int, len(w.instances)), make([]int, len(w.instances))
	loaders := map[int32]int{}
	for id := range w.visits {
		v := &w.visits[id]
		if v.state == unused {
			continue
		}
		live++
		switch v.state {
		case queued:
			waiting[v.instance]++
		case serving:
			busy[v.instance]++
		}
		if v.loads > 0 {
			loaders[v.loads-1]++
		}
	}
	if live != w.live {
		return fmt.Errorf("%d visits, and %d are counted", live, w.live)
	}
	for i := range w.instances {
		in, sv := &w.instances[i], &w.m.Services[w.instances[i].service]
		switch {
		case in.waiting != waiting[i] || in.busy != busy[i] || in.present != waiting[i]+busy[i]:
			return fmt.Errorf("instance %d: %d wait and %d are served; counted %d, %d and %d present", i, waiting[i], busy[i], in.waiting, in.busy, in.present)
		case sv.Workers > 0 && !sv.Shared && in.waiting > 0 && in.busy < sv.Workers:
			return fmt.Errorf("instance %d: %d wait although %d of %d workers are free", i, in.waiting, sv.Workers-in.busy, sv.Workers)
		case sv.Queue.Places >= 0 && in.waiting > sv.Queue.Places:
			return fmt.Errorf("instance %d: %d wait on %d places", i, in.waiting, sv.Queue.Places)
		}
	}
	for i := range w.caches {
		n := 0
		for k := range w.caches[i].entries {
			n += int(w.caches[i].entries[k].loaders)
		}
		if n != loaders[int32(i)] {
			return fmt.Errorf("cache %d: %d load, %d are counted", i, loaders[int32(i)], n)
		}
	}
	return nil
}

// rest says what is left over at the end, a minute after the last request.
func (w *World) rest() error {
	if w.live != 0 {
		return fmt.Errorf("%d visits are left over", w.live)
	}
	for id := range w.calls {
		if w.calls[id].used {
			return fmt.Errorf("call %d is left over", id)
		}
	}
	for i := range w.guards {
		if s := w.guards[i].stack.Snapshot(w.now); s.InFlight != 0 || s.Waiting != 0 {
			return fmt.Errorf("guard %d has %d in flight and %d waiting", i, s.InFlight, s.Waiting)
		}
	}
	for i := range w.tally.Loads {
		if l := &w.tally.Loads[i]; w.m.Gate == 0 && l.Offered != l.Good+l.Failed+l.Refused {
			return fmt.Errorf("load %d: %d came, %d were answered, %d failed, %d were refused", i, l.Offered, l.Good, l.Failed, l.Refused)
		}
	}
	return nil
}
