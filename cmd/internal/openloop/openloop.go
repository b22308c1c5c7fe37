// Package openloop sends requests by the clock and not by the answers, for the
// demo and for drills.
//
// A generator that waits for an answer before it sends the next request stops
// asking exactly when the server stops answering: a stall of ten seconds shows
// as one slow sample (coordinated omission, O-40). Real callers do not know of
// each other. Here every arrival has an instant that is fixed beforehand; its
// deadline and its latency count from that instant, whether or not the
// generator could send it in time. An arrival that could not be sent at all,
// because too many were unanswered, is reported as unsent and never dropped
// silently.
//
// When not to use it: to find the highest rate that something serves. That
// needs many rates, and a generator on another machine.
package openloop

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy/span"
)

// An Outcome is what became of one arrival, as its caller sees it.
type Outcome uint8

const (
	// InTime: answered before the deadline.
	InTime Outcome = iota
	// Late: not answered by the deadline; the caller has left.
	Late
	// Failed: answered with an error, or the connection broke.
	Failed
	// Refused: told at once, or after a short wait, that it will not be served.
	Refused
	// Unsent: too many were unanswered, or the generator was told to stop.
	Unsent

	// Outcomes is the number of outcomes, for arrays indexed by Outcome.
	Outcomes = int(Unsent) + 1
)

// String returns the outcome as reports write it.
func (o Outcome) String() string {
	return [Outcomes]string{"in time", "late", "failed", "refused", "unsent"}[o]
}

// A Shot is one arrival: when it is due, and until when its caller waits. One
// that is sent again is due again.
type Shot struct {
	Number       int
	Kind         int // in the mix
	At, Deadline time.Time
}

// A Result is what became of a shot.
type Result struct {
	Shot    Shot
	Outcome Outcome
	// Took is the time from the instant when the shot was due to its answer, or
	// to when its caller left.
	Took time.Duration
	// Lag is how far behind its schedule the shot was sent: the generator's own
	// share of Took, and a sign that the machine is too busy to judge others.
	Lag time.Duration
	// Again says that it will be sent once more: it is not its caller's last
	// word.
	Again bool
	// First is when its caller first came.
	First time.Time
}

// Run sends every arrival at its instant and returns when the last one is
// answered or given up. send carries out one request: its context ends at the
// deadline, and an answer that comes later counts as late whatever send says.
// hear is told every result, one at a time. When ctx ends, what has not been
// sent is unsent, and what is unanswered is cut.
func (l Load) Run(ctx context.Context, send func(context.Context, Shot) Outcome, hear func(Result)) {
	g := generator{load: l, send: send, hear: hear, slots: make(chan struct{}, l.flying())}
	start, n := time.Now(), 0
	for a := range l.Arrivals() {
		due := start.Add(a.At)
		g.one(ctx, Shot{Number: n, Kind: a.Kind, At: due, Deadline: due.Add(a.Patience)})
		n++
	}
	g.flights.Wait()
}

// A generator is one run of a load.
type generator struct {
	load    Load
	send    func(context.Context, Shot) Outcome
	hear    func(Result)
	slots   chan struct{}
	flights sync.WaitGroup
	mu      sync.Mutex // held while hear runs
}

// one waits until the shot is due and sends it.
func (g *generator) one(ctx context.Context, shot Shot) {
	if jitter.Sleep(ctx, time.Until(shot.At)) != nil {
		g.tell(Result{Shot: shot, Outcome: Unsent, First: shot.At})
		return
	}
	select {
	case g.slots <- struct{}{}:
		g.flights.Go(func() {
			defer func() { <-g.slots }()
			g.fly(ctx, shot)
		})
	default:
		g.tell(Result{Shot: shot, Outcome: Unsent, First: shot.At})
	}
}

// fly sends a shot, and again as long as its caller does.
func (g *generator) fly(ctx context.Context, shot Shot) {
	first, patience := shot.At, shot.Deadline.Sub(shot.At)
	for n := 0; ; n++ {
		r := g.try(ctx, shot)
		r.First, r.Again = first, r.Outcome != InTime && n < g.load.Retries
		if r.Again {
			shot.At = time.Now().Add(g.pause(n))
			shot.Deadline = shot.At.Add(patience)
		}
		g.tell(r)
		if !r.Again {
			return
		}
		if jitter.Sleep(ctx, time.Until(shot.At)) != nil {
			g.tell(Result{Shot: shot, Outcome: Unsent, First: first})
			return
		}
	}
}

// pause draws the pause before the nth time that a caller asks again.
func (g *generator) pause(n int) time.Duration {
	return span.Scale(span.Mul(g.load.Pause, 1<<min(n, 20)), rand.Float64())
}

func (g *generator) try(ctx context.Context, shot Shot) Result {
	lag := time.Since(shot.At)
	ctx, cancel := context.WithDeadline(ctx, shot.Deadline)
	defer cancel()
	outcome := g.send(ctx, shot)
	now := time.Now()
	if outcome == InTime && now.After(shot.Deadline) {
		outcome = Late
	}
	return Result{Shot: shot, Outcome: outcome, Took: now.Sub(shot.At), Lag: lag}
}

func (g *generator) tell(r Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hear(r)
}
