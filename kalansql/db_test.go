package kalansql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalansql"
	"github.com/kalan-go/kalan/policy"
)

const ms = time.Millisecond

// What generated code asks for is there, with database/sql's own types.
var _ interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
	BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)
} = (*kalansql.DB)(nil)

func connections(n int) func(*kalansql.Config) {
	return func(c *kalansql.Config) { c.Connections = n }
}

func checkout(d time.Duration) func(*kalansql.Config) {
	return func(c *kalansql.Config) { c.Checkout = d }
}

func query(d time.Duration) func(*kalansql.Config) {
	return func(c *kalansql.Config) { c.Query = d }
}

// Everything works as it does without guards, and every connection comes back.
func TestItWorks(t *testing.T) {
	db, ctx := open(t), t.Context()
	must(t, db.PingContext(ctx))
	_, err := db.ExecContext(ctx, "CREATE TEMP TABLE x (n int)")
	must(t, err)
	var n int
	must(t, db.QueryRowContext(ctx, "SELECT $1::int + 1", 41).Scan(&n))
	if n != 42 {
		t.Errorf("41 and 1 is %d", n)
	}
	rows, err := db.QueryContext(ctx, "SELECT generate_series(1, 1000)")
	must(t, err)
	count := 0
	for rows.Next() {
		must(t, rows.Scan(&n))
		count++
	}
	must(t, rows.Err())
	if count != 1000 || n != 1000 {
		t.Errorf("%d rows, the last is %d", count, n)
	}
	if err := db.QueryRowContext(ctx, "SELECT 1 WHERE false").Scan(&n); err != sql.ErrNoRows {
		t.Error(err)
	}
	prepared, err := db.PrepareContext(ctx, "SELECT $1::int * 2")
	must(t, err)
	must(t, prepared.QueryRowContext(ctx, 21).Scan(&n))
	_, err = prepared.ExecContext(ctx, 1)
	must(t, errors.Join(err, prepared.Close()))
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true})
	must(t, err)
	must(t, tx.QueryRowContext(ctx, "SELECT 42").Scan(&n))
	must(t, tx.Commit())
	if got := taken(db); n != 42 || got != 0 {
		t.Errorf("%d, %d connections are not back", n, got)
	}
	_, _, statements := db.Guards()
	if s := statements.Snapshot(); s.InFlight != 0 || s.Counts.Outcomes[policy.Failure] != 0 || s.Counts.Outcomes[policy.Success] < 8 {
		t.Errorf("%d in flight, outcomes %v", s.InFlight, s.Counts.Outcomes)
	}
}

// A connection is a caller's until its rows are closed, its transaction is over
// or its Conn is closed.
func TestWhoHoldsAConnection(t *testing.T) {
	db, ctx := open(t), t.Context()
	rows, err := db.QueryContext(ctx, "SELECT generate_series(1, 10)")
	must(t, err)
	rows.Next()
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	one, err := db.Conn(ctx)
	must(t, err)
	for range 3 {
		_, err = tx.ExecContext(ctx, "SELECT 1")
		must(t, err)
		must(t, one.PingContext(ctx))
	}
	for i, give := range []func() error{rows.Close, tx.Rollback, one.Close} {
		if got := taken(db); got != 3-i {
			t.Errorf("%d connections are taken, want %d", got, 3-i)
		}
		must(t, give())
	}
	if got := taken(db); got != 0 {
		t.Errorf("%d connections are not back", got)
	}
	rows, err = db.QueryContext(ctx, "SELECT 1")
	must(t, err)
	for rows.Next() {
	}
	if got := taken(db); got != 0 {
		t.Errorf("rows that were read to their end have %d connections", got)
	}
}

// F8: an exhausted pool refuses after the checkout time, and database/sql's own
// queue stays empty.
func TestAnExhaustedPoolRefuses(t *testing.T) {
	db, ctx := open(t, connections(2), checkout(50*ms)), t.Context()
	for range 2 {
		tx, err := db.BeginTx(ctx, nil)
		must(t, err)
		defer tx.Rollback()
	}
	var n int
	for name, call := range map[string]func() error{
		"QueryContext": func() error {
			_, err := db.QueryContext(ctx, "SELECT 1")
			return err
		},
		"QueryRowContext": func() error { return db.QueryRowContext(ctx, "SELECT 1").Scan(&n) },
		"ExecContext": func() error {
			_, err := db.ExecContext(ctx, "SELECT 1")
			return err
		},
		"BeginTx": func() error {
			_, err := db.BeginTx(ctx, nil)
			return err
		},
		"Conn": func() error {
			_, err := db.Conn(ctx)
			return err
		},
		"PrepareContext": func() error {
			_, err := db.PrepareContext(ctx, "SELECT 1")
			return err
		},
		"PingContext": func() error { return db.PingContext(ctx) },
	} {
		began := time.Now()
		err := call()
		var r *kalan.Rejection
		if took := time.Since(began); !errors.Is(err, policy.Waited) || !errors.As(err, &r) || r.Guard != "orders/pool" || r.RetryAfter <= 0 || took < 50*ms || took > 9*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
	if s := db.Stats(); s.WaitCount != 0 || s.InUse != 2 {
		t.Errorf("%+v", s)
	}
}

// Nobody waits without a place to wait.
func TestNoCheckoutIsNoWait(t *testing.T) {
	db, ctx := open(t, connections(1), checkout(-1)), t.Context()
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	defer tx.Rollback()
	if err := db.PingContext(ctx); !errors.Is(err, policy.Full) {
		t.Error(err)
	}
}

// Whoever waits gets the connection that comes back.
func TestAWaiterIsServed(t *testing.T) {
	db, ctx := open(t, connections(1), checkout(10*time.Second)), t.Context()
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- db.PingContext(ctx) }()
	pool, _, _ := db.Guards()
	until(t, "it waits", func() bool { return pool.Snapshot().Waiting == 1 })
	must(t, tx.Rollback())
	must(t, <-served)
}

