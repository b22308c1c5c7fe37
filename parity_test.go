package kalan_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim"
)

// The product's promise: the same script through the guard and through the
// simulator gives the same log, decision by decision. Scripts have distinct
// instants, and still two goroutines of the guard can be due at one: a function
// returns because its time is up, and the guard gives it up. Which of the two
// runs first is the scheduler's choice, so a script that differs is played again:
// what the simulator does has to be one of the things that the guard does.
func TestTheSimulatorDecidesAsTheGuardDoes(t *testing.T) {
	seeds := 300
	if testing.Short() {
		seeds = 40
	}
	var decided [6]int
	for seed := range uint64(seeds) {
		p := newParity(seed)
		simulated := p.simulate(t)
		inOneOrder(simulated)
		for try := 1; ; try++ {
			var real []policy.Event
			synctest.Test(t, func(t *testing.T) { real = p.drive(t) })
			inOneOrder(real)
			i := firstDifference(real, simulated)
			if i < 0 {
				break
			}
			if try == 20 {
				t.Fatalf("seed %d (%s) differs at decision %d:\nguard\n%s\nsimulator\n%s", seed, p, i, around(real, i), around(simulated, i))
			}
		}
		for _, e := range simulated {
			decided[e.Kind-1]++
		}
	}
	for kind, n := range decided {
		if n < seeds && policy.Kind(kind+1) != policy.Resized {
			t.Errorf("only %d decisions are %v: the scripts do not reach them", n, policy.Kind(kind+1))
		}
	}
}

// A parity is one script: what is asked, and how the dependency answers.
type parity struct {
	inline   bool
	config   stack.Config
	arrivals []sim.Arrival
	replies  []sim.Reply
}

func (p *parity) String() string {
	return fmt.Sprintf("inline %v, limit %v, checkout %v, exchange %v, retry %+v, cancels %v", p.inline, p.config.Limit, p.config.Checkout,
		p.config.Exchange, p.config.Retry, p.config.Cancels)
}

func newParity(seed uint64) *parity {
	dice := rand.New(rand.NewPCG(seed, 15))
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(dice.Int64N(int64(high-low))) }
	often := func(share float64) bool { return dice.Float64() < share }
	p := &parity{inline: often(.4), config: stack.Config{
		Exchange: between(100*time.Millisecond, 800*time.Millisecond),
		Checkout: between(time.Millisecond, 300*time.Millisecond),
		Limit:    limit.Fixed(1 + dice.IntN(5)),
		Room:     room.Config{Waiting: 1 + dice.IntN(8)},
		Breaker:  breaker.Config{Calls: 3 + dice.IntN(10), Window: 20 * time.Second, Open: between(200*time.Millisecond, 3*time.Second), Probes: 1 + dice.IntN(3)},
		Retry:    retry.Config{Attempts: 1 + dice.IntN(4), Base: between(time.Millisecond, 200*time.Millisecond), Jitter: retry.Constant},
		Budget:   budget.Config{Ratio: dice.Float64()},
		Cancels:  often(.3),
		Trace:    1 << 12,
	}}
	if often(.3) {
		p.config.Retry.Jitter = retry.AtOnce
	}
	if often(.3) {
		p.config.Retry.Hedge = retry.Hedge{After: between(10*time.Millisecond, 200*time.Millisecond)}
	}
	if often(.2) {
		p.config.Rate = 5 + 50*dice.Float64()
	}
	if often(.2) {
		p.config.Limit = limit.Config{}
	}
	failing := dice.Float64() * .7
	at := time.Duration(0)
	for range 30 + dice.IntN(170) {
		at += between(1, time.Duration(2)*(5*time.Millisecond+between(0, 60*time.Millisecond)))
		a := sim.Arrival{At: at}
		if often(.6) {
			a.Deadline = between(20*time.Millisecond, 2*time.Second)
		}
		if often(.1) {
			a.Leaves = between(10*time.Millisecond, time.Second)
		}
		p.arrivals = append(p.arrivals, a)
	}
	for range 401 {
		r := sim.Reply{Takes: between(time.Millisecond, 100*time.Millisecond), Failed: often(failing)}
		if often(.15) {
			r.Takes = between(100*time.Millisecond, 3*time.Second)
		}
		if !r.Failed {
			r.Business = often(.1)
		} else if often(.1) {
			r.RetryAfter = between(time.Millisecond, 500*time.Millisecond)
		}
		p.replies = append(p.replies, r)
	}
	return p
}

