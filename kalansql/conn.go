package kalansql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// guarded makes connections behind a guard of their own.
type guarded struct {
	driver.Connector
	db *DB
}

// Connect makes a connection. Some drivers do not look at the context while
// they log in: lib/pq waits for ever for a server that says nothing. So it is
// left behind at the limit, and what comes too late is closed.
func (g *guarded) Connect(ctx context.Context) (driver.Conn, error) {
	if l := leaseOf(ctx); l != nil {
		l.arrived()
	}
	way := kalan.Way[driver.Conn]{Ask: once, Leave: true, Judge: g.judge, Discard: driver.Conn.Close}
	c, held, err := kalan.Hold(ctx, g.db.connect, way, g.Connector.Connect)
	held.Release(policy.Success)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, db: g.db, fresh: true}, nil
}

// judge says what an error of connecting tells. There is no business in it, but
// for what the server itself says of who asks.
func (g *guarded) judge(_ driver.Conn, err error) policy.Report {
	if err != nil && state(err) == "" {
		return policy.Report{Outcome: policy.Failure}
	}
	return g.db.config.Classify(err)
}

// Close closes the connector, if it can be closed.
func (g *guarded) Close() error {
	if c, can := g.Connector.(io.Closer); can {
		return c.Close()
	}
	return nil
}

// A conn is a driver's connection. database/sql uses it from one goroutine at a
// time.
type conn struct {
	driver.Conn
	db    *DB
	lease *lease // nil: idle, or taken past us
	fresh bool   // just made: neither used yet, nor idle
	bad   bool   // not to be used again, whatever the driver says
}

// Driver returns the driver's own connection from what sql.Conn.Raw shows.
func Driver(shown any) any {
	if c, ours := shown.(*conn); ours {
		return c.Conn
	}
	return shown
}

// join makes the connection part of the lease that ctx belongs to.
func (c *conn) join(ctx context.Context) {
	l := leaseOf(ctx)
	if l == nil || l == c.lease {
		return
	}
	c.part()
	l.users.Add(1)
	l.arrived()
	c.lease = l
}

// part ends that: the connection is in the pool again, or closed.
func (c *conn) part() {
	if l := c.lease; l != nil {
		c.lease = nil
		l.leave()
	}
}

// IsValid is asked when the connection comes back to the pool.
func (c *conn) IsValid() bool {
	c.part()
	c.fresh = false // from here on it may have died unseen
	v, can := c.Conn.(driver.Validator)
	return !c.bad && (!can || v.IsValid())
}

// Close closes the connection.
func (c *conn) Close() error {
	defer c.part()
	return c.Conn.Close()
}

// ResetSession is asked before the connection is used again.
func (c *conn) ResetSession(ctx context.Context) error {
	if r, can := c.Conn.(driver.SessionResetter); can {
		return r.ResetSession(ctx)
	}
	return nil
}

// Ping asks the database whether it is there.
func (c *conn) Ping(ctx context.Context) error {
	p, can := c.Conn.(driver.Pinger)
	if !can {
		return nil
	}
	_, err := run(ctx, c, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.Ping(ctx) })
	return err
}

// ExecContext executes a statement that returns no rows.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	e, can := c.Conn.(driver.ExecerContext)
	if !can {
		return nil, driver.ErrSkip // database/sql prepares it instead
	}
	return run(ctx, c, func(ctx context.Context) (driver.Result, error) { return e.ExecContext(ctx, query, args) })
}

// QueryContext returns the rows of a query.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	q, can := c.Conn.(driver.QueryerContext)
	if !can {
		return nil, driver.ErrSkip
	}
	return c.rows(ctx, func(ctx context.Context) (driver.Rows, error) { return q.QueryContext(ctx, query, args) })
}

// PrepareContext prepares a statement.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := run(ctx, c, func(ctx context.Context) (driver.Stmt, error) {
		if p, can := c.Conn.(driver.ConnPrepareContext); can {
			return p.PrepareContext(ctx, query)
		}
		return c.Conn.Prepare(query)
	})
	if err != nil {
		return nil, err
	}
	return &stmt{s, c}, nil
}

// CheckNamedValue lets the driver look at an argument.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, can := c.Conn.(driver.NamedValueChecker); can {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// run runs one statement behind the guard. The connection is the lease's from
// then on.
func run[T any](ctx context.Context, c *conn, work func(context.Context) (T, error)) (T, error) {
	value, held, err := hold(ctx, c, work)
	held.Release(policy.Success)
	return value, err
}

// hold is run for what goes on after it has begun.
func hold[T any](ctx context.Context, c *conn, work func(context.Context) (T, error)) (T, kalan.Held, error) {
	c.join(ctx)
	var own context.Context
	skip := false
	way := kalan.Way[T]{Ask: once, Judge: func(_ T, err error) policy.Report { return c.judge(own, err) }}
	value, held, err := kalan.Hold(ctx, c.db.query, way, func(ctx context.Context) (T, error) {
		own = ctx
		value, err := work(ctx)
		if skip = errors.Is(err, driver.ErrSkip); skip {
			err = nil // nothing was done, and nothing is to be learned
		}
		return value, err
	})
	switch {
	case skip:
		held.Release(policy.Cut)
		return value, kalan.Held{}, driver.ErrSkip
	case err == nil:
		c.fresh = false
	default:
		err = c.refusal(err)
	}
	return value, held, err
}

// once: nobody knows which statement may be done twice.
var once = kalan.Ask{Once: true, Unsafe: true}

// judge says what an error tells of the database. What a driver calls the end
// of its time is its own word.
func (c *conn) judge(ctx context.Context, err error) policy.Report {
	switch {
	case err == nil:
		return policy.Report{Outcome: policy.Success}
	case ctx.Err() != nil, c.fresh && errors.Is(err, driver.ErrBadConn):
		return policy.Report{Outcome: policy.Failure, Final: true}
	}
	return c.db.config.Classify(err)
}

// refusal takes in an error that the guard made. database/sql does a statement
// again whose error is driver.ErrBadConn; one that ran out of time may have
// been done already.
func (c *conn) refusal(err error) error {
	var r *kalan.Rejection
	if !errors.As(err, &r) {
		return err
	}
	if r.Reason == policy.Open {
		c.db.opens.Store(int64(span.Add(c.db.now(), r.RetryAfter)))
	}
	if errors.Is(r.Cause, driver.ErrBadConn) {
		c.bad = true
		r.Cause = errors.New(r.Cause.Error())
	}
	return r
}

// BeginTx begins a transaction. Its context outlives the statement that begins
// it.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	whole, cancel := context.WithCancel(ctx)
	inner, err := run(ctx, c, func(ctx context.Context) (driver.Tx, error) {
		defer context.AfterFunc(ctx, cancel)()
		if b, can := c.Conn.(driver.ConnBeginTx); can {
			return b.BeginTx(whole, o)
		}
		if o.ReadOnly || o.Isolation != driver.IsolationLevel(sql.LevelDefault) {
			return nil, errPlainTx
		}
		//lint:ignore SA1019 a driver from before contexts has nothing else
		return c.Conn.Begin()
	})
	if err != nil {
		cancel()
		return nil, err
	}
	return &tx{Tx: inner, conn: c, cancel: cancel}, nil
}

var errPlainTx = errors.New("kalansql: the driver begins plain transactions only")
