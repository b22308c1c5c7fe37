package room

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

var forever = Item{Until: policy.Never, Deadline: policy.Never, Level: 1}

// O-02: a waiter that leaves or expires is never granted, at the same instant
// neither, and no place is lost.
func TestNobodyIsGrantedLate(t *testing.T) {
	r := New(Config{Waiting: 8})
	for round := range 1000 {
		now := policy.Instant(round) * policy.Instant(time.Second)
		until := now.Add(50 * ms)
		for id := range int32(8) {
			if v := r.Offer(now, id, Item{Until: until, Deadline: policy.Never}); v.Reason != policy.None {
				t.Fatalf("round %d: %v", round, v.Reason)
			}
		}
		for range 4 {
			if id, why, _ := r.Next(until); why != policy.Waited {
				t.Fatalf("round %d: %d granted at its end (%v)", round, id, why)
			}
		}
		for id := range int32(8) {
			r.Leave(until, id)
		}
		if r.Len() != 0 {
			t.Fatalf("round %d: %d left behind", round, r.Len())
		}
	}
}

// O-19: a worker stalls for five seconds, in which a hundred calls come that
// can wait two. None of them runs, and the live one that comes then does.
func TestNothingDeadRunsAfterAStall(t *testing.T) {
	r := New(Config{})
	for id := range int32(100) {
		now := policy.Instant(0).Add(span.Mul(10*ms, int64(id)))
		v := r.Offer(now, id, Item{Until: policy.Never, Deadline: now.Add(2 * time.Second), Level: 1})
		if v.Reason != policy.None {
			t.Fatalf("call %d: %v", id, v.Reason)
		}
	}
	now := policy.Instant(5 * time.Second)
	live := Item{Until: policy.Never, Deadline: now.Add(2 * time.Second), Level: 1}
	if v := r.Offer(now, 100, live); v.Reason != policy.None {
		t.Fatalf("the live call: %v", v.Reason)
	}
	expired := 0
	for {
		id, why, ok := r.Next(now)
		switch {
		case !ok:
			t.Fatal("the live call was not granted")
		case why == policy.Expired:
			expired++
			continue
		case id != 100:
			t.Fatalf("%d runs after its deadline", id)
		}
		break
	}
	if expired != 100 || r.Snapshot(now).Expired != 100 {
		t.Errorf("%d expelled, %d counted, want 100", expired, r.Snapshot(now).Expired)
	}
}

// A bench runs calls that all take as long, as many at once as it has slots.
type bench struct {
	room     *Room
	service  time.Duration
	free     int
	ends     []finish
	done     map[int32]int
	since    map[int32]policy.Instant
	longest  time.Duration
	refusals map[policy.Reason]int
}

type finish struct {
	at policy.Instant
	id int32
}

func newBench(config Config, slots int, service time.Duration) *bench {
	return &bench{
		room: New(config), service: service, free: slots, done: map[int32]int{},
		since: map[int32]policy.Instant{}, refusals: map[policy.Reason]int{},
	}
}

func (b *bench) offer(now policy.Instant, id int32, item Item) policy.Reason {
	b.since[id] = now
	if b.free > 0 && b.room.Len() == 0 {
		b.start(now, id)
		return policy.None
	}
	v := b.room.Offer(now, id, item)
	if v.Out >= 0 {
		b.refusals[v.OutWhy]++
	}
	if v.Reason != policy.None {
		b.refusals[v.Reason]++
	}
	return v.Reason
}

func (b *bench) start(now policy.Instant, id int32) {
	b.free--
	b.longest = max(b.longest, now.Sub(b.since[id]))
	b.ends = append(b.ends, finish{now.Add(b.service), id})
}

// step ends what ends at now, and grants what may start; it returns who ended.
func (b *bench) step(now policy.Instant) (ended []int32) {
	for len(b.ends) > 0 && b.ends[0].at <= now {
		ended = append(ended, b.ends[0].id)
		b.done[b.ends[0].id]++
		b.ends, b.free = b.ends[1:], b.free+1
	}
	return ended
}

