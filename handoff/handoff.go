// Package handoff passes work from those who accept it to those who do it,
// inside one process, through a queue that refuses when it is full.
//
// The usual hand-offs fail under load in three ways. A queue without a bound
// takes everything, until memory or patience is used up. A pool that runs what
// does not fit on the goroutine that offers it stops the accepting. And one
// that works through its backlog after a stall does so for people who left long
// ago. A Queue
//
//   - refuses at once what has no place (1,000 may wait; F11), and never runs
//     anything on the goroutine that offers;
//   - begins nothing whose deadline has passed or whose context has ended
//     while it waited, by the clock and not by the timers alone (O-19, F23);
//   - goes on after a panic, or a runtime.Goexit, of one piece of work;
//   - closes in order: takes nothing more, finishes what waits, oldest first,
//     and after a limit cuts what is left and says how much that was.
//
// Every item that was accepted ends in exactly one way: its Do returns, or its
// Drop is called.
//
// Use it to decouple work whose result the offerer does not wait for: writing
// an audit record, warming a cache, sending a message. Where the caller waits
// for the answer, use a kalan.Guard, whose room also sheds by waiting time and
// serves by priority. The items are in memory only, and lost when the process
// dies.
//
// A queue has as many goroutines as items under way, at most Config.Workers, and
// none while it is idle.
package handoff

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/crash"
	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/pause"
	"github.com/kalan-go/kalan/policy"
)

// ErrClosed is the cause of what a closed queue refuses and drops.
var ErrClosed = errors.New("the queue is closed")

// A Panic is the error with which Drop hears of work that did not return.
type Panic = crash.Error

// Work is what a queue does with its items.
type Work[T any] struct {
	// Do does the work of one item. Its context has the values and the deadline
	// of the one the item was offered with, and ends as well when the queue's
	// Close cuts it. Items are worked on at the same time.
	Do func(ctx context.Context, item T)
	// Drop, if not nil, hears of an accepted item that Do did not finish: with
	// a [*kalan.Rejection] when it was never begun (policy.Expired, policy.Gone,
	// or policy.Shed because the queue was closed), with a [*Panic] when Do
	// did not return. It must not block.
	Drop func(item T, err error)
}

// A Queue hands items to workers. It is made by New and safe for concurrent use.
type Queue[T any] struct {
	name    string
	work    Work[T]
	epoch   time.Time
	base    context.Context // ends when running work is cut
	cut     context.CancelCauseFunc
	mu      sync.Mutex
	line    line[T]
	closed  bool
	observe bool          // begins also what is not wanted any more
	idle    chan struct{} // closed when the queue is closed and nothing is left
	stats   Snapshot
}

// A Snapshot says what a queue is doing, and counts what it has done.
type Snapshot struct {
	Waiting int           // items that wait
	Running int           // items that are worked on
	Oldest  time.Duration // how long the oldest has waited
	Done    uint64        // items whose work returned
	Refused uint64        // items that were not accepted
	Dropped uint64        // accepted items that were never begun; observing, also those that would not have been
	Panics  uint64        // panics and Goexits, of Do and of Drop
}

// New returns a queue. The error lists everything that is wrong with config.
func New[T any](config Config, work Work[T]) (*Queue[T], error) {
	if err := field.Error("handoff", config.Name, config.Validate()); err != nil {
		return nil, err
	}
	if work.Do == nil {
		return nil, field.Error("handoff", config.Name, policy.Problems{{Path: "work.do", Text: "is missing; give a function"}})
	}
	q := &Queue[T]{
		name: config.Name, work: work, epoch: time.Now(), idle: make(chan struct{}),
		line: newLine[T](config.WithDefaults()), observe: config.Observe,
	}
	q.base, q.cut = context.WithCancelCause(context.Background())
	return q, nil
}

// Configure changes the configuration, but for the name. Whoever waits stays in
// line, also where there are more of them than places now; more workers begin
// at once, and of too many each goes home when it has done its item.
func (q *Queue[T]) Configure(config Config) error {
	if err := field.Error("handoff", q.name, config.Validate()); err != nil {
		return err
	}
	config = config.WithDefaults()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.observe = config.Observe
	q.line.resize(config)
	for e, ok := q.line.more(); ok; e, ok = q.line.more() {
		go q.serve(e)
	}
	return nil
}

// Offer hands an item over, and returns at once. nil means that it was accepted.
// Otherwise the error is a [*kalan.Rejection]: policy.Full when there is no
// place, policy.Shed when the queue is closed, policy.Expired or policy.Gone
// when ctx is over already.
//
// The item's deadline is that of ctx, and it is dropped when ctx ends before it
// was begun. For what should outlive its request take context.WithoutCancel,
// and a deadline of its own.
func (q *Queue[T]) Offer(ctx context.Context, item T) error {
	why, cause := pause.Over(ctx), context.Cause(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	e := entry[T]{ctx, item, q.now()}
	switch {
	case why != policy.None:
	case q.closed:
		why, cause = policy.Shed, ErrClosed
	default:
		switch q.line.offer(e) {
		case begun:
			go q.serve(e)
			return nil
		case queued:
			return nil
		}
		why = policy.Full
	}
	q.stats.Refused++
	return q.rejection(why, cause)
}

// Snapshot returns what the queue is doing now.
func (q *Queue[T]) Snapshot() Snapshot {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	s.Waiting, s.Running, s.Oldest = q.line.waiting, q.line.running, q.line.oldest(q.now())
	return s
}

func (q *Queue[T]) now() policy.Instant { return policy.Instant(time.Since(q.epoch)) }

func (q *Queue[T]) rejection(why policy.Reason, cause error) error {
	return &kalan.Rejection{Guard: q.name, Reason: why, Cause: cause}
}
