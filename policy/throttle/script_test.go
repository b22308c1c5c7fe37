package throttle

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
)

// TestScripts plays testdata/*.txt. The verbs:
//
//	new k=2 floor=5 window=10s observe   a throttle
//	configure ...                               the same words, for the one there is
//	ask n yes|no|busy|business|cut [level]      n requests; those that are sent end at once, like that
//	run rate length takes [level]               so many requests a second, of which the dependency takes so many
//	hold name [level]                           one request, that runs on
//	settle name yes|no|..., undo name           its end
//	back draw [level]                           when a refused request may come back
//	forget                                      what was counted
//	look [level]                                the snapshot
func TestScripts(t *testing.T) {
	golden.Scripts(t, "testdata/*.txt", func(t testing.TB) golden.Player {
		p := &player{t: t, marks: map[string]*Mark{}}
		return p.tell
	})
}

type player struct {
	t     testing.TB
	th    *Throttle
	seed  uint64 // of the last request
	marks map[string]*Mark
}

// An end is what a dependency says of a request.
type end struct {
	outcome policy.Outcome
	refused bool
}

var ends = map[string]end{
	"yes": {policy.Success, false}, "no": {policy.Failure, false}, "busy": {policy.Ignored, true},
	"business": {policy.Ignored, false}, "cut": {policy.Cut, false},
}

func (p *player) tell(now policy.Instant, verb string, args []string) string {
	switch verb {
	case "new":
		p.th = New(p.config(args))
	case "configure":
		p.th.Configure(now, p.config(args))
	case "ask":
		sent := 0
		for range p.number(args[0]) {
			if p.one(now, p.level(args[2:]), p.end(args[1])) {
				sent++
			}
		}
		return fmt.Sprintf("%d sent", sent)
	case "run":
		return p.run(now, p.number(args[0]), p.length(args[1]), p.number(args[2]), p.level(args[3:]))
	case "hold":
		m, ok := p.admit(now, p.level(args[1:]))
		p.marks[args[0]] = &m
		return map[bool]string{true: "sent", false: "refused"}[ok]
	case "settle":
		e := p.end(args[1])
		p.th.Settle(now, p.mark(args[0]), e.outcome, e.refused)
	case "undo":
		p.th.Undo(now, p.mark(args[0]))
	case "back":
		return p.th.RetryAfter(now, p.level(args[1:]), p.fraction(args[0])).String()
	case "forget":
		p.th.Forget()
	case "look":
		s := p.th.Snapshot(now)
		l := s.Levels[p.level(args)]
		return fmt.Sprintf("%d of %d accepted, refuses %.1f %%", l.Accepts, l.Requests, 100*l.Share)
	default:
		p.t.Fatalf("no verb %q", verb)
	}
	return ""
}

func (p *player) admit(now policy.Instant, level uint8) (Mark, bool) {
	p.seed++
	return p.th.Admit(now, level, p.seed)
}

func (p *player) one(now policy.Instant, level uint8, e end) bool {
	m, ok := p.admit(now, level)
	if ok {
		p.th.Settle(now, &m, e.outcome, e.refused)
	}
	return ok
}

// run offers requests evenly to a dependency that takes so many in each second
// and refuses the rest.
func (p *player) run(now policy.Instant, rate int, length time.Duration, takes int, level uint8) string {
	offered, sent, accepted := 0, 0, 0
	for second := policy.Instant(0); second < policy.Instant(length); second += policy.Instant(time.Second) {
		room := takes
		for i := range rate {
			at := now + second + policy.Instant(i)*policy.Instant(time.Second)/policy.Instant(rate)
			e := ends["busy"]
			if room > 0 {
				e = ends["yes"]
			}
			offered++
			if p.one(at, level, e) {
				sent++
				if room > 0 {
					room--
					accepted++
				}
			}
		}
	}
	return fmt.Sprintf("%d offered, %d sent, %d accepted", offered, sent, accepted)
}

func (p *player) config(args []string) (c Config) {
	for _, arg := range args {
		switch key, value, _ := strings.Cut(arg, "="); key {
		case "k":
			c.K = p.fraction(value)
		case "floor":
			c.Floor = p.number(value)
		case "window":
			c.Window = p.length(value)
		case "observe":
			c.Observe = true
		default:
			p.t.Fatalf("unknown word %q", arg)
		}
	}
	return c
}

func (p *player) level(args []string) uint8 {
	if len(args) == 0 {
		return 0
	}
	return uint8(p.number(args[0]))
}

func (p *player) end(word string) end {
	e, ok := ends[word]
	if !ok {
		p.t.Fatalf("no end %q", word)
	}
	return e
}

func (p *player) mark(name string) *Mark {
	m, ok := p.marks[name]
	if !ok {
		p.t.Fatalf("no mark %q", name)
	}
	return m
}

func (p *player) number(text string) int {
	if text == "none" {
		return -1
	}
	return read(p.t, text, strconv.Atoi)
}

func (p *player) length(text string) time.Duration { return read(p.t, text, time.ParseDuration) }

func (p *player) fraction(text string) float64 {
	return read(p.t, text, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
}

func read[T any](t testing.TB, text string, parse func(string) (T, error)) T {
	value, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
