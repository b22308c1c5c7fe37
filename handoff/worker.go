package handoff

import (
	"context"

	"github.com/kalan-go/kalan/internal/crash"
	"github.com/kalan-go/kalan/pause"
	"github.com/kalan-go/kalan/policy"
)

// serve is a worker: it begins with e, and goes home when nothing waits.
func (q *Queue[T]) serve(e entry[T]) {
	exited := true
	defer func() {
		if exited { // runtime.Goexit ends this goroutine, and not the work of others
			q.relieve()
		}
	}()
	for ok := true; ok; e, ok = q.next() {
		q.handle(e)
	}
	exited = false
}

// relieve sends another worker in the place of one that is ending.
func (q *Queue[T]) relieve() {
	if e, ok := q.next(); ok {
		go q.serve(e)
	}
}

func (q *Queue[T]) next() (entry[T], bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.line.next()
	q.settle()
	return e, ok
}

// settle tells Close when nothing is left.
func (q *Queue[T]) settle() {
	if q.closed && q.line.running == 0 && q.line.waiting == 0 {
		select {
		case <-q.idle:
		default:
			close(q.idle)
		}
	}
}

// handle does the work of an item, or drops it when nobody wants it any more.
func (q *Queue[T]) handle(e entry[T]) {
	if why := pause.Over(e.ctx); why != policy.None && !q.seen() {
		q.drop(e.item, q.rejection(why, context.Cause(e.ctx)))
		return
	}
	if q.base.Err() != nil { // taken out of the line while Close was cutting it
		q.drop(e.item, q.rejection(policy.Shed, ErrClosed))
		return
	}
	ctx, cancel := context.WithCancelCause(e.ctx)
	stop := context.AfterFunc(q.base, func() { cancel(context.Cause(q.base)) })
	do := func() (T, error) { q.work.Do(ctx, e.item); return e.item, nil }
	crash.Call(do, func(_ T, err error) {
		stop()
		cancel(nil)
		if err == nil {
			q.count(&q.stats.Done)
			return
		}
		q.count(&q.stats.Panics)
		q.tell(e.item, err)
	})
}

// seen counts an item that is not wanted any more, and reports whether it is begun
// all the same.
func (q *Queue[T]) seen() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.observe {
		q.stats.Dropped++
	}
	return q.observe
}

// drop ends an item that was never begun.
func (q *Queue[T]) drop(item T, why error) {
	q.count(&q.stats.Dropped)
	q.tell(item, why)
}

// tell lets the owner of the queue hear of an item that was not done.
func (q *Queue[T]) tell(item T, why error) {
	if q.work.Drop == nil {
		return
	}
	crash.Call(func() (T, error) { q.work.Drop(item, why); return item, nil }, func(_ T, err error) {
		if err != nil {
			q.count(&q.stats.Panics)
		}
	})
}

func (q *Queue[T]) count(what *uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	*what++
}
