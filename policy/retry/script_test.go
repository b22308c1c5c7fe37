package retry_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
)

// TestScenarios plays testdata/*.txt. The verbs:
//
//	plan attempts base cap   a plan without jitter
//	budget ratio floor       a budget; without one nothing caps the retries
//	begin deadline           a call; never for a deadline that is not
//	next                     what to do
//	launched                 the attempt was started; its number
//	settle outcome [words]   it ended: final, after=2s, timeout
//	refused reason           an inner gate refused it
//	cancel reason            the caller left
//	look                     the call, and what the budget holds
func TestScenarios(t *testing.T) {
	golden.Scripts(t, "testdata/*.txt", func(t testing.TB) golden.Player {
		p := &player{t: t, plan: retry.New(retry.Config{})}
		return p.tell
	})
}

type player struct {
	t    testing.TB
	plan *retry.Plan
	b    *budget.Budget
	c    retry.Call
	mark budget.Mark
}

func (p *player) tell(now policy.Instant, verb string, args []string) string {
	switch verb {
	case "plan":
		p.plan = retry.New(retry.Config{
			Attempts: p.number(args[0]), Base: p.length(args[1]), Cap: p.length(args[2]), Jitter: retry.Constant,
		})
	case "budget":
		ratio, err := strconv.ParseFloat(args[0], 64)
		if err != nil {
			p.t.Fatal(err)
		}
		p.b = budget.New(budget.Config{Ratio: ratio, Floor: p.number(args[1]), Window: -1})
	case "begin":
		limit := policy.Never
		if args[0] != "never" {
			limit = now.Add(p.length(args[0]))
		}
		p.c = p.plan.Begin(limit, 1)
	case "next":
		return p.next(now)
	case "launched":
		p.mark = p.plan.Launched(&p.c)
		return fmt.Sprintf("attempt %d, holds %v", p.c.Attempts(), p.mark.Held())
	case "settle":
		p.settle(now, args)
	case "refused":
		p.plan.Refused(now, &p.c, p.reason(args[0]), p.b)
		p.b.Undo(now, &p.mark)
	case "cancel":
		p.plan.Cancel(now, &p.c, p.reason(args[0]), p.b)
	case "look":
		s := p.b.Snapshot(now)
		return fmt.Sprintf("%d attempts; budget: %d calls, %d extra, %d running", p.c.Attempts(), s.Calls, s.Extra, s.Running)
	default:
		p.t.Fatalf("no verb %q", verb)
	}
	return ""
}

func (p *player) next(now policy.Instant) string {
	switch move, at := p.plan.Next(now, &p.c, p.b); move {
	case retry.Launch:
		return "launch"
	case retry.Wait:
		return "wait until " + at.String()
	}
	return "stop: " + p.c.Why().String()
}

func (p *player) settle(now policy.Instant, words []string) {
	var r policy.Report
	why := policy.None
	for _, word := range words {
		switch {
		case word == "success":
			r.Outcome = policy.Success
		case word == "failure":
			r.Outcome = policy.Failure
		case word == "cut":
			r.Outcome = policy.Cut
		case word == "final":
			r.Final = true
		case len(word) > 6 && word[:6] == "after=":
			r.RetryAfter = p.length(word[6:])
		case word != "ignored":
			why = p.reason(word)
		}
	}
	p.plan.Settle(now, &p.c, r, why, p.b)
	p.b.End(now, &p.mark)
}

func (p *player) reason(label string) policy.Reason {
	for r := range policy.Reasons {
		if policy.Reason(r).String() == label {
			return policy.Reason(r)
		}
	}
	p.t.Fatalf("no reason %q", label)
	return policy.None
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

func (p *player) length(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}