func (b *bench) grant(now policy.Instant) {
	for b.free > 0 {
		id, why, ok := b.room.Next(now)
		if !ok {
			return
		}
		if why != policy.None {
			b.refusals[why]++
			b.longest = max(b.longest, now.Sub(b.since[id]))
			continue
		}
		b.start(now, id)
	}
}

// O-22: ten clients that ask again at once are served in turn, although a
// newer call is always there.
func TestOldestFirstWhileTheRoomIsHealthy(t *testing.T) {
	b := newBench(Config{Waiting: 25}, 2, 5*time.Second)
	for id := range int32(10) {
		b.offer(0, id, forever)
	}
	for now := policy.Instant(0); now <= policy.Instant(100*time.Second); now = now.Add(100 * ms) {
		for _, id := range b.step(now) {
			b.offer(now, id, forever)
		}
		b.grant(now)
	}
	for id := range int32(10) {
		if b.done[id] < 3 || b.done[id] > 5 {
			t.Errorf("client %d was served %d times, want 4", id, b.done[id])
		}
	}
	if b.longest > 25*time.Second {
		t.Errorf("somebody waited %v", b.longest)
	}
}

// O-22, second half: at three times the capacity nobody waits longer than he
// may.
func TestNobodyWaitsTooLongInOverload(t *testing.T) {
	const tick = 100 * ms
	b := newBench(Config{Waiting: 1000}, 2, 5*time.Second)
	id := int32(0)
	for now := policy.Instant(0); now <= policy.Instant(200*time.Second); now = now.Add(tick) {
		b.step(now)
		if id++; id%8 == 0 { // 1.25 a second, for a capacity of .4
			item := forever
			item.Until = now.Add(10 * time.Second)
			b.offer(now, id, item)
		}
		b.grant(now)
		for waiting := range id + 1 {
			if end, why := b.room.End(waiting); why != policy.None && now >= end {
				b.longest = max(b.longest, now.Sub(b.since[waiting]))
				b.room.Leave(now, waiting)
			}
		}
	}
	if b.longest > 10*time.Second+tick {
		t.Errorf("somebody waited %v", b.longest)
	}
	if s := b.room.Snapshot(0); !s.NewestFirst || s.Granted < 65 {
		t.Errorf("not in overload, or idle: %+v", s)
	}
}

// O-23: between two services of a waiting tenant every other one is served at
// most its weight.
func TestTenantsTakeTurns(t *testing.T) {
	for _, c := range []struct {
		weight uint8
		within int
	}{{1, 10}, {3, 12}} {
		r := New(Config{Waiting: 2000})
		for id := range int32(1000) {
			item := forever
			item.Flow, item.Weight = 0, c.weight
			r.Offer(0, id, item)
		}
		for flow := range uint32(9) {
			item := forever
			item.Flow = flow + 1
			r.Offer(0, 1000+int32(flow), item)
		}
		small := 0
		for range c.within {
			if id, _, _ := r.Next(0); id >= 1000 {
				small++
			}
		}
		if small != 9 {
			t.Errorf("weight %d: %d of the nine small tenants within %d grants", c.weight, small, c.within)
		}
		if flows := r.Snapshot(0).Flows; flows != 1 {
			t.Errorf("%d flows are kept, 1 has waiters", flows)
		}
	}
}

// F14: one client that loops among many does not fill the room.
func TestLargestConsumerIsDroppedFirst(t *testing.T) {
	r := New(Config{Waiting: 100})
	id, kept := int32(0), 0
	for round := range 500 {
		for range 20 {
			item := forever
			item.Flow = 1 << 20
			r.Offer(0, id, item)
			id++
		}
		if round%6 == 0 && kept < 80 {
			item := forever
			item.Flow = uint32(round)
			if v := r.Offer(0, id, item); v.Reason != policy.None {
				t.Fatalf("round %d: a client of one call is refused: %v", round, v.Reason)
			}
			id++
			kept++
		}
	}
	if s := r.Snapshot(0); s.Flows != kept+1 || s.Waiting != 100 {
		t.Errorf("%d flows and %d waiters, want %d and 100", s.Flows, s.Waiting, kept+1)
	}
}

