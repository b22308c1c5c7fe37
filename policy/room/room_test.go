package room

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

func TestScripts(t *testing.T) {
	golden.Scripts(t, "testdata/*.txt", func(t testing.TB) golden.Player {
		p := &player{t: t}
		return p.tell
	})
}

// A player is told a scenario. Waiters are letters, and their ids dense.
type player struct {
	t    testing.TB
	room *Room
}

func (p *player) tell(now policy.Instant, verb string, args []string) string {
	switch verb {
	case "room":
		places, err := strconv.Atoi(args[0])
		if err != nil {
			p.t.Fatal(err)
		}
		p.room = New(Config{Waiting: places})
		return ""
	case "offer":
		return p.offer(now, args[0], args[1:])
	case "next":
		id, why, ok := p.room.Next(now)
		switch {
		case !ok:
			return "nobody"
		case why != policy.None:
			return name(id) + " out: " + why.String()
		}
		return name(id)
	case "leave":
		p.room.Leave(now, int32(args[0][0]-'a'))
	case "look":
	default:
		p.t.Fatalf("unknown verb %q", verb)
	}
	return fmt.Sprintf("%d wait, oldest %v", p.room.Len(), p.room.Oldest(now))
}

func (p *player) offer(now policy.Instant, who string, args []string) string {
	item := Item{Until: policy.Never, Deadline: policy.Never}
	for _, arg := range args {
		key, text, _ := strings.Cut(arg, "=")
		d, err := time.ParseDuration(text)
		if err != nil {
			p.t.Fatal(err)
		}
		switch key {
		case "wait":
			item.Until = now.Add(d)
		case "left":
			item.Deadline = now.Add(d)
		default:
			p.t.Fatalf("unknown word %q", arg)
		}
	}
	v := p.room.Offer(now, int32(who[0]-'a'), item)
	switch {
	case v.Reason != policy.None:
		return v.Reason.String()
	case v.Out >= 0:
		return "waits, " + name(v.Out) + " out: " + v.OutWhy.String()
	}
	return "waits"
}

func name(id int32) string { return string(rune('a' + id)) }

// O-02: a waiter that leaves or expires is never granted, at the same instant
// neither, and no place is lost.
func TestNobodyIsGrantedLate(t *testing.T) {
	r := New(Config{Waiting: 8})
	for round := range 1000 {
		now := policy.Instant(round) * policy.Instant(time.Second)
		until := now.Add(50 * time.Millisecond)
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

// The room against a plain slice: same order, same length, nobody granted at
// or after the end, never more than the places.
func TestQueueAgainstModel(t *testing.T) {
	type entry struct {
		id    int32
		until policy.Instant
	}
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(0, 6).Draw(t, "places")
		config := Config{Waiting: places}
		if places == 0 {
			config.Waiting = -1
		}
		r := New(config)
		var model []entry
		var now policy.Instant
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += policy.Instant(rapid.IntRange(0, 3).Draw(t, "pass"))
			id := rapid.Int32Range(0, 9).Draw(t, "id")
			at := -1
			for i, e := range model {
				if e.id == id {
					at = i
				}
			}
			switch rapid.SampledFrom([]string{"offer", "next", "leave"}).Draw(t, "verb") {
			case "offer":
				until := now + policy.Instant(rapid.IntRange(0, 5).Draw(t, "wait"))
				v := r.Offer(now, id, Item{Until: until, Deadline: policy.Never})
				if v.Out >= 0 {
					if model[0].id != v.Out || now < model[0].until {
						t.Fatalf("%d put out", v.Out)
					}
					model = model[1:]
				}
				if want := at < 0 && until > now && len(model) < places; want != (v.Reason == policy.None) {
					t.Fatalf("offer of %d: %v", id, v.Reason)
				} else if want {
					model = append(model, entry{id, until})
				}
			case "next":
				got, why, ok := r.Next(now)
				if ok != (len(model) > 0) {
					t.Fatalf("next: %v with %d waiting", ok, len(model))
				}
				if ok && (got != model[0].id || (why == policy.None) != (now < model[0].until)) {
					t.Fatalf("next: %d %v, want %v at %v", got, why, model[0], now)
				}
				if ok {
					model = model[1:]
				}
			case "leave":
				r.Leave(now, id)
				if at >= 0 {
					model = append(model[:at], model[at+1:]...)
				}
			}
			if r.Len() != len(model) {
				t.Fatalf("%d wait, want %d", r.Len(), len(model))
			}
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	r := New(Config{})
	item := Item{Until: policy.Never, Deadline: policy.Never}
	r.Offer(0, 1, item)
	r.Next(0)
	if n := testing.AllocsPerRun(1000, func() {
		r.Offer(1, 0, item)
		r.Offer(1, 1, item)
		r.Leave(2, 0)
		r.Next(3)
	}); n != 0 {
		t.Errorf("%v allocations for two waits", n)
	}
}
