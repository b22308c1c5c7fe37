package stack_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

func TestScripts(t *testing.T) {
	golden.Scripts(t, "testdata/*.txt", func(t testing.TB) golden.Player {
		return (&player{t: t}).tell
	})
}

// A player tells a stack the lines of a scenario. Callers have names; their
// attempts are numbered: a2 is the second attempt of a, a its last.
type player struct {
	t     testing.TB
	s     *stack.Stack
	names []string
	calls map[string]*part
}

// A part is one caller's.
type part struct {
	call    stack.Call
	tickets []stack.Ticket // of the attempts that were started
	waits   stack.Ticket
}

func (p *player) tell(now policy.Instant, verb string, args []string) string {
	answer := p.verb(now, verb, args)
	var woken []string
	for t, ok := p.s.Woken(); ok; t, ok = p.s.Woken() {
		woken = append(woken, p.nameOf(t))
	}
	if len(woken) > 0 {
		answer += "; wakes " + strings.Join(woken, " ")
	}
	return strings.TrimPrefix(answer, "; ")
}

func (p *player) verb(now policy.Instant, verb string, args []string) string {
	switch verb {
	case "stack":
		p.s = stack.New(p.config(args))
		p.names, p.calls = nil, make(map[string]*part)
		return ""
	case "configure":
		p.s.Configure(now, p.config(args))
		return p.show(now)
	case "look":
		p.s.Look(now)
		return p.show(now)
	case "burst":
		return p.burst(now, p.number(args[0]), args[1:])
	case "call":
		return p.begin(now, args[0], args[1:])
	}
	c, t := p.attempt(args[0])
	switch verb {
	case "ask":
		return p.ask(now, c)
	case "cancel":
		p.s.Cancel(now, &c.call)
		return p.ask(now, c)
	case "settle":
		p.s.Settle(now, &c.call, t, p.report(args[1:]))
		return p.ask(now, c)
	case "judge":
		p.s.Judge(now, &c.call, t, p.report(args[1:]))
		return p.ask(now, c)
	case "free":
		p.s.Free(now, t, p.report(args[1:]).Outcome)
		return ""
	}
	p.t.Fatalf("no verb %q", verb)
	return ""
}

func (p *player) begin(now policy.Instant, name string, args []string) string {
	c := &part{call: stack.Call{Ask: stack.Ask{Deadline: policy.Never, Seed: uint64(len(p.names))}}}
	for key, value := range words(args) {
		switch key {
		case "left":
			c.call.Ask.Deadline = now.Add(p.duration(value))
		case "level":
			c.call.Ask.Level = uint8(p.number(value))
		case "once":
			c.call.Ask.Once = true
		case "hedge":
			c.call.Ask.Hedge = true
		default:
			p.t.Fatalf("no %q in a call", key)
		}
	}
	p.names, p.calls[name] = append(p.names, name), c
	p.s.Begin(now, &c.call)
	return p.ask(now, c)
}

// burst makes so many calls, one after the other; each that starts ends at once,
// like that.
func (p *player) burst(now policy.Instant, n int, end []string) string {
	started, last := 0, "done"
	for range n {
		c := &part{call: stack.Call{Ask: stack.Ask{Deadline: policy.Never, Seed: uint64(len(p.names))}}}
		p.names = append(p.names, "")
		p.s.Begin(now, &c.call)
		step := p.s.Next(now, &c.call)
		if step.Kind == stack.Start {
			started++
			p.s.Settle(now, &c.call, step.Ticket, p.report(end))
			continue
		}
		last = p.done(now, c)
	}
	return fmt.Sprintf("%d start, the last of the others: %s", started, last)
}

// ask says all that Next has to say.
func (p *player) ask(now policy.Instant, c *part) string {
	var said []string
	for {
		switch step := p.s.Next(now, &c.call); step.Kind {
		case stack.Start:
			c.tickets = append(c.tickets, step.Ticket)
			said = append(said, fmt.Sprintf("starts, until %v, bound %v", step.Until, step.Bound))
			continue
		case stack.Wait:
			c.waits = step.Ticket
			if c.call.Running() == 0 {
				said = append(said, fmt.Sprintf("waits until %v", step.Until))
			} else if len(said) == 0 {
				said = append(said, fmt.Sprintf("runs until %v", step.Until))
			}
		default:
			said = append(said, p.done(now, c))
		}
		return strings.Join(said, ", ")
	}
}

func (p *player) done(now policy.Instant, c *part) string {
	said := "done"
	if why := c.call.Why(); why != policy.None {
		said = why.String()
	}
	if c.call.TimedOut() {
		said += " (timed out)"
	}
	if at := c.call.RetryAt(); at > 0 {
		said += fmt.Sprintf(", back in %v", at.Sub(now).Round(time.Millisecond))
	}
	return said
}

// show says how things stand.
func (p *player) show(now policy.Instant) string {
	shot := p.s.Snapshot(now)
	b := shot.Breaker
	said := fmt.Sprintf("%d of %d slots, %d kept, %d wait; %v, %d calls %d failed %d slow, score %d, %d probes; %d retries",
		shot.InFlight, shot.Limit, shot.Kept, shot.Waiting, b.State, b.Calls, b.Failures, b.Slow, b.Score, b.ProbesOut, shot.Budget.Running)
	if p.s.Config().Throttle != nil {
		l := shot.Throttle.Levels[0]
		said += fmt.Sprintf("; %d of %d accepted, %.0f %% refused", l.Accepts, l.Requests, 100*l.Share)
	}
	return said
}

func (p *player) attempt(name string) (*part, stack.Ticket) {
	if c := p.calls[name]; c != nil {
		if len(c.tickets) == 0 {
			return c, c.waits
		}
		return c, c.tickets[len(c.tickets)-1]
	}
	who := strings.TrimRight(name, "0123456789")
	if c := p.calls[who]; c != nil {
		return c, c.tickets[p.number(strings.TrimPrefix(name, who))-1]
	}
	p.t.Fatalf("nobody is called %q", name)
	return nil, stack.Ticket{}
}

func (p *player) nameOf(t stack.Ticket) string {
	for _, name := range p.names {
		if c := p.calls[name]; c != nil && c.waits == t {
			return name
		}
	}
	return "nobody"
}