// The watch against a measurement at every tick: the room sheds while the part
// of what it could wait that the oldest has used was above three quarters at
// every instant of the last window.
func TestWindowMinimum(t *testing.T) {
	const tick, window = policy.Instant(ms), 10 * ms
	rapid.Check(t, func(t *rapid.T) {
		r := New(Config{Window: window})
		var since policy.Instant // when it was last found below
		for now := policy.Instant(0); now < 300*tick; now += tick {
			since = measured(r, now, since)
			for range rapid.IntRange(0, 2).Draw(t, "verbs") {
				disturb(t, r, now)
				since = measured(r, now, since)
			}
			over := now.Sub(since) - window
			if over.Abs() <= ms { // the mark lies between two ticks
				continue
			}
			if got := r.Snapshot(now).Sheds; got != (over > 0) {
				t.Fatalf("at %v: sheds %v, and it was last below at %v", now, got, since)
			}
		}
	})
}

// measured returns now if the oldest has used no more than three quarters of
// what it could wait, and since otherwise.
func measured(r *Room, now, since policy.Instant) policy.Instant {
	if r.age.head < 0 {
		return now
	}
	w := &r.waiters[r.age.head]
	if float64(now.Sub(w.since)) <= tooLong*float64(w.item.could(w.since)) {
		return now
	}
	return since
}

func disturb(t *rapid.T, r *Room, now policy.Instant) {
	id := rapid.Int32Range(0, 5).Draw(t, "id")
	switch rapid.IntRange(0, 4).Draw(t, "verb") {
	case 0, 1, 2:
		r.Offer(now, id, Item{
			Until:    policy.Never,
			Deadline: now.Add(span.Mul(ms, rapid.Int64Range(20, 60).Draw(t, "left"))),
			Need:     span.Mul(ms, rapid.Int64Range(0, 10).Draw(t, "need")),
		})
	case 3:
		r.Leave(now, id)
	case 4:
		r.Next(now)
	}
}

// Whatever is asked: who waits is who was let in and neither taken out nor put
// out; nobody is granted at his end; there are never more waiters than places,
// nor flows than waiters; and the lists agree with each other.
func TestRoomHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := Config{
			Waiting:   rapid.SampledFrom([]int{-1, 1, 3, 8}).Draw(t, "places"),
			Window:    5,
			Guarantee: rapid.SampledFrom([]float64{0, .1}).Draw(t, "guarantee"),
			Observe:   rapid.IntRange(0, 5).Draw(t, "observe") == 0,
		}
		r := New(config)
		waits := map[int32]Item{}
		var now policy.Instant
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += policy.Instant(rapid.IntRange(-1, 4).Draw(t, "pass"))
			now = max(0, now)
			id := rapid.Int32Range(0, 19).Draw(t, "id")
			switch rapid.SampledFrom([]string{"offer", "offer", "offer", "next", "leave", "evict"}).Draw(t, "verb") {
			case "offer":
				checkOffer(t, r, waits, now, id, drawItem(t, now))
			case "next":
				got, why, ok := r.Next(now)
				if ok != (len(waits) > 0) {
					t.Fatalf("next: %v, %d wait", ok, len(waits))
				}
				item, was := waits[got]
				if end, _ := r.end(&item); ok && (!was || (why == policy.None) != (r.last < end)) {
					t.Fatalf("next: %d (%v) at %d, its end %d", got, why, r.last, end)
				}
				delete(waits, got)
			case "leave":
				r.Leave(now, id)
				delete(waits, id)
			case "evict":
				got, ok := r.Evict(now)
				if ok != (len(waits) > 0) {
					t.Fatalf("evict: %v, %d wait", ok, len(waits))
				}
				delete(waits, got)
			}
			consistent(t, r, waits)
		}
	})
}

