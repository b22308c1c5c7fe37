package world

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/random"
)

// A load is a model's load while it runs.
type load struct {
	stream random.Stream // its requests' streams
	draws  random.Stream // when they come
	n      uint64        // requests so far
	at     float64       // the last arrival, in nanoseconds: rounded, a rate would drift
	rate   int           // the rate that holds there
}

// What sends an arrival: it stands in the event's generation.
const (
	byRate uint32 = iota
	byTrace
	byClient
)

// What of a load's random numbers a stream is for.
const (
	requests uint64 = 1 + iota
	arrivals
	thinking
)

func (w *World) addLoads(s random.Stream) {
	for i := range w.m.Loads {
		m := &w.m.Loads[i]
		mine := s.Sub(random.Name("load " + m.Name))
		w.loads = append(w.loads, load{stream: mine.Sub(requests), draws: mine.Sub(arrivals)})
		w.scheduleRate(int32(i))
		for j, a := range m.Trace {
			w.scheduleTrace(int32(i), int32(j), a)
		}
		for c := range m.Clients {
			think := mine.Sub(thinking).Sub(uint64(c))
			w.agenda.Push(policy.Instant(m.Think.Draw(&think, 0)), arrives, int32(i), int32(c), byClient)
		}
	}
}

// scheduleRate draws when the next request comes by itself.
func (w *World) scheduleRate(i int32) {
	l, m := &w.loads[i], &w.m.Loads[i]
	if len(m.Rates) == 0 {
		return
	}
	x := 1.0
	switch {
	case !m.Even:
		x = -math.Log(l.draws.Float64())
	case l.at == 0: // half a distance from the beginning, so that n come in n distances
		x = 0.5
	}
	if l.advance(m.Rates, x) && l.at < float64(w.m.End) {
		w.agenda.Push(policy.Instant(math.Round(l.at)), arrives, i, none, byRate)
	}
}

// advance moves to the instant by which x more requests are expected, and
// reports whether there is one.
func (l *load) advance(rates []Rate, x float64) bool {
	for ; l.rate < len(rates); l.rate++ {
		r, end := &rates[l.rate], math.Inf(1)
		if l.rate+1 < len(rates) {
			end = float64(rates[l.rate+1].From)
		}
		l.at = max(l.at, float64(r.From))
		now := r.PerSecond + r.Slope*(l.at-float64(r.From))/1e9
		long := (end - l.at) / 1e9
		if due := x * 2 / (now + math.Sqrt(max(now*now+2*r.Slope*x, 0))); due < long {
			l.at += due * 1e9
			return true
		}
		x -= now*long + r.Slope*long*long/2
		l.at = end
	}
	return false
}

func (w *World) scheduleTrace(i, j int32, a Arrival) {
	n := max(a.Count, 1)
	for k := range n {
		at := a.At.Add(time.Duration(float64(a.Over) * float64(k) / float64(n)))
		w.agenda.Push(at, arrives, i, j, byTrace)
	}
}

// arrive is a request of a load.
func (w *World) arrive(i, which int32, by uint32) {
	l, m := &w.loads[i], &w.m.Loads[i]
	l.n++
	r := request{id: l.stream.Sub(l.n), number: uint32(l.n - 1), asked: w.now, deadline: policy.Never, load: i, level: m.Level, weight: m.Weight, unsafe: m.Unsafe}
	patience, from := m.Deadline, origin{kind: fromLoad, id: none}
	var patient time.Duration
	switch by {
	case byRate:
		w.scheduleRate(i)
	case byTrace:
		a := &m.Trace[which]
		patient = a.Leaves
		if a.Deadline > 0 {
			patience = a.Deadline
		}
	case byClient:
		from.id = which
	}
	if patience > 0 {
		r.deadline = w.now.Add(patience)
	}
	tenant := some(r.id, m.Tenants, forTenant)
	r.flow = l.flowOf(tenant)
	r.key = int32(some(r.id, m.Keys, forKey))
	w.tally.offered(i, tenant, w.now)
	if w.m.Edges[m.Edge].Guard == none {
		w.askOver(m.Edge, &r, from)
		return
	}
	if id, gen := w.dial(m.Edge, &r, from); patient > 0 {
		w.push(w.now.Add(patient), leaves, id, gen)
	}
}

// some draws one of n for a request: a key, or a tenant.
func some(id random.Stream, n int, purpose uint64) int {
	if n <= 1 {
		return 0
	}
	s := id.Sub(purpose)
	return s.IntN(n)
}

// flowOf returns the hash of a tenant.
func (l *load) flowOf(tenant int) uint32 {
	hash := l.stream.Sub(^uint64(tenant))
	return uint32(hash.Uint64())
}

// tenantOf returns whose request it is: drawn once more, for requests are many
// and have no room for it.
func (w *World) tenantOf(r *request) int {
	id := w.loads[r.load].stream.Sub(uint64(r.number) + 1)
	return some(id, w.m.Loads[r.load].Tenants, forTenant)
}

// served ends a load's request.
func (w *World) served(r *request, client int32, a answer) {
	w.tally.served(r, w.tenantOf(r), a, w.now)
	if client == none {
		return
	}
	think := r.id.Sub(forThink)
	pause := w.m.Loads[r.load].Think.Draw(&think, 0)
	if pause == 0 && w.now == r.asked {
		pause = Breath
	}
	w.agenda.Push(w.now.Add(pause), arrives, r.load, client, byClient)
}

// Breath is how long a client of a closed loop waits at least when it does not
// think and its answer took no time: no program asks again in none, and the
// clock would stand still for ever.
const Breath = time.Millisecond
