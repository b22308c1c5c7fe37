package handoff

import (
	"context"
	"fmt"

	"github.com/kalan-go/kalan/policy"
)

// Close takes nothing more, and waits until everything that was accepted has
// been done, in order. When ctx ends first it cuts: what waits is dropped, the
// contexts of what runs are cancelled, and the error says how much that was. It
// does not wait for work that ignores its context.
//
// Close may be called more than once, and by several; each waits as long as its
// own ctx says.
func (q *Queue[T]) Close(ctx context.Context) error {
	q.mu.Lock()
	q.closed = true
	q.settle()
	q.mu.Unlock()
	select {
	case <-q.idle:
		return nil
	case <-ctx.Done():
	}
	left, running := q.takeAll()
	q.cut(ErrClosed)
	for _, e := range left {
		q.drop(e.item, q.rejection(policy.Shed, ErrClosed))
	}
	if len(left)+running == 0 {
		return nil // the last one ended at that very moment
	}
	return fmt.Errorf("handoff %s: closing dropped %d that waited and cut %d that ran: %w", q.name, len(left), running, context.Cause(ctx))
}

// takeAll empties the line before anything is cut, so that no worker that wakes
// up drops what is to be counted here.
func (q *Queue[T]) takeAll() (left []entry[T], running int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.line.waiting > 0 {
		left = append(left, q.line.pop())
	}
	return left, q.line.running
}