func drawItem(t *rapid.T, now policy.Instant) Item {
	return Item{
		Until:    now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "wait"))),
		Deadline: now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "left"))),
		Need:     time.Duration(rapid.IntRange(0, 8).Draw(t, "need")),
		Level:    uint8(rapid.IntRange(0, 3).Draw(t, "level")),
		Flow:     uint32(rapid.IntRange(0, 4).Draw(t, "flow")),
		Weight:   uint8(rapid.IntRange(0, 3).Draw(t, "weight")),
	}
}

func checkOffer(t *rapid.T, r *Room, waits map[int32]Item, now policy.Instant, id int32, item Item) {
	_, there := waits[id]
	full := len(waits) >= max(0, r.config.Waiting)
	v := r.Offer(now, id, item)
	switch {
	case v.Reason != policy.None && v.Out != none:
		t.Fatalf("refused, and yet %d lost its place", v.Out)
	case v.Reason != policy.None:
		if v.Reason == policy.Full && !full && !there {
			t.Fatal("refused as full, and it was not")
		}
		return
	case there, full != (v.Out != none):
		t.Fatalf("let in twice, or with %d put out of %d", v.Out, len(waits))
	}
	if out, was := waits[v.Out]; v.Out != none {
		if !was || v.OutWhy == policy.Full && out.Level < item.Level {
			t.Fatalf("%d of level %d put out for level %d", v.Out, out.Level, item.Level)
		}
		delete(waits, v.Out)
	}
	waits[id] = item.normal()
}

// consistent walks all lists.
func consistent(t *rapid.T, r *Room, waits map[int32]Item) {
	if r.Len() != len(waits) || r.Len() > max(0, r.config.Waiting) {
		t.Fatalf("%d wait, want %d", r.Len(), len(waits))
	}
	var ids []int32
	for id := r.age.head; id >= 0; id = r.waiters[id].links[byAge].next {
		ids = append(ids, id)
		if _, ok := waits[id]; !ok {
			t.Fatalf("%d waits and should not", id)
		}
	}
	if len(ids) != len(waits) || !slices.IsSortedFunc(ids, func(a, b int32) int {
		return int(r.waiters[a].since - r.waiters[b].since)
	}) {
		t.Fatalf("by age: %v", ids)
	}
	total, flows := 0, 0
	for i := range r.levels {
		n, f := walk(t, r, i)
		total, flows = total+n, flows+f
	}
	if total != len(waits) || flows != r.flows.used || flows > len(waits) {
		t.Fatalf("%d in %d flows, want %d in %d", total, flows, len(waits), r.flows.used)
	}
}

// walk goes round the flows of a level, and returns the waiters and the flows.
func walk(t *rapid.T, r *Room, i int) (n, flows int) {
	l := &r.levels[i]
	largest := int32(0)
	for f := l.turn; f >= 0; {
		fl := &r.flows.all[f]
		flows++
		count := int32(0)
		for id := fl.waiters.head; id >= 0; id = r.waiters[id].links[inFlow].next {
			count++
		}
		if count != fl.n || count == 0 || r.flows.find(fl.key, fl.level) != f || fl.credit < 0 || fl.credit > fl.weight {
			t.Fatalf("flow %d: %+v, %d counted", f, *fl, count)
		}
		n += int(count)
		largest = max(largest, fl.size())
		if f = fl.ring.next; f == l.turn {
			break
		}
	}
	if n != l.n || largest != l.most {
		t.Fatalf("level %d: %d waiters, largest %d; counted %d and %d", i, l.n, l.most, n, largest)
	}
	return n, flows
}

func TestRetryAfterStaysInRange(t *testing.T) {
	r := New(Config{})
	for _, u := range []float64{0, .25, .999999, 1, -1, math.NaN(), math.Inf(1)} {
		if d := r.RetryAfter(0, u); d < 2*time.Second || d > 5*time.Second {
			t.Errorf("%v for %v", d, u)
		}
	}
	for id := range int32(enough + 1) {
		r.Offer(0, id, forever)
	}
	for i := range enough {
		r.Next(policy.Instant(span.Mul(24*time.Hour, int64(i+1)))) // one a day
	}
	r.Offer(policy.Never, 0, forever)
	for _, u := range []float64{0, 1, math.NaN()} {
		if d := r.RetryAfter(policy.Never, u); d < 2*time.Second || d > longest+jitter {
			t.Errorf("%v for %v behind a queue of days", d, u)
		}
	}
}

