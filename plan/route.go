package plan

import (
	"time"

	"github.com/kalan-go/kalan/policy/deadline"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/span"
)

// A Route is what a configuration says of one kind of call: how long its
// caller waits, and what each attempt may take of that.
type Route struct {
	// Promise is how long the caller waits; 0 or less: until there is an answer.
	Promise time.Duration
	// Margin is kept back of it for the way back.
	Margin time.Duration
	// Checkout is the longest that each attempt waits for its slot.
	Checkout time.Duration
	// Exchange is the longest that each attempt runs; 0 or less: no limit of
	// its own.
	Exchange time.Duration
	// Connect, when positive, says that a call is repeated only if it was
	// never sent, which is known after Connect at the latest (B9). 0: an
	// attempt may be repeated that has run for all of its Exchange.
	Connect time.Duration
	// Retry plans the attempts; zero fields mean their defaults. Of more than
	// 1,000 attempts the first 1,000 are looked at.
	Retry retry.Config
	// Median is what an attempt usually takes; 0: it was not measured.
	Median time.Duration
}

// A Division is what a route's promise leaves to its attempts. Waits are counted
// at their longest: the whole checkout, and the backoff without the luck of its
// jitter.
type Division struct {
	// Attempts is how many were looked at, and Fit how many of them have their
	// whole exchange although each before failed as late as it can.
	Attempts, Fit int
	// Pauses are all waits between the attempts together.
	Pauses time.Duration
	// Needs is the promise within which all of the attempts fit.
	Needs time.Duration
	// Worst is the longest that the caller waits: the promise, or less where
	// the attempts are used up before. Between them lies what the dependency
	// asks for with a Retry-After, up to the longest that is obeyed.
	Worst time.Duration
	// Late is what each attempt has when those before it failed as late as they
	// can, and Early when they failed at once. Both end with the first attempt
	// that has nothing.
	Late, Early []time.Duration
	// Hedge is what an attempt has that is launched beside the first after a
	// fixed delay; 0: there is no such delay, or nothing left after it.
	Hedge time.Duration
	// Each is what every attempt has when the promise is divided among them
	// (B1); 0 when nothing is promised, or nothing left.
	Each time.Duration
}

// Divide computes what the route's settings make of its promise.
func (r Route) Divide() Division {
	r = r.normal()
	d := Division{Attempts: r.Retry.Attempts}
	late, early, asked, pause := r.Checkout, r.Checkout, time.Duration(0), time.Duration(0)
	for n := range d.Attempts {
		if n > 0 {
			pause = r.longest(n-1, pause)
			d.Pauses = span.Add(d.Pauses, pause)
			asked = span.Add(asked, r.obeyed(pause))
			early = span.Add(early, span.Add(pause, r.Checkout))
			late = span.Add(late, span.Add(span.Add(r.failing(), pause), r.Checkout))
		}
		d.Late, d.Early = append0(d.Late, r.left(late)), append0(d.Early, r.left(early))
		if r.left(late) == r.Exchange {
			d.Fit++
		}
	}
	d.Needs = span.Add(span.Add(late, r.Exchange), r.Margin)
	d.Worst = min(r.Promise, span.Add(span.Add(span.Sub(late, d.Pauses), asked), r.Exchange))
	d.Each = r.each(early)
	if after := r.Retry.Hedge.After; after > 0 && d.Attempts > 1 {
		d.Hedge = r.left(span.Add(r.Checkout, after))
	}
	return d
}

// normal returns r with its defaults, and no limit as the longest one.
func (r Route) normal() Route {
	r.Retry = r.Retry.WithDefaults()
	r.Retry.Attempts = min(max(r.Retry.Attempts, 1), mostCount)
	r.Margin, r.Checkout = max(r.Margin, 0), max(r.Checkout, 0)
	for _, limit := range []*time.Duration{&r.Promise, &r.Exchange} {
		if *limit <= 0 {
			*limit = deadline.None
		}
	}
	return r
}

// left is what an attempt has that starts that long after its call.
func (r Route) left(start time.Duration) time.Duration {
	if r.Promise == deadline.None {
		return r.Exchange
	}
	return deadline.Outbound(r.Exchange, max(span.Sub(r.Promise, start), 0), r.Margin)
}

// failing is how late an attempt can fail that another one follows.
func (r Route) failing() time.Duration {
	if r.Connect > 0 {
		return min(r.Connect, r.Exchange)
	}
	return r.Exchange
}

// obeyed is the wait in place of a scheduled one when the dependency asks for
// the longest that it is given. What was never sent was never answered.
func (r Route) obeyed(pause time.Duration) time.Duration {
	if r.Connect > 0 {
		return pause
	}
	return max(pause, r.Retry.Cap)
}

// longest is the longest wait that may follow n retries when the one before was
// last: where the jitter of retry.Config.Wait draws up to.
func (r Route) longest(n int, last time.Duration) time.Duration {
	switch c := r.Retry; c.Jitter {
	case retry.AtOnce:
		return 0
	case retry.Decorrelated:
		return span.Clamp(span.Mul(max(last, c.Base), 3), c.Base, max(c.Cap, c.Base))
	default:
		return c.Schedule(n)
	}
}

// each is the exchange with which all attempts fit; waits are those for their
// slots and between them.
func (r Route) each(waits time.Duration) time.Duration {
	if r.Promise == deadline.None {
		return 0
	}
	share, attempts := span.Add(r.Margin, waits), r.Retry.Attempts
	each := deadline.Divide(r.Promise, share, 1, attempts)
	if r.Connect <= 0 {
		return each
	}
	// All but the last need only the time to connect.
	return max(each, span.Sub(span.Sub(r.Promise, share), span.Mul(r.Connect, int64(attempts-1))))
}

// append0 appends unless the list has come to an attempt with nothing.
func append0(list []time.Duration, left time.Duration) []time.Duration {
	if n := len(list); n > 0 && list[n-1] == 0 {
		return list
	}
	return append(list, left)
}
