package demo

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
	"github.com/kalan-go/kalan/policy/span"
)

// What the documentation says of the story (F28), as numbers.
const (
	fallsWithin     = 8 * time.Second
	opensWithin     = 3 * time.Second
	refusesWithin   = 60 * time.Millisecond // a bulkhead's wait of 50 ms and the way there and back
	openRefusesIn   = 5 * time.Millisecond
	healthyInTime   = .99
	judgedByRefusal = .95 // of so few refusals the slowest says more of the machine than of the gateway
)

// tooBusy is the lag from which on the machine, and not Kalan, decides what is
// seen.
const tooBusy = 20 * time.Millisecond

// A claim is a sentence of the documentation, and whether it held.
type claim struct {
	text string
	held bool
}

// without are the claims about the gateway that has no defences.
func without(a *account) []claim {
	var claims []claim
	for i, name := range a.bridges {
		after, fell := a.fall(i)
		saw := fmt.Sprintf("%v after the hang", after)
		if !fell {
			saw = "they never did"
		}
		claims = append(claims, claim{
			fmt.Sprintf("without defences the callers of %s fail within %v: %s", name, fallsWithin, saw),
			fell && after <= fallsWithin,
		})
	}
	return claims
}

// with are the claims about the gateway that has them. The first bridge is the
// one that hangs.
func with(a *account) []claim {
	claims := hanging(a, 0)
	for i, name := range a.bridges[1:] {
		share := a.all(i + 1).Share(openloop.InTime)
		claims = append(claims, claim{
			fmt.Sprintf("%s answers at least 99 %% in time: %s", name, percent(share)),
			share >= healthyInTime,
		})
	}
	return claims
}

func hanging(a *account, i int) []claim {
	name := a.bridges[i]
	opening, opened := a.opening(i)
	saw := fmt.Sprintf("it took %v", opening.Round(10*time.Millisecond))
	if !opened {
		saw = "it never did"
	}
	before, after := a.refusals(i, sinceSent)
	early, late := before.Quantile(openloop.Refused, judgedByRefusal), after.Quantile(openloop.Refused, judgedByRefusal)
	return []claim{{
		fmt.Sprintf("%s's breaker opens within %v of the hang: %s", name, opensWithin, saw),
		opened && opening >= 0 && opening <= opensWithin,
	}, {
		fmt.Sprintf("until then its callers are refused within %v of asking: %d were, p95 %v", refusesWithin, before.Total(), brief(early)),
		before.Total() > 0 && early <= refusesWithin,
	}, {
		fmt.Sprintf("and after that within %v: %d were, p95 %v", openRefusesIn, after.Total(), brief(late)),
		after.Total() > 0 && late <= openRefusesIn,
	}}
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// brief rounds a latency to what a reader can use.
func brief(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}

func seconds(n int) time.Duration { return span.Mul(time.Second, int64(n)) }
