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
// in silence.
//
// When not to use it: to find the highest rate that something serves. That
// needs many rates, and a generator on another machine.
package openloop

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"sync"
	"time"

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

// A Load says what arrives when. The same Load gives the same arrivals.
type Load struct {
	// Rate is how many arrive a second. 0 means none, and so does nonsense.
	Rate float64
	// For is how long they arrive.
	For time.Duration
	// Patience is how long a caller waits, drawn evenly from the range. The
	// zero value means one second.
	Patience span.Range
	// Poisson spaces the arrivals at random, as independent callers do. False
	// spaces them evenly.
	Poisson bool
	// Seed chooses the random numbers.
	Seed uint64
	// Flying is the largest number of unanswered requests. 0 means 10,000.
	// Raising it costs memory, and hides less of a long stall.
	Flying int
}

// A Shot is one arrival: when it is due, and until when its caller waits.
type Shot struct {
	Number       int
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
}

// Arrivals returns the schedule: the offset of each arrival from the start and
// how long its caller waits.
func (l Load) Arrivals() iter.Seq2[time.Duration, time.Duration] {
	patience := l.Patience
	if patience.IsZero() {
		patience = span.Range{Min: time.Second, Max: time.Second}
	}
	return func(yield func(at, patience time.Duration) bool) {
		if !(l.Rate > 0) || math.IsInf(l.Rate, 1) {
			return
		}
		draw := rand.New(rand.NewPCG(l.Seed, 0))
		gap := span.Scale(time.Second, 1/l.Rate)
		for n, at := 0, time.Duration(0); ; n++ {
			if l.Poisson {
				at = span.Add(at, span.Scale(gap, draw.ExpFloat64()))
			} else {
				at = span.Scale(time.Second, float64(n)/l.Rate)
			}
			if at >= l.For || !yield(at, patience.Pick(draw.Float64())) {
				return
			}
		}
	}
}

// Run sends every arrival at its instant and returns when the last one is
// answered or given up. send carries out one request: its context ends at the
// deadline, and an answer that comes later counts as late whatever send says.
// hear is told every result, one at a time. When ctx ends, what has not been
// sent is unsent, and what is unanswered is cut.
func (l Load) Run(ctx context.Context, send func(context.Context, Shot) Outcome, hear func(Result)) {
	g := generator{send: send, hear: hear, slots: make(chan struct{}, l.flying())}
	start, n := time.Now(), 0
	for at, patience := range l.Arrivals() {
		due := start.Add(at)
		g.one(ctx, Shot{Number: n, At: due, Deadline: due.Add(patience)})
		n++
	}
	g.flights.Wait()
}

func (l Load) flying() int {
	if l.Flying <= 0 {
		return 10_000
	}
	return l.Flying
}

// A generator is one run of a load.
type generator struct {
	send    func(context.Context, Shot) Outcome
	hear    func(Result)
	slots   chan struct{}
	flights sync.WaitGroup
	mu      sync.Mutex // held while hear runs
}

// one waits until the shot is due and sends it.
func (g *generator) one(ctx context.Context, shot Shot) {
	if !sleepUntil(ctx, shot.At) {
		g.tell(Result{Shot: shot, Outcome: Unsent})
		return
	}
	select {
	case g.slots <- struct{}{}:
		g.flights.Go(func() {
			defer func() { <-g.slots }()
			g.fly(ctx, shot)
		})
	default:
		g.tell(Result{Shot: shot, Outcome: Unsent})
	}
}

func (g *generator) fly(ctx context.Context, shot Shot) {
	lag := time.Since(shot.At)
	ctx, cancel := context.WithDeadline(ctx, shot.Deadline)
	defer cancel()
	outcome := g.send(ctx, shot)
	now := time.Now()
	if outcome == InTime && now.After(shot.Deadline) {
		outcome = Late
	}
	g.tell(Result{Shot: shot, Outcome: outcome, Took: now.Sub(shot.At), Lag: lag})
}

func (g *generator) tell(r Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hear(r)
}

// sleepUntil reports whether the instant came before the end of ctx.
func sleepUntil(ctx context.Context, at time.Time) bool {
	if ctx.Err() != nil {
		return false
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
