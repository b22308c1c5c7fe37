package world

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim/random"
)

const ms = time.Millisecond

// plain is M/M/1 at .8 of 100 a second, without any policy.
func plain() *Model {
	return &Model{
		Services: []Service{{Name: "server", Instances: 1, Workers: 1, Queue: Queue{Places: -1}}},
		Ops:      []Op{{Kind: Work, Law: random.Exponential(10 * ms)}, {Kind: Done}},
		Edges:    []Edge{{Guard: none, Service: 0}},
		Loads:    []Load{{Name: "load", Edge: 0, Rates: []Rate{{PerSecond: 80}}}},
		End:      policy.Never, Bin: time.Hour, Visits: 1 << 20,
	}
}

// guarded is the same behind a guard with every policy on, for callers with a
// deadline, of a hundred tenants, who try twice.
func guarded() *Model {
	m := plain()
	m.Edges[0].Guard = 0
	m.Loads[0].Deadline = 400 * ms
	m.Loads[0].Tenants = 100
	m.Guards = []Guard{{Processes: 1, Owner: none, Carry: true, Config: stack.Config{
		Exchange: 200 * ms, Limit: limit.Fixed(4), Rate: 1000, Trace: 0,
	}}}
	return m
}

func BenchmarkPlain(b *testing.B)   { benchmark(b, plain()) }
func BenchmarkGuarded(b *testing.B) { benchmark(b, guarded()) }

func benchmark(b *testing.B, m *Model) {
	w := endless(m)
	n := w.tally.Loads[0].Offered
	b.ReportAllocs()
	for b.Loop() {
		w.Step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
	b.ReportMetric(float64(w.tally.Loads[0].Offered-n)/b.Elapsed().Seconds()/1e6, "Mrequests/s")
}

// endless is a world of the model that does not end, in its steady state.
func endless(m *Model) *World {
	m.End = policy.Instant(100 * 365 * 24 * time.Hour)
	m.Bin = 24 * 365 * time.Hour
	w := New(m, random.Of(1))
	for range 200_000 {
		w.Step()
	}
	return w
}

// The loop that others write first: M/M/1 with closures in container/heap.
func BenchmarkBareHeap(b *testing.B) {
	step := bareHeap()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// bareHeap returns what plays one event of that loop.
func bareHeap() func() {
	dice := rand.New(rand.NewPCG(1, 2))
	h := &closures{}
	now, busy, waiting := 0.0, false, 0
	push := func(in float64, do func()) { heap.Push(h, closure{now + in, do}) }
	var arrive, done func()
	arrive = func() {
		push(dice.ExpFloat64()/80, arrive)
		if busy {
			waiting++
			return
		}
		busy = true
		push(dice.ExpFloat64()/100, done)
	}
	done = func() {
		if busy = waiting > 0; busy {
			waiting--
			push(dice.ExpFloat64()/100, done)
		}
	}
	arrive()
	return func() {
		next := heap.Pop(h).(closure)
		now = next.at
		next.do()
	}
}

type closure struct {
	at float64
	do func()
}

type closures []closure

func (h closures) Len() int           { return len(h) }
func (h closures) Less(i, j int) bool { return h[i].at < h[j].at }
func (h closures) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *closures) Push(x any)        { *h = append(*h, x.(closure)) }
func (h *closures) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func TestNoEventAllocates(t *testing.T) {
	if race {
		t.Skip("the race detector allocates by itself; run without -race")
	}
	cached := guarded()
	cached.Caches = []Cache{{Keys: 50, Lifetime: time.Second, Beta: 1, OneFlight: true, Spread: .2}}
	cached.Ops = []Op{{Kind: Look, Jump: 3}, {Kind: Work, Law: random.Exponential(10 * ms)}, {Kind: Store}, {Kind: Done}}
	cached.Loads[0].Keys = 50
	sharing := plain()
	sharing.Services[0].Shared = true
	for name, m := range map[string]*Model{"plain": plain(), "guarded": guarded(), "cached": cached, "sharing": sharing} {
		w := endless(m)
		if n := testing.AllocsPerRun(100_000, func() { w.Step() }); n != 0 {
			t.Errorf("%s: %v allocations an event", name, n)
		}
	}
}
