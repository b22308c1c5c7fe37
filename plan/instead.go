package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/deadline"
	"github.com/kalan-go/kalan/policy/span"
)

// Instead is what may be written so that every attempt of a route fits its
// promise. Each field does so alone; a zero one cannot.
type Instead struct {
	// Exchange is the divided promise, rounded down to two figures. There is
	// none where it would cut ordinary calls (B11).
	Exchange time.Duration
	// Attempts is how many fit as they are.
	Attempts int
	// Promise is what the attempts need, rounded up to two figures.
	Promise time.Duration
}

// Instead returns what to write where not all attempts fit, and the zero value
// where they do. d is the route's division.
func (r Route) Instead(d Division) Instead {
	if d.Fit == d.Attempts {
		return Instead{}
	}
	return Instead{r.shorter(d.Each), d.Fit, larger(d.Needs)}
}

// String lists the alternatives as the file has them.
func (i Instead) String() string {
	var ways []string
	if i.Exchange > 0 {
		ways = append(ways, fmt.Sprintf("exchange: %v", i.Exchange))
	}
	if i.Attempts > 0 {
		ways = append(ways, fmt.Sprintf("attempts: %d", i.Attempts))
	}
	if i.Promise > 0 {
		ways = append(ways, fmt.Sprintf("promise: %v", i.Promise))
	}
	return strings.Join(ways, ", or ")
}

// shorter is an exchange to write, 0 if it would cut ordinary calls.
func (r Route) shorter(exchange time.Duration) time.Duration {
	if exchange = roundDown(exchange); exchange < r.least() {
		return 0
	}
	return exchange
}

// larger is a promise to write, 0 if no caller waits that long.
func larger(promise time.Duration) time.Duration {
	if promise = roundUp(promise, 100); promise > longest {
		return 0
	}
	return promise
}

// least is the least time that is any use to an attempt: what ordinary calls
// need (B11), and what can be written on the wire.
func (r Route) least() time.Duration {
	return max(span.Mul(max(r.Median, 0), near), time.Millisecond)
}

// Warnings says what of the route's settings cannot do what it is there for. The
// paths are "promise", the route's own, and those of its dependency. That a
// second attempt does not fit after one that has timed out is no warning: it is
// there for failures that come at once, and starts only while there is time.
func (r Route) Warnings(d Division) policy.Problems {
	var c field.Check
	if n := r.Retry.Attempts; n > mostCount {
		c.Warn("retry.attempts", "%d are more than any caller waits for; the plan looks at %d of them", n, mostCount)
	}
	r = r.normal()
	if r.Exchange < span.Mul(max(r.Median, 0), near) {
		c.Warn("exchange", "%v is less than %d times the usual %v; ordinary calls will time out. Write at least %v",
			r.Exchange, near, r.Median, span.Mul(r.Median, near))
	}
	switch {
	case r.Promise == deadline.None:
	case d.Fit == 0:
		r.warnOfFirst(&c)
	default:
		r.warnOfLast(&c, d)
	}
	return c.Problems()
}

// warnOfFirst says that not even one attempt fits (F9).
func (r Route) warnOfFirst(c *field.Check) {
	waits := span.Add(r.Margin, r.Checkout)
	one := Instead{Exchange: r.shorter(span.Sub(r.Promise, waits)), Promise: larger(span.Add(waits, r.Exchange))}
	c.Warn("promise", "%v is less than one attempt may need: %v for the way back, %v for a slot and an exchange of %v are %v; "+
		"the caller may leave before exchange ends it. Write %v",
		r.Promise, r.Margin, r.Checkout, r.Exchange, span.Add(waits, r.Exchange), one)
}

// warnOfLast says which attempts and hedges never have the time for anything.
func (r Route) warnOfLast(c *field.Check, d Division) {
	useful := min(r.least(), r.Exchange) // a short exchange is not the promise's fault
	for n, left := range d.Early {
		if n > 0 && left < useful {
			c.Warn("promise", "%v leaves %v for attempt %d of %d even when those before it fail at once; write attempts: %d, or shorter waits",
				r.Promise, left, n+1, d.Attempts, n)
			break
		}
	}
	if after := r.Retry.Hedge.After; after > 0 && d.Attempts > 1 && d.Hedge < useful {
		c.Warn("promise", "%v leaves %v for a hedge that goes out after %v; write a shorter delay, or hedge: off", r.Promise, d.Hedge, after)
	}
}
