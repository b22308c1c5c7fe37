package kalansql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/policy"
)

// A DB is a pool of connections to one database, behind guards. It is safe for
// concurrent use. Use [Open].
//
// Its methods do what those of *sql.DB with the same names do, and return a
// *kalan.Rejection for what was refused.
type DB struct {
	db                   *sql.DB
	config               Config
	pool, connect, query *kalan.Guard
	opens                atomic.Int64 // now() until which the breaker is known to be open
}

// Open returns a database whose connections are made by connector, or
// everything that is wrong with c. Like sql.OpenDB it connects to nothing.
func Open(connector driver.Connector, c Config) (*DB, error) {
	if err := c.Validate().Err(); err != nil {
		return nil, fmt.Errorf("kalansql: %q: %w", c.Name, err)
	}
	d := &DB{config: c.WithDefaults()}
	for guard, config := range map[**kalan.Guard]kalan.Config{&d.pool: d.config.pool(), &d.connect: d.config.login(), &d.query: d.config.query()} {
		var err error
		if *guard, err = kalan.New(config); err != nil {
			return nil, err
		}
	}
	d.db = sql.OpenDB(&guarded{Connector: connector, db: d})
	d.db.SetMaxOpenConns(d.config.Connections)
	d.db.SetMaxIdleConns(d.config.Connections)
	return d, nil
}

// Connector returns a connector of the driver that is registered under that
// name, for drivers that show none.
func Connector(name, dsn string) (driver.Connector, error) {
	db, err := sql.Open(name, dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if d, ok := db.Driver().(driver.DriverContext); ok {
		return d.OpenConnector(dsn)
	}
	return byName{db.Driver(), dsn}, nil
}

// byName connects with drivers older than connectors.
type byName struct {
	driver driver.Driver
	dsn    string
}

func (b byName) Connect(context.Context) (driver.Conn, error) { return b.driver.Open(b.dsn) }
func (b byName) Driver() driver.Driver                        { return b.driver }

// QueryContext returns the rows of a query. The caller owes Rows.Close.
func (d *DB) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx, l, err := d.checkout(ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave()
	return d.db.QueryContext(ctx, query, args...)
}

// QueryRowContext returns the first row of a query. What went wrong, a refusal
// included, is Scan's error.
func (d *DB) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	out, l, err := d.checkout(ctx)
	if err != nil {
		return d.db.QueryRowContext(refused{ctx, err}, query)
	}
	defer l.leave()
	return d.db.QueryRowContext(out, query, args...)
}

// ExecContext executes a statement that returns no rows.
func (d *DB) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx, l, err := d.checkout(ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave()
	return d.db.ExecContext(ctx, query, args...)
}

// PrepareContext prepares a statement. Its executions wait for a connection in
// database/sql's way: see the limits in the package's documentation.
func (d *DB) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	ctx, l, err := d.checkout(ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave()
	return d.db.PrepareContext(ctx, query)
}

// BeginTx begins a transaction. It has its connection until Commit or Rollback.
func (d *DB) BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error) {
	ctx, l, err := d.checkout(ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave()
	return d.db.BeginTx(ctx, o)
}

// Conn returns one connection, which is the caller's until its Close.
func (d *DB) Conn(ctx context.Context) (*sql.Conn, error) {
	ctx, l, err := d.checkout(ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave()
	one, err := d.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return one, one.Raw(func(c any) error {
		c.(*conn).join(ctx)
		return nil
	})
}

// PingContext asks the database whether it is there.
func (d *DB) PingContext(ctx context.Context) error {
	ctx, l, err := d.checkout(ctx)
	if err != nil {
		return err
	}
	defer l.leave()
	return d.db.PingContext(ctx)
}

// Close closes the connections, as sql.DB.Close does.
func (d *DB) Close() error { return d.db.Close() }

// Stats returns those of database/sql. WaitCount stays 0, unless somebody uses
// the pool past its guard.
func (d *DB) Stats() sql.DBStats { return d.db.Stats() }

// Unwrap returns the database without the guard of its connections. Statements
// keep their time limit and their breaker there.
func (d *DB) Unwrap() *sql.DB { return d.db }

// Guards returns what hands out the connections, what stands before making one
// and what stands before every statement, for observers and metrics.
func (d *DB) Guards() (pool, connect, query *kalan.Guard) { return d.pool, d.connect, d.query }

// checkout waits for a connection to be due to the caller, and returns the
// context with which to take it.
func (d *DB) checkout(ctx context.Context) (context.Context, *lease, error) {
	if int64(d.now()) < d.opens.Load() {
		// Behind an open breaker nobody needs a connection, so nobody waits.
		if err := d.ask(ctx); err != nil {
			return nil, nil, err
		}
	}
	// What a handler was asked decides who waits for a connection, and how long.
	way := kalan.Way[struct{}]{Ask: carry.Of[kalan.Ask](ctx).Ask}
	_, held, err := kalan.Hold(ctx, d.pool, way, admitted)
	if err != nil {
		return nil, nil, err
	}
	l := &lease{db: d, held: held}
	l.users.Store(1)
	return l.begin(ctx), l, nil
}

// now goes by the monotonic clock: a step of the wall clock is nothing (O-12).
func (d *DB) now() time.Duration { return time.Since(d.query.Epoch()) }

// ask finds out whether a statement would be let through.
func (d *DB) ask(ctx context.Context) error {
	_, held, err := kalan.Hold(ctx, d.query, kalan.Way[struct{}]{}, admitted)
	held.Release(policy.Cut)
	return err
}

func admitted(context.Context) (struct{}, error) { return struct{}{}, nil }

// A refused context is one that ended before it began: what takes it returns
// its error at once.
type refused struct {
	context.Context
	why error
}

var ended = make(chan struct{})

func init() { close(ended) }

func (r refused) Done() <-chan struct{} { return ended }
func (r refused) Err() error            { return r.why }
