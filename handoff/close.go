package handoff

import (
	"context"
	"fmt"

	"github.com/kalan-go/kalan/policy"
)

// Close takes nothing more, and waits until everything that was accepted has
// been done, in order. When ctx ends first it cuts: what waits is dropped, the
// contexts of what runs are cancelled, and the error says how much that was. It
// does not wait for work that minds no context.
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
	dropped, running := q.abandon()
	if dropped+running == 0 {
		return nil // the last one ended at that very moment
	}
	return fmt.Errorf("handoff %s: closing dropped %d that waited and cut %d that ran: %w", q.name, dropped, running, context.Cause(ctx))
}

// abandon cuts what is left.
func (q *Queue[T]) abandon() (dropped, running int) {
	q.cut(ErrClosed)
	for {
		q.mu.Lock()
		if q.line.waiting == 0 {
			running = q.line.running
			q.mu.Unlock()
			return dropped, running
		}
		e := q.line.pop()
		q.mu.Unlock()
		dropped++
		q.drop(e.item, q.rejection(policy.Shed, ErrClosed))
	}
}
