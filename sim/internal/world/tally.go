package world

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/sim/record"
)

// A Tally is what was counted in one run. All of it counts from the model's
// gate on, but for the series, which show the whole run.
type Tally struct {
	from     policy.Instant
	Loads    []LoadTally
	Edges    []EdgeTally
	Services []ServiceTally
	Caches   []CacheTally

	bin    time.Duration
	Asked  [][]Bin // by load: what became of the requests that came in each bin
	Queues [][]Sample
	Guards [][]GuardSample

	Journals [][]policy.Event
	Events   uint64
	Hash     uint64
}

// A LoadTally counts the requests of a load.
type LoadTally struct {
	Offered  uint64
	Good     uint64 // answered, also with an error of the caller's
	Business uint64
	Failed   uint64
	Refused  uint64
	Attempts uint64
	Why      [policy.Reasons]uint64
	Latency  record.Histogram // of the good
	// Tenants are the first of several: all ask as often, so that some stand
	// for the others. One is not counted by itself.
	Tenants []TenantTally
}

// MostTenants is how many tenants of a load are told apart in a tally.
const MostTenants = 1000

// A TenantTally counts the requests of one of a load's tenants.
type TenantTally struct {
	Offered, Good, Refused, Late, Failed uint32 // those that are late have not failed
}

// An EdgeTally counts the calls over an edge.
type EdgeTally struct {
	Calls, Attempts, Failed uint64
	Refused                 [policy.Reasons]uint64
}

// A ServiceTally counts what a service did.
type ServiceTally struct {
	from     policy.Instant
	Arrived  uint64
	Refused  uint64 // at the door
	Dropped  uint64 // from the queue
	Finished uint64
	Longest  int     // queue
	Present  float64 // nanoseconds, summed over all who were in it
	Busy     float64 // and over all who had a worker
	Worked   time.Duration
	Wasted   time.Duration    // of it, for nobody
	Wait     record.Histogram // for a worker
	Stay     record.Histogram
}

// A CacheTally counts what a cache was asked.
type CacheTally struct {
	Hits, Misses, Waited uint64
	Early                uint64        // loads of values that were still good
	Rounds               uint64        // loads that began when nobody was loading
	Lead                 time.Duration // of rounds before the value's end, summed
}

// A Bin is what became of the requests of a load that came in one stretch of
// time, and how many attempts it sent in it.
type Bin struct {
	Offered, Good, Attempts, Answered uint32
}

// A Sample is what a service looked like at the end of a stretch of time.
type Sample struct {
	Waiting, Busy int32
}

// A GuardSample is what the guards of one kind looked like, over all processes.
type GuardSample struct {
	Limit, InFlight, Waiting, Open int32
}

func newTally(m *Model) *Tally {
	bins := int(time.Duration(m.End)/m.Bin) + 1
	t := &Tally{
		Loads: make([]LoadTally, len(m.Loads)), Edges: make([]EdgeTally, len(m.Edges)),
		Services: make([]ServiceTally, len(m.Services)), Caches: make([]CacheTally, len(m.Caches)), bin: m.Bin,
	}
	for i := range m.Loads {
		t.Asked = append(t.Asked, make([]Bin, bins))
		if n := min(m.Loads[i].Tenants, MostTenants); n > 1 {
			t.Loads[i].Tenants = make([]TenantTally, n)
		}
	}
	for range m.Services {
		t.Queues = append(t.Queues, make([]Sample, 0, bins))
	}
	for range m.Guards {
		t.Guards = append(t.Guards, make([]GuardSample, 0, bins))
	}
	return t
}

// begin sets every count to 0 at once. A counter that began earlier than its
// neighbour would be the whole warm-up ahead of it.
func (t *Tally) begin(now policy.Instant) {
	t.from = now
	for i := range t.Loads {
		l := &t.Loads[i]
		l.Latency.Reset()
		clear(l.Tenants)
		*l = LoadTally{Latency: l.Latency, Tenants: l.Tenants}
	}
	clear(t.Edges)
	clear(t.Caches)
	for i := range t.Services {
		s := &t.Services[i]
		s.Wait.Reset()
		s.Stay.Reset()
		*s = ServiceTally{from: now, Wait: s.Wait, Stay: s.Stay}
	}
}

