package handoff

import (
	"context"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// An entry is an item that waits.
type entry[T any] struct {
	ctx   context.Context
	item  T
	since policy.Instant
}

// A verdict says what becomes of an item that is offered.
type verdict uint8

const (
	refused verdict = iota
	begun           // a worker is to be started with it
	queued
)

// A line is the decision of the queue: who gets a worker, who a place, and who
// is next. It is told the time, does not wait and does no locking. While anybody
// waits every worker is busy, so the oldest entry is always the next.
type line[T any] struct {
	ring    []entry[T]
	head    int // the oldest
	waiting int
	places  int
	workers int
	running int
}

func newLine[T any](c Config) line[T] {
	places := max(c.Waiting, 0)
	return line[T]{ring: make([]entry[T], places), places: places, workers: c.Workers}
}

// resize changes how many there may be. Whoever waits stays, in order, also
// where it is more than there are places.
func (l *line[T]) resize(c Config) {
	next := newLine[T](c)
	if l.waiting > next.places {
		next.ring = make([]entry[T], l.waiting)
	}
	for i := range l.waiting {
		next.ring[i] = l.ring[(l.head+i)%len(l.ring)]
	}
	next.waiting, next.running = l.waiting, l.running
	*l = next
}

// more gives the oldest entry to a worker that is to be started; false when there
// are enough, or nothing waits.
func (l *line[T]) more() (e entry[T], ok bool) {
	if l.waiting == 0 || l.running >= l.workers {
		return e, false
	}
	l.running++
	return l.pop(), true
}

// offer takes an entry, if there is an idle worker or a place to wait.
func (l *line[T]) offer(e entry[T]) verdict {
	switch {
	case l.running < l.workers:
		l.running++
		return begun
	case l.waiting < l.places:
		l.ring[(l.head+l.waiting)%len(l.ring)] = e
		l.waiting++
		return queued
	}
	return refused
}

// next gives a worker the oldest entry; false sends it home, also where there are
// more workers than there are to be.
func (l *line[T]) next() (e entry[T], ok bool) {
	if l.waiting == 0 || l.running > l.workers {
		l.running--
		return e, false
	}
	return l.pop(), true
}

// pop takes out the oldest entry.
func (l *line[T]) pop() entry[T] {
	e := l.ring[l.head]
	l.ring[l.head] = entry[T]{}
	l.head = (l.head + 1) % len(l.ring)
	l.waiting--
	return e
}

// oldest returns how long the oldest entry has waited.
func (l *line[T]) oldest(now policy.Instant) time.Duration {
	if l.waiting == 0 {
		return 0
	}
	return max(now.Sub(l.ring[l.head].since), 0)
}