// Nor in the pool itself, when somebody has taken connections past us.
func TestNoCheckoutIsNoWaitInAStarvedPool(t *testing.T) {
	db := open(t, connections(1), checkout(-1))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	one, err := db.Unwrap().Conn(ctx)
	must(t, err)
	defer one.Close()
	if err := db.PingContext(ctx); !errors.Is(err, policy.Waited) {
		t.Error(err)
	}
}

// Connections that somebody takes past us starve the pool itself: that is seen,
// and refused within the same time.
func TestAStarvedPoolIsSeen(t *testing.T) {
	db, ctx := open(t, connections(1), checkout(50*ms)), t.Context()
	one, err := db.Unwrap().Conn(ctx)
	must(t, err)
	defer one.Close()
	var n int
	err = db.QueryRowContext(ctx, "SELECT 1").Scan(&n)
	if !errors.Is(err, policy.Waited) || !strings.Contains(err.Error(), "1 of 1 connections are in use") {
		t.Error(err)
	}
	if taken(db) != 0 {
		t.Error("the lease was not given back")
	}
	patient := open(t, connections(1), checkout(10*time.Second))
	another, err := patient.Unwrap().Conn(ctx)
	must(t, err)
	defer another.Close()
	short, cancel := context.WithTimeout(ctx, 50*ms)
	defer cancel()
	if err := patient.PingContext(short); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, policy.Waited) {
		t.Errorf("a caller that has less time: %v", err)
	}
}

// A pool of one, many callers, and some that leave: every connection comes back.
func TestEveryConnectionComesBack(t *testing.T) {
	db := open(t, connections(3), checkout(200*ms), query(50*ms))
	var running sync.WaitGroup
	for i := range 60 {
		running.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%7)*20*ms+ms)
			defer cancel()
			switch i % 5 {
			case 0:
				db.ExecContext(ctx, "SELECT pg_sleep(0.1)")
			case 1:
				var n int
				db.QueryRowContext(ctx, "SELECT 1").Scan(&n)
			case 2:
				if tx, err := db.BeginTx(ctx, nil); err == nil {
					tx.ExecContext(ctx, "SELECT pg_sleep(0.02)")
					tx.Commit()
				}
			case 3:
				if rows, err := db.QueryContext(ctx, "SELECT pg_sleep(0.01) FROM generate_series(1, 20)"); err == nil {
					rows.Next()
					rows.Close()
				}
			default:
				db.ExecContext(ctx, "SELECT nonsense")
			}
		})
	}
	running.Wait()
	_, _, statements := db.Guards()
	until(t, "all is back", func() bool { return taken(db) == 0 && statements.Snapshot().InFlight == 0 })
	until(t, "the pool is idle", func() bool { return db.Stats().InUse == 0 })
	_, connects, _ := db.Guards()
	until(t, "the logins that were left have ended", func() bool { return connects.Snapshot().InFlight == 0 })
	must(t, db.PingContext(t.Context()))
}

// What a driver tells of its columns is told, and its own connection is there.
func TestNothingOfTheDriverIsLost(t *testing.T) {
	db, ctx := open(t), t.Context()
	plain, err := pq.NewConnector(postgres(t).dsn())
	must(t, err)
	bare := sql.OpenDB(plain)
	defer bare.Close()
	const text = "SELECT 1::int8 AS a, 'x'::varchar(7) AS b, 2.50::numeric(5,2) AS c, NULL::timestamptz AS d, '{1}'::int[] AS e"
	columns := func(from interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}) (all []any) {
		rows, err := from.QueryContext(ctx, text)
		must(t, err)
		defer rows.Close()
		types, err := rows.ColumnTypes()
		must(t, err)
		for _, c := range types {
			length, sized := c.Length()
			null, known := c.Nullable()
			precision, scale, decimal := c.DecimalSize()
			all = append(all, c.Name(), c.DatabaseTypeName(), c.ScanType(), length, sized, null, known, precision, scale, decimal)
		}
		return all
	}
	if got, want := columns(db), columns(bare); !reflect.DeepEqual(got, want) {
		t.Errorf("columns are\n%v, without guards\n%v", got, want)
	}
	rows, err := db.QueryContext(ctx, "SELECT 1; SELECT 2")
	must(t, err)
	results := 1
	for rows.Next() {
	}
	for rows.NextResultSet() {
		results++
	}
	must(t, rows.Close())
	if results != 2 {
		t.Errorf("%d results of 2", results)
	}
	one, err := db.Conn(ctx)
	must(t, err)
	defer one.Close()
	must(t, one.Raw(func(c any) error {
		if _, ok := kalansql.Driver(c).(driver.QueryerContext); !ok || reflect.TypeOf(kalansql.Driver(c)).String() != "*pq.conn" {
			t.Errorf("the driver's connection is a %T", kalansql.Driver(c))
		}
		return nil
	}))
	if kalansql.Driver(7) != 7 {
		t.Error("what is not ours is not left alone")
	}
}

func TestConnectorByName(t *testing.T) {
	connector, err := kalansql.Connector("postgres", postgres(t).dsn())
	must(t, err)
	db, err := kalansql.Open(connector, kalansql.Config{})
	must(t, err)
	must(t, db.PingContext(t.Context()))
	must(t, db.Close())
	if _, err := kalansql.Connector("nobody's", ""); err == nil {
		t.Error("a driver that is not there connects")
	}
}
