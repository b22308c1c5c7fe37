package room

import (
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

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
