package room

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
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