// simulate returns the decisions of the guard in the simulator.
func (p *parity) simulate(t *testing.T) []policy.Event {
	r, err := sim.Run(sim.Scenario{
		Name: "parity", Replications: 1, Duration: time.Minute, Warmup: -1,
		Services: []sim.Service{{Name: "dependency", Replay: p.replies, Cancels: true}},
		Loads: []sim.Load{{Name: "callers", To: sim.Target{Service: "dependency"}, Trace: p.arrivals,
			Guard: &sim.Guard{Config: p.config, Inline: p.inline}}},
	}, sim.Options{Journals: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Arms[0].Guards[0].Journals[0]
}

var errBrokenOff = &net.OpError{Op: "read", Err: errors.New("unavailable")}
var errNoSuchOrder = errors.New("no such order")

// drive returns the decisions of a guard on the (fake) wall clock.
func (p *parity) drive(t *testing.T) []policy.Event {
	g, err := kalan.New(kalan.Config{Name: "parity", Config: p.config, Classify: func(err error) policy.Report {
		r := kalan.Classify(err)
		var s stayAway
		if errors.As(err, &s) {
			r = policy.Report{Outcome: policy.Failure, RetryAfter: s.after}
		}
		return r
	}})
	if err != nil {
		t.Fatal(err)
	}
	fn := func(ctx context.Context, number int) (int, error) {
		n := len(p.replies)
		r := p.replies[(number+(kalan.AttemptOf(ctx).Number-1)*(n/2))%n]
		select {
		case <-time.After(r.Takes):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		switch {
		case r.RetryAfter > 0:
			return 0, stayAway{r.RetryAfter}
		case r.Failed:
			return 0, errBrokenOff
		case r.Business:
			return 0, errNoSuchOrder
		}
		return 1, nil
	}
	var calls sync.WaitGroup
	for i, a := range p.arrivals {
		fn := func(ctx context.Context) (int, error) { return fn(ctx, i) }
		calls.Go(func() {
			time.Sleep(a.At)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if a.Deadline > 0 {
				var done context.CancelFunc
				ctx, done = context.WithTimeout(ctx, a.Deadline)
				defer done()
			}
			if a.Leaves > 0 {
				timer := time.AfterFunc(a.Leaves, cancel)
				defer timer.Stop()
			}
			if p.inline {
				_, _ = kalan.Do(ctx, g, fn)
				return
			}
			if _, held, err := kalan.Hold(ctx, g, kalan.Way[int]{Leave: true, Ask: kalan.Ask{Hedge: true}}, fn); err == nil {
				held.Release(policy.Success)
			}
		})
	}
	calls.Wait()
	time.Sleep(time.Minute - time.Since(g.Epoch()))
	events, _ := g.Events(0, nil)
	return events
}

// A stayAway is a failure that says when to come back.
type stayAway struct{ after time.Duration }

func (s stayAway) Error() string { return fmt.Sprint("come back in ", s.after) }

// inOneOrder sorts what was decided at one instant: which of two goroutines that
// were woken at it runs first is nobody's decision.
func inOneOrder(events []policy.Event) {
	slices.SortStableFunc(events, func(a, b policy.Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.Count, b.Count), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Took, b.Took))
	})
}

func firstDifference(a, b []policy.Event) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func around(events []policy.Event, i int) string {
	var lines []string
	for j := max(i-6, 0); j < min(i+4, len(events)); j++ {
		mark := "  "
		if j == i {
			mark = "> "
		}
		lines = append(lines, fmt.Sprintf("%s%d: %+v", mark, j, events[j]))
	}
	return strings.Join(slices.Clip(lines), "\n")
}
