package breaker

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
)

// TestScenarios plays the stories in testdata. Their verbs are those of the
// machine; attempts carry names.
func TestScenarios(t *testing.T) {
	golden.Scripts(t, "testdata/*.txt", func(t testing.TB) golden.Player {
		s := &story{TB: t, b: New(Config{Exchange: 800 * time.Millisecond}), passes: map[string]*Pass{}}
		return s.tell
	})
}

type story struct {
	testing.TB
	b      *Breaker
	passes map[string]*Pass
}

func (s *story) tell(now policy.Instant, verb string, args []string) string {
	before := s.b.Look(now)
	answer := s.act(now, verb, args)
	if after := s.b.Look(now); after != before && !strings.HasPrefix(answer, after.String()) {
		answer = strings.TrimSpace(answer + " " + after.String())
	}
	return answer
}

func (s *story) act(now policy.Instant, verb string, args []string) string {
	switch verb {
	case "given": // a new breaker
		s.b = New(s.config(args))
		return ""
	case "configure":
		s.b.Configure(now, s.config(args))
		return s.look(now)
	case "mode":
		s.b.SetMode(now, s.mode(args[0]))
		return s.look(now)
	case "look":
		return s.look(now)
	case "retry-at":
		return s.b.RetryAt(now).String()
	case "admit": // names
		return s.admit(now, args)
	case "undo", "overdue":
		s.each(now, verb, args)
		return ""
	case "end": // outcome ran names
		s.settle(now, args)
		return ""
	case "calls": // number outcome ran: each admitted, and settled at once
		return s.calls(now, args)
	}
	s.Fatalf("no verb %q", verb)
	return ""
}

func (s *story) look(now policy.Instant) string {
	v := s.b.Snapshot(now)
	text := fmt.Sprintf("%v calls=%d failures=%d slow=%d score=%d", v.State, v.Calls, v.Failures, v.Slow, v.Score)
	if v.Mode != Auto {
		text += " mode=" + v.Mode.String()
	}
	if v.State == HalfOpen {
		text += fmt.Sprintf(" out=%d counted=%d", v.ProbesOut, v.ProbesCounted)
	}
	if v.Share < 1 {
		text += fmt.Sprintf(" share=%.2f", v.Share)
	}
	if v.Ignored > 0 {
		text += fmt.Sprintf(" ignored=%d", v.Ignored)
	}
	return text + fmt.Sprintf(" refused=%d", v.Refused)
}

func (s *story) admit(now policy.Instant, names []string) string {
	var answers []string
	for _, name := range names {
		p, ok := s.b.Admit(now)
		s.passes[name] = &p
		switch {
		case !ok:
			answers = append(answers, "refused")
		case p.Probe():
			answers = append(answers, "probe")
		default:
			answers = append(answers, "yes")
		}
	}
	return strings.Join(answers, " ")
}

func (s *story) each(now policy.Instant, verb string, names []string) {
	for _, name := range names {
		if verb == "undo" {
			s.b.Undo(now, s.passes[name])
		} else {
			s.b.Overdue(now, s.passes[name])
		}
	}
}

func (s *story) settle(now policy.Instant, args []string) {
	for _, name := range args[2:] {
		s.b.Settle(now, s.passes[name], s.outcome(args[0]), s.span(args[1]))
	}
}

func (s *story) calls(now policy.Instant, args []string) string {
	refused := 0
	for range s.number(args[0]) {
		p, ok := s.b.Admit(now)
		if !ok {
			refused++
			continue
		}
		s.b.Settle(now, &p, s.outcome(args[1]), s.span(args[2]))
	}
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf("%d refused", refused)
}

func (s *story) config(args []string) Config {
	c := Config{Exchange: 800 * time.Millisecond}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "calls":
			c.Calls = s.number(value)
		case "count":
			c.Count = s.number(value)
		case "probes":
			c.Probes = s.number(value)
		case "window":
			c.Window = s.span(value)
		case "exchange":
			c.Exchange = s.span(value)
		case "slow":
			c.Slow = s.span(value)
		case "open":
			c.Open = s.span(value)
		case "open_jitter":
			c.OpenJitter, _ = strconv.ParseFloat(value, 64)
		case "open_max":
			c.OpenMax = s.span(value)
		case "half_open":
			c.HalfOpen = s.span(value)
		case "ramp":
			c.Ramp = s.span(value)
		case "failure_rate":
			c.FailureRate, _ = strconv.ParseFloat(value, 64)
		case "slow_rate":
			c.SlowRate, _ = strconv.ParseFloat(value, 64)
		case "mode":
			c.Mode = s.mode(value)
		default:
			s.Fatalf("no field %q", name)
		}
	}
	return c
}

func (s *story) outcome(text string) policy.Outcome {
	for o := policy.Ignored; o <= policy.Cut; o++ {
		if o.String() == text {
			return o
		}
	}
	s.Fatalf("no outcome %q", text)
	return 0
}

func (s *story) mode(text string) (m Mode) {
	if err := m.UnmarshalText([]byte(text)); err != nil {
		s.Fatal(err)
	}
	return m
}

func (s *story) span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.Fatal(err)
	}
	return d
}

func (s *story) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.Fatal(err)
	}
	return n
}
