package room

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

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