func TestBadConfigurations(t *testing.T) {
	for _, c := range []Config{
		{Waiting: most + 1}, {Window: -1}, {Target: -1}, {Target: 50 * ms, Checkout: 50 * ms},
		{RetryAfter: span.Range{Min: 2, Max: 1}}, {RetryAfter: span.Range{Min: -1, Max: 1}},
		{Guarantee: math.NaN()}, {Guarantee: math.Inf(1)}, {Guarantee: -.1}, {Guarantee: .5},
	} {
		if c.Validate().Err() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, c := range []Config{{}, {Waiting: -1}, {Checkout: time.Second, Target: 500 * ms}, {Guarantee: .05}} {
		if err := c.Validate(); len(err) > 0 {
			t.Errorf("%+v: %v", c, err)
		}
		if c = c.WithDefaults(); c != c.WithDefaults() {
			t.Errorf("%+v has no stable defaults", c)
		}
	}
	if ps := (Config{Checkout: 50 * ms}).Validate(); len(ps) != 1 || !ps[0].Warning {
		t.Errorf("a checkout of half a window: %v", ps)
	}
}

func FuzzRoom(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 100, 200, 7, 7, 7, 255, 254})
	f.Add([]byte("offers of all kinds, and a few that leave"))
	f.Fuzz(func(t *testing.T, script []byte) {
		r := New(Config{Waiting: 7, Window: 50})
		var now policy.Instant
		waiting := 0
		for i, b := range script {
			now = now.Add(time.Duration(b&15) << (b & 31))
			switch b >> 6 {
			case 0, 1:
				v := r.Offer(now, int32(i), Item{
					Until: now.Add(time.Duration(b) << (b & 7)), Deadline: now.Add(time.Duration(b&63) << (b & 15)),
					Level: b & 9, Flow: uint32(b & 3), Weight: b & 5, Need: time.Duration(b),
				})
				if v.Reason == policy.None && v.Out < 0 {
					waiting++
				}
			case 2:
				if _, _, ok := r.Next(now); ok {
					waiting--
				}
			case 3:
				if r.waits(int32(i) - int32(b&7)) {
					waiting--
				}
				r.Leave(now, int32(i)-int32(b&7))
			}
			if s := r.Snapshot(now); s.Waiting != waiting || waiting > 7 || s.Oldest < 0 || s.Flows > waiting {
				t.Fatalf("%+v, want %d waiting", s, waiting)
			}
			if d := r.RetryAfter(now, .5); d < 0 {
				t.Fatalf("retry after %v", d)
			}
		}
	})
}

// A full cycle: a room that is full, in overload, of several tenants.
func TestNothingIsAllocated(t *testing.T) {
	r := New(Config{Waiting: 8})
	var now policy.Instant
	n := int32(0)
	cycle := func() {
		now = now.Add(ms)
		n++
		item := forever
		item.Flow, item.Level, item.Deadline = uint32(n%5), uint8(n%3), now.Add(20*ms)
		r.Offer(now, n%32, item)
		if n%3 == 0 {
			r.Next(now)
		}
		r.Leave(now, (n*7)%32)
	}
	for range 1000 {
		cycle()
	}
	if n := testing.AllocsPerRun(1000, cycle); n != 0 {
		t.Errorf("%v allocations a cycle", n)
	}
}

func BenchmarkWait(b *testing.B) {
	r := New(Config{})
	item := forever
	for id := range int32(100) {
		item.Flow = uint32(id % 10)
		r.Offer(0, id, item)
	}
	var now policy.Instant
	for b.Loop() {
		now++
		id, _, _ := r.Next(now)
		item.Flow = uint32(id % 10)
		r.Offer(now, id, item)
	}
}