func (t *Tally) binOf(load int32, at policy.Instant) *Bin {
	return &t.Asked[load][min(int(time.Duration(at)/t.bin), len(t.Asked[load])-1)]
}

func (t *Tally) offered(load int32, tenant int, now policy.Instant) {
	t.Loads[load].Offered++
	t.binOf(load, now).Offered++
	if who := t.Loads[load].tenant(tenant); who != nil {
		who.Offered++
	}
}

// tenant returns the count of a tenant, nil when it has none.
func (l *LoadTally) tenant(i int) *TenantTally {
	if i >= len(l.Tenants) {
		return nil
	}
	return &l.Tenants[i]
}

// Late reports whether it is time that an attempt ran out of.
func Late(why policy.Reason) bool { return why == policy.Timeout || why == policy.Expired }

func (t *TenantTally) served(a answer) {
	switch {
	case a.result == OK || a.result == Business:
		t.Good++
	case a.result == Refused:
		t.Refused++
	case Late(a.why):
		t.Late++
	default:
		t.Failed++
	}
}

func (t *Tally) served(r *request, tenant int, a answer, now policy.Instant) {
	l := &t.Loads[r.load]
	if who := l.tenant(tenant); who != nil {
		who.served(a)
	}
	switch a.result {
	case OK, Business:
		l.Good++
		l.Latency.Add(now.Sub(r.asked))
		t.binOf(r.load, r.asked).Good++
		t.binOf(r.load, now).Answered++
		if a.result == Business {
			l.Business++
		}
		return
	case Refused:
		l.Refused++
	default:
		l.Failed++
	}
	l.Why[a.why]++
}

func (t *Tally) launched(edge int32, r *request, from origin, now policy.Instant) {
	t.Edges[edge].Attempts++
	if from.kind == fromLoad {
		t.Loads[r.load].Attempts++
		t.binOf(r.load, now).Attempts++
	}
}

func (t *Tally) hungUp(edge int32, c *call, a answer) {
	if a.result >= Failed {
		t.Edges[edge].Failed++
		t.Edges[edge].Refused[c.Why()]++
	}
}

func (t *Tally) worked(service int32, d time.Duration, inVain bool) {
	s := &t.Services[service]
	s.Worked += d
	if inVain {
		s.Wasted += d
	}
}

// sample notes what everything looks like at the end of a bin.
func (w *World) sample() {
	w.nextBin = w.nextBin.Add(w.m.Bin)
	for i := range w.services {
		var s Sample
		first := w.services[i].first
		for n := range int32(w.m.Services[i].Instances) {
			in := &w.instances[first+n]
			s.Waiting += int32(in.waiting)
			s.Busy += int32(in.busy)
		}
		w.tally.Queues[i] = append(w.tally.Queues[i], s)
	}
	for i := range w.firstOf {
		w.tally.Guards[i] = append(w.tally.Guards[i], w.sampleGuards(i))
	}
}

func (w *World) sampleGuards(i int) (s GuardSample) {
	first := w.firstOf[i]
	for n := range int32(w.m.Guards[i].Processes) {
		shot := w.guards[first+n].stack.Snapshot(w.now)
		s.Limit += int32(shot.Limit)
		s.InFlight += int32(shot.InFlight)
		s.Waiting += int32(shot.Waiting)
		if shot.Breaker.State != breaker.Closed {
			s.Open++
		}
	}
	return s
}

// close counts what is still going on at the end.
func (w *World) close() {
	for w.now >= w.nextBin {
		w.sample()
	}
	for i := range w.instances {
		in := &w.instances[i]
		in.change(w.now, 0, &w.tally.Services[in.service])
	}
	for i := range w.guards {
		w.tally.Journals = append(w.tally.Journals, w.guards[i].trace)
	}
	w.tally.Events, w.tally.Hash = w.agenda.Popped(), w.agenda.Hash()
}
