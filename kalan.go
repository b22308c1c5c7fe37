// Package kalan keeps one slow dependency from taking everything down.
//
// A [Guard] stands before one dependency and decides who waits, who is retried
// and who is refused:
//
//	bridge, err := kalan.New(kalan.Config{Name: "bridge-a"})
//	...
//	price, err := kalan.Do(ctx, bridge, func(ctx context.Context) (Price, error) {
//		return client.Price(ctx, symbol)
//	})
//
// The policies stand in a fixed order, outside in: retry, breaker, throttle and
// rate where they are asked for, time limit, limit with its waiting room, call.
// Nobody composes it wrongly because nobody composes it. Use one Guard for each
// dependency, never one for all: a breaker that many share cuts off the healthy
// with the sick.
//
// # What the caller gets
//
// The function's value and error when it was run; a [*Rejection] when it was
// refused, with the reason as a sentinel (errors.Is(err, policy.Open)) and a
// time to come back. When attempts or the retry budget are used up, the last
// attempt's own error.
//
// # What it costs
//
// Do reads the clock twice and allocates nothing when the function's context
// needs no limit of its own, and 96 bytes when it does. All of a guard's
// decisions are made under one mutex, in machines that never wait: package
// policy/stack and those below it. This package is their driver on the wall
// clock; package sim drives the same machines on a virtual one.
//
// The zero [Config] protects: every zero field means its documented default.
package kalan

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/spin"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// Config describes a guard. The zero value is ready to use.
type Config struct {
	// Name appears in errors, logs and metrics. It may be empty; guards that
	// one registry shows need names of their own.
	Name string
	// Config says what stands before the dependency.
	stack.Config
	// Classify judges a function's error: it decides what the breaker hears
	// and what may be retried. nil means [Classify]. It must not block.
	Classify func(error) policy.Report
}

// A Guard protects one dependency, and its callers from it. It is safe for
// concurrent use and must not be copied. Use [New].
type Guard struct {
	name     string
	classify func(error) policy.Report
	usual    bool // classify is Classify
	cancels  atomic.Bool
	epoch    time.Time

	mu      spin.Mutex
	stack   *stack.Stack
	seed    uint64
	wakes   []chan struct{} // by slot: who waits there; kept when the slot is used again
	timers  []*time.Timer   // stopped, for the next wait
	looker  *time.Timer
	looking bool
	panics  uint64
}

// lookEvery is how often a guard looks at the time by itself while anything is
// in flight or its breaker is going to move.
const lookEvery = time.Second

// New returns a guard, or everything that is wrong with c.
func New(c Config) (*Guard, error) {
	if err := wrong(c.Name, c.Config); err != nil {
		return nil, err
	}
	if c.Breaker.Seed == 0 { // no two processes open and probe in step
		c.Breaker.Seed = rand.Uint64()
	}
	g := &Guard{
		name:     c.Name,
		classify: c.Classify,
		epoch:    time.Now(),
		stack:    stack.New(c.Config),
		seed:     rand.Uint64(),
	}
	g.cancels.Store(c.Cancels)
	if g.classify == nil {
		g.classify, g.usual = Classify, true
	}
	g.looker = g.newLooker()
	return g, nil
}

// wrong returns everything that is wrong with the configuration of a guard.
func wrong(name string, c stack.Config) error {
	return field.Error("kalan: guard", strconv.Quote(name), c.Validate())
}

// Configure changes what stands before the dependency while calls go on. What
// was learned and counted is kept, whoever waits goes on waiting, and attempts
// that run end by the limits they were started with; Trace stays as it is. On an
// error, which says everything that is wrong with c, nothing has changed.
func (g *Guard) Configure(c stack.Config) error {
	if err := wrong(g.name, c); err != nil {
		return err
	}
	now := g.now()
	g.mu.Lock()
	g.cancels.Store(c.Cancels)
	g.stack.Configure(now, c)
	g.unlock()
	return nil
}

// Name returns the guard's name.
func (g *Guard) Name() string { return g.name }

// Snapshot returns what the guard looks like now. It changes nothing and is
// never stale.
func (g *Guard) Snapshot() stack.Snapshot {
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	shot := g.stack.Snapshot(now)
	shot.Panics = g.panics
	return shot
}

// Events appends to buf the decisions after number after that are still kept
// (see stack.Config.Trace), and returns the number of the last one. Start with
// 0. Instants in events are counted from Epoch.
func (g *Guard) Events(after uint64, buf []policy.Event) ([]policy.Event, uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stack.Events(after, buf)
}

// Epoch returns the time that the guard's instants are counted from.
func (g *Guard) Epoch() time.Time { return g.epoch }
