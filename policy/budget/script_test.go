package budget_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
)

// TestScenarios plays testdata/*.txt. The verbs:
//
//	new ratio floor window   a budget; none for a floor or a window that is not
//	call n                   n first attempts, which end at once
//	retry n                  asks n times; the answer is how many were allowed, and those run on
//	spend n                  the same, and those that were allowed end at once
//	hold name                asks once and keeps the mark under the name
//	undo name, end name      gives the mark back, ends it
//	heard good bad           so many successes, then so many failures
//	look                     the snapshot
func TestScenarios(t *testing.T) {
	golden.Scripts(t, "testdata/*.txt", func(t testing.TB) golden.Player {
		p := &player{t: t, b: budget.New(budget.Config{}), marks: map[string]*budget.Mark{}}
		return p.tell
	})
}

type player struct {
	t     testing.TB
	b     *budget.Budget
	marks map[string]*budget.Mark
}

func (p *player) tell(now policy.Instant, verb string, args []string) string {
	switch verb {
	case "new":
		ratio, err := strconv.ParseFloat(args[0], 64)
		if err != nil {
			p.t.Fatal(err)
		}
		p.b = budget.New(budget.Config{Ratio: ratio, Floor: p.number(args[1]), Window: p.window(args[2])})
		return ""
	case "call":
		for range p.number(args[0]) {
			m := p.b.Call(now)
			p.b.End(now, &m)
		}
		return ""
	case "retry":
		return fmt.Sprint(retries(p.b, now, p.number(args[0])))
	case "spend":
		granted := 0
		for range p.number(args[0]) {
			if m, ok := p.b.Retry(now); ok {
				granted++
				p.b.End(now, &m)
			}
		}
		return fmt.Sprint(granted)
	case "hold":
		m, ok := p.b.Retry(now)
		p.marks[args[0]] = &m
		return map[bool]string{true: "allowed", false: "refused"}[ok]
	case "undo":
		p.b.Undo(now, p.mark(args[0]))
		return ""
	case "end":
		p.b.End(now, p.mark(args[0]))
		return ""
	case "heard":
		for i := range p.number(args[0]) + p.number(args[1]) {
			p.b.Heard(i < p.number(args[0]))
		}
		return ""
	case "look":
		s := p.b.Snapshot(now)
		return fmt.Sprintf("calls %d, extra %d, running %d (%d outlived), left %d, floor %v", s.Calls, s.Extra, s.Running, s.Outlived, s.Left, s.Floor)
	}
	p.t.Fatalf("no verb %q", verb)
	return ""
}

func (p *player) mark(name string) *budget.Mark {
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
	n, err := strconv.Atoi(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *player) window(text string) time.Duration {
	if text == "none" {
		return -1
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}
