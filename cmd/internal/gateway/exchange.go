package gateway

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/cmd/internal/gateway/caller"
	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/internal/replay"
	"github.com/kalan-go/kalan/policy"
)

// An exchange is one request on its way. Its handler owns it; attempts that
// were left behind go on reading what does not change after enter.
type exchange struct {
	g      *Gateway
	w      http.ResponseWriter
	r      *http.Request
	conn   *conn // nil when another server serves
	peer   *wire.Peer
	target *target
	url    *url.URL      // with its dot segments resolved
	place  atomic.Uint32 // in the pool, of the next attempt

	tenant     caller.Tenant
	ask        kalan.Ask
	repeatable bool         // by its method or its key
	deadline   time.Time    // zero: none
	limit      callContext  // what the guard sees
	body       *replay.Body // nil: none
	sender     *sender      // who sends it
	tries      atomic.Int32 // attempts begun
	users      atomic.Int32 // the handler and the attempts that still run: who needs the worker
	worker     bool         // one was taken

	mu    sync.Mutex // guards w against whoever is not the handler
	begun bool       // the answer's head is out: nothing may come before it
	over  bool       // the handler is done: w is not ours any more
	quit  bool       // nothing more of the request's body is to be read

	began, waited time.Duration // when it began, and how long it waited for others
	record        record
}

// A callContext is the caller's context with the call's deadline, which arms
// no timer: the guard keeps time by itself.
type callContext struct {
	context.Context
	deadline time.Time
}

func (c *callContext) Deadline() (time.Time, bool) {
	if c.deadline.IsZero() {
		return c.Context.Deadline()
	}
	return c.deadline, true
}

// serve is the handler of the routes.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	x := &exchange{g: g, w: w, r: r, conn: connOf(r), began: g.now()}
	g.inflight.Add(1)
	x.users.Store(1)
	defer x.finish()
	if p := x.enter(); p != nil {
		x.refuse(p)
		return
	}
	if why := x.takeWorker(); why != policy.None {
		p := x.refusal("workers", why, 0, nil)
		p.waited = why != policy.Full
		x.refuse(p)
		return
	}
	x.call()
}

// call runs the attempts behind the guard and delivers the answer.
func (x *exchange) call() {
	way := kalan.Way[reply]{Judge: x.judge, Discard: discard, Ask: x.ask, Leave: true}
	asked := x.g.now()
	answer, held, err := kalan.Hold(&x.limit, x.target.guard, way, x.attempt)
	back := x.g.now()
	if err != nil {
		p := x.failure(err)
		if p.waited {
			x.waited += back - asked
		}
		x.refuse(p)
		return
	}
	// What the attempt spent on making its request was not spent on waiting.
	x.waited += answer.answered - answer.asked + answer.began - asked
	x.deliver(answer, held)
}

func (x *exchange) takeWorker() policy.Reason {
	before := x.g.now()
	why := x.g.workers.take(x.deadline, x.r.Context().Done())
	x.worker = why == policy.None
	if x.g.workers.busy != nil {
		x.waited += x.g.now() - before
	}
	return why
}

// join says that an attempt begins, unless everybody has left already.
func (x *exchange) join() bool {
	for {
		n := x.users.Load()
		if n == 0 {
			return false
		}
		if x.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave gives the worker back when nobody needs it any more.
func (x *exchange) leave() {
	if x.users.Add(-1) == 0 && x.worker {
		x.g.workers.give()
	}
}

// finish ends the handler, in every case: after an answer, an abort, a panic.
func (x *exchange) finish() {
	p := recover()
	if p != nil && p != http.ErrAbortHandler {
		p = x.mend(p)
	}
	x.endBody()
	x.mu.Lock()
	x.over = true
	x.mu.Unlock()
	x.g.account(x)
	x.leave()
	x.g.inflight.Add(-1)
	if p != nil {
		panic(p)
	}
}
