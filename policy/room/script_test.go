package room

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
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
		p.room = New(p.config(args))
		return ""
	case "configure":
		p.room.Configure(now, p.config(args))
	case "offer":
		return p.offer(now, args[0], args[1:])
	case "next":
		return p.next(now)
	case "drain":
		return p.drain(now)
	case "leave":
		p.room.Leave(now, int32(args[0][0]-'a'))
	case "evict":
		id, ok := p.room.Evict(now)
		if !ok {
			return "nobody"
		}
		return name(id)
	case "retry":
		return p.room.RetryAfter(now, p.float(args[0])).String()
	case "look":
		return p.look(now)
	case "counts":
		return fmt.Sprintf("%+v", p.room.Snapshot(now).Counts)
	default:
		p.t.Fatalf("unknown verb %q", verb)
	}
	return fmt.Sprintf("%d wait", p.room.Len())
}

func (p *player) config(args []string) (c Config) {
	for _, arg := range args {
		switch key, value, _ := strings.Cut(arg, "="); key {
		case "places":
			c.Waiting = int(p.float(value))
		case "target":
			c.Target = p.duration(value)
		case "checkout":
			c.Checkout = p.duration(value)
		case "guarantee":
			c.Guarantee = p.float(value)
		case "observe":
			c.Observe = true
		default:
			p.t.Fatalf("unknown word %q", arg)
		}
	}
	return c
}

func (p *player) offer(now policy.Instant, who string, args []string) string {
	item := Item{Until: policy.Never, Deadline: policy.Never, Level: 1}
	for _, arg := range args {
		switch key, value, _ := strings.Cut(arg, "="); key {
		case "wait":
			item.Until = now.Add(p.duration(value))
		case "left":
			item.Deadline = now.Add(p.duration(value))
		case "need":
			item.Need = p.duration(value)
		case "level":
			item.Level = uint8(p.float(value))
		case "flow":
			item.Flow = uint32(p.float(value))
		case "weight":
			item.Weight = uint8(p.float(value))
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

func (p *player) next(now policy.Instant) string {
	id, why, ok := p.room.Next(now)
	switch {
	case !ok:
		return "nobody"
	case why != policy.None:
		return name(id) + " out: " + why.String()
	}
	return name(id)
}

// drain asks for the next until nobody waits.
func (p *player) drain(now policy.Instant) string {
	var order []string
	for p.room.Len() > 0 {
		order = append(order, p.next(now))
	}
	return strings.Join(order, " ")
}

func (p *player) look(now policy.Instant) string {
	s := p.room.Snapshot(now)
	text := fmt.Sprintf("%d wait, oldest %v", s.Waiting, s.Oldest)
	if s.Sheds {
		text += ", sheds"
	}
	if s.NewestFirst {
		text += ", newest first"
	}
	return text
}

func (p *player) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}

func (p *player) float(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

func name(id int32) string { return string(rune('a' + id)) }
