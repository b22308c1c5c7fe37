package kalansql

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// A lease is a caller's right to one connection. It is given back when the call
// that asked for it has returned and the connection that was taken for it is in
// the pool again, whichever comes last: database/sql takes another connection
// when it finds the first one dead, and keeps one for rows that go on.
type lease struct {
	db     *DB
	held   kalan.Held
	users  atomic.Int32
	cancel context.CancelCauseFunc
	timer  *time.Timer // ends the wait in the pool itself
}

type leaseKey struct{}

// begin returns the context with which database/sql takes a connection. It ends
// when that takes too long: there are as many leases as connections, so that
// nobody waits in the pool unless others take connections past us.
func (l *lease) begin(ctx context.Context) context.Context {
	inner, cancel := context.WithCancelCause(ctx)
	l.cancel = cancel
	wait := l.db.config.Checkout
	if wait < 0 { // nobody is to wait, and taking a connection that is free takes a moment
		wait = defaultCheckout
	}
	l.timer = time.AfterFunc(wait, func() { cancel(l.starved()) })
	return leased{inner, l}
}

// arrived says that the wait is over: a connection is there, or being made.
func (l *lease) arrived() { l.timer.Stop() }

// leave gives up one use of the lease; the last one ends it.
func (l *lease) leave() {
	if l.users.Add(-1) > 0 {
		return
	}
	l.arrived()
	l.held.Release(policy.Success)
	l.cancel(nil)
}

// starved is the refusal of a pool whose connections others have.
func (l *lease) starved() error {
	s := l.db.db.Stats()
	return &kalan.Rejection{
		Guard: l.db.pool.Name(), Reason: policy.Waited,
		Cause: fmt.Errorf("%d of %d connections are in use and %d callers have waited in the pool itself: somebody takes connections past kalansql", s.InUse, s.MaxOpenConnections, s.WaitCount),
	}
}

// A leased context belongs to a lease. It says itself why it ended, since
// database/sql passes on what it says.
type leased struct {
	context.Context
	lease *lease
}

// Value finds the lease.
func (l leased) Value(key any) any {
	if _, ours := key.(leaseKey); ours {
		return l.lease
	}
	return l.Context.Value(key)
}

// Err returns the refusal when it was one.
func (l leased) Err() error {
	err := l.Context.Err()
	var r *kalan.Rejection
	if err != nil && errors.As(context.Cause(l.Context), &r) {
		return r
	}
	return err
}

// leaseOf returns the lease that a context belongs to, nil when to none.
func leaseOf(ctx context.Context) *lease {
	l, _ := ctx.Value(leaseKey{}).(*lease)
	return l
}
