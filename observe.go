package kalan

import (
	"context"
	"log/slog"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/stack"
)

// An Observer is told what guards have decided: attempts started, retried and
// settled, calls refused and why, breakers that moved, limits that were
// resized. Decisions are values; see [policy.Event].
//
// It is told after the fact and never by the call itself: a guard keeps its
// decisions in a ring of fixed size (stack.Config.Trace), [Watch] pulls them
// from there. An observer that is slow holds up no call: it loses the oldest, and
// is told how many. One that panics does so in Watch's goroutine, and holds no
// lock of the guard's.
//
// Counters need no observer: [Guard.Snapshot] has them, exactly.
type Observer interface {
	// Observe is told the next decisions of one guard, oldest first. missed is
	// how many were lost before the first of them. An event's At counts from
	// g.Epoch. The slice belongs to the caller: copy what is to be kept.
	Observe(g *Guard, events []policy.Event, missed uint64)
}

// ObserverFunc is a function that observes.
type ObserverFunc func(g *Guard, events []policy.Event, missed uint64)

// Observe calls f.
func (f ObserverFunc) Observe(g *Guard, events []policy.Event, missed uint64) { f(g, events, missed) }

// Watch tells o what the guards decide until ctx ends, beginning with what they
// have kept. It blocks: give it a goroutine of its own. When ctx ends it tells
// the rest and returns.
//
// A guard whose Trace is 0 keeps moves of its breaker and its limit only, which
// is what a log wants and costs the calls nothing. With Trace set, every
// decision is kept, at about 20 ns each; a ring that holds what a quarter of a
// second brings loses nothing.
func Watch(ctx context.Context, o Observer, guards ...*Guard) {
	WatchAll(ctx, o, func() []*Guard { return guards })
}

// Config returns what stands before the dependency, with every default filled
// in.
func (g *Guard) Config() stack.Config {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stack.Config()
}

// A look is one pull of a watch: what it has seen of each guard so far.
type look struct {
	seen   map[*Guard]uint64
	buffer []policy.Event
}

// pull tells o what has come since the last pull, and returns how full the
// fullest ring was: above 1 something was lost.
func (l *look) pull(o Observer, guards []*Guard) (full float64) {
	before := l.seen
	l.seen = make(map[*Guard]uint64, len(guards)) // guards that are no longer listed are forgotten
	for _, g := range guards {
		after := before[g]
		var last uint64
		l.buffer, last = g.Events(after, l.buffer[:0])
		l.seen[g] = last
		if last == after {
			continue
		}
		full = max(full, float64(last-after)/float64(g.ring()))
		o.Observe(g, l.buffer, last-after-uint64(len(l.buffer)))
	}
	return full
}

// ring returns how many decisions the guard keeps.
func (g *Guard) ring() int {
	if n := g.Config().Trace; n > 0 {
		return n
	}
	return 64
}

// SlogObserver writes what guards decide to a log, in few lines however many
// decisions there are: under overload a line for each refusal would be one more
// overload. A breaker's moves are a line each, at Warn when it opens and at Info
// else. Of what came together, refusals are counted by reason, in a line at Info,
// attempts by outcome, in a line at Debug, and where the limit has moved to is a
// line at Debug too: an adaptive one moves with the traffic, several times a
// second, and says nothing of what has gone wrong.
func SlogObserver(log *slog.Logger) Observer { return slogObserver{log} }

type slogObserver struct{ log *slog.Logger }

// A tally is what came together.
type tally struct {
	refused          [policy.Reasons]int
	outcomes         [4]int
	started, retried int
	slots            int64
}

// Observe writes it down.
func (s slogObserver) Observe(g *Guard, events []policy.Event, missed uint64) {
	var t tally
	for _, e := range events {
		if e.Kind == policy.Moved {
			s.moved(g, e)
			continue
		}
		t.add(e)
	}
	s.sum(g, &t)
	if missed > 0 {
		s.log.Warn("decisions were not observed; a larger Trace keeps more", "guard", g.name, "missed", missed)
	}
}

func (t *tally) add(e policy.Event) {
	switch e.Kind {
	case policy.Refused:
		t.refused[min(int(e.Reason), policy.Reasons-1)]++
	case policy.Settled:
		t.outcomes[e.Outcome&3]++
	case policy.Resized:
		t.slots = e.Count
	case policy.Retried:
		t.retried++
	case policy.Started:
		t.started++
	}
}

func (s slogObserver) moved(g *Guard, e policy.Event) {
	to := breaker.State(e.Count)
	level := slog.LevelInfo
	if to == breaker.Open {
		level = slog.LevelWarn
	}
	s.log.Log(context.Background(), level, "breaker moved", "guard", g.name, "to", to.String(), "at", g.at(e.At))
}

// sum writes a line for each kind of which there was something.
func (s slogObserver) sum(g *Guard, t *tally) {
	if t.slots > 0 {
		s.log.Debug("limit moved", "guard", g.name, "slots", t.slots)
	}
	line := []any{"guard", g.name}
	for why, n := range t.refused {
		if n > 0 {
			line = append(line, policy.Reason(why).String(), n)
		}
	}
	if len(line) > 2 {
		s.log.Info("refused", line...)
	}
	line = append(line[:2:2], "started", t.started, "retried", t.retried)
	for o, n := range t.outcomes {
		if n > 0 {
			line = append(line, policy.Outcome(o).String(), n)
		}
	}
	if t.started+t.retried > 0 || len(line) > 6 {
		s.log.Debug("attempts", line...)
	}
}
