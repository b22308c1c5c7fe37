package kalansql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/kalansql"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// dripping begins to answer at once, with more than the server would rather
// gather before it sends, and does not go on.
const dripping = "SELECT repeat('x', 20000), CASE WHEN n > 2 THEN pg_sleep(10) END FROM generate_series(1, 5) n"

// F8, F18: a statement that takes too long is ended, at the limit, whatever the
// driver calls it, and its connection can be used again.
func TestAStatementIsCutAtTheLimit(t *testing.T) {
	db, ctx := open(t, query(400*ms)), t.Context()
	must(t, db.PingContext(ctx))
	for name, call := range map[string]func() error{
		"ExecContext": func() error {
			_, err := db.ExecContext(ctx, "SELECT pg_sleep(10)")
			return err
		},
		"with arguments": func() error {
			_, err := db.ExecContext(ctx, "SELECT pg_sleep($1)", 10)
			return err
		},
		"QueryRowContext": func() error {
			var n any
			return db.QueryRowContext(ctx, "SELECT pg_sleep(10)").Scan(&n)
		},
		"rows that drip": func() error {
			rows, err := db.QueryContext(ctx, dripping)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
			}
			return rows.Err()
		},
	} {
		began := time.Now()
		var err error
		counted := since(t, db, func() { err = call() })
		took := time.Since(began)
		if !errors.Is(err, policy.Timeout) || !errors.Is(err, context.DeadlineExceeded) || took < 400*ms || took > 9*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		if counted[policy.Failure] != 1 || counted[policy.Success] != 0 {
			t.Errorf("%s: counted %v", name, counted)
		}
		if err := db.PingContext(ctx); err != nil {
			t.Errorf("%s: afterwards %v", name, err)
		}
	}
	if got := taken(db); got != 0 {
		t.Errorf("%d connections are not back", got)
	}
}

// A caller that leaves blames nobody.
func TestACallerThatLeaves(t *testing.T) {
	db := open(t)
	must(t, db.PingContext(t.Context()))
	for name, limit := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 400*ms)
		},
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(400*ms, cancel)
			return ctx, cancel
		},
	} {
		for kind, call := range map[string]func(context.Context) error{
			"exec": func(ctx context.Context) error {
				_, err := db.ExecContext(ctx, "SELECT pg_sleep(10)")
				return err
			},
			"rows": func(ctx context.Context) error {
				rows, err := db.QueryContext(ctx, dripping)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
				}
				return rows.Err()
			},
		} {
			ctx, cancel := limit(t.Context())
			counted := since(t, db, func() {
				if err := call(ctx); err == nil || errors.Is(err, policy.Timeout) {
					t.Errorf("%s, %s: %v", name, kind, err)
				}
			})
			cancel()
			if counted[policy.Cut] != 1 || counted[policy.Failure] != 0 {
				t.Errorf("%s, %s: counted %v", name, kind, counted)
			}
		}
	}
}

// A hang opens the breaker, and behind it nobody waits for a connection, not
// even when all of them hang.
func TestAHangOpensTheBreaker(t *testing.T) {
	db, ctx := open(t, connections(2), query(150*ms), checkout(10*time.Second), func(c *kalansql.Config) { c.Breaker.Calls = 3 }), t.Context()
	for range 10 {
		if _, err := db.ExecContext(ctx, "SELECT pg_sleep(10)"); errors.Is(err, policy.Open) {
			break
		}
	}
	for range 2 {
		one, err := db.Unwrap().Conn(ctx) // somebody has every connection
		if err == nil {
			defer one.Close()
		}
	}
	began := time.Now()
	_, err := db.ExecContext(ctx, "SELECT 1")
	var r *kalan.Rejection
	if took := time.Since(began); !errors.Is(err, policy.Open) || !errors.As(err, &r) || r.Guard != "orders" || took > 9*time.Second {
		t.Errorf("%v after %v", err, took)
	}
	if taken(db) != 0 {
		t.Errorf("%d connections are not back", taken(db))
	}
}

// A transaction that its program keeps open says nothing about the database.
func TestAnIdleTransactionSaysNothing(t *testing.T) {
	db, ctx := open(t, query(time.Second)), t.Context()
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	pause := time.NewTimer(1200 * ms)
	<-pause.C
	_, err = tx.ExecContext(ctx, "SELECT 1")
	must(t, err)
	must(t, tx.Commit())
	_, _, statements := db.Guards()
	if s := statements.Snapshot(); s.Counts.Outcomes[policy.Failure] != 0 || s.Breaker.Score != 0 {
		t.Errorf("outcomes %v, score %v", s.Counts.Outcomes, s.Breaker.Score)
	}
	tx, err = db.BeginTx(ctx, nil)
	must(t, err)
	if _, err := tx.ExecContext(ctx, "SELECT pg_sleep(10)"); !errors.Is(err, policy.Timeout) {
		t.Errorf("a statement of a transaction: %v", err)
	}
	tx.Rollback()
}

// A commit is a statement too, and has the limit of one.
func TestACommitIsCutAtTheLimit(t *testing.T) {
	db, ctx := open(t, query(400*ms)), t.Context()
	_, err := db.Unwrap().ExecContext(ctx, `DROP TABLE IF EXISTS late; CREATE TABLE late (n int);
		CREATE OR REPLACE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(10); RETURN NULL; END';
		CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()`)
	must(t, err)
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	_, err = tx.ExecContext(ctx, "INSERT INTO late VALUES (1)")
	must(t, err)
	began := time.Now()
	if err := tx.Commit(); err == nil || time.Since(began) > 9*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	until(t, "the connection is back", func() bool { return taken(db) == 0 })
	must(t, db.PingContext(ctx))
}

// What ran out of time is not done again by anybody.
func TestNothingIsDoneTwice(t *testing.T) {
	db, ctx := open(t, query(150*ms)), t.Context()
	_, err := db.ExecContext(ctx, "DROP SEQUENCE IF EXISTS done; CREATE SEQUENCE done")
	must(t, err)
	if _, err := db.ExecContext(ctx, "SELECT nextval('done'), pg_sleep(10)"); !errors.Is(err, policy.Timeout) {
		t.Error(err)
	}
	var n int
	must(t, db.QueryRowContext(ctx, "SELECT last_value FROM done").Scan(&n))
	if n != 1 {
		t.Errorf("it was done %d times", n)
	}
}

func TestWhatIsWrongWithAConfiguration(t *testing.T) {
	connector, err := pq.NewConnector("host=/nowhere")
	must(t, err)
	bad := kalansql.Config{Connections: -1, Connect: -1, Breaker: breaker.Config{FailureRate: 2}}
	_, err = kalansql.Open(connector, bad)
	for _, path := range []string{"connections", "connect", "failure_rate"} {
		if err == nil || !strings.Contains(err.Error(), path+":") {
			t.Errorf("%s is missing in: %v", path, err)
		}
	}
	c := kalansql.Config{}.WithDefaults()
	if c.Connections != 25 || c.Checkout != 500*ms || c.Query != 3*time.Second || c.Breaker.Slow != 1500*ms || c.Name != "database" {
		t.Errorf("%+v", c)
	}
	if ps := (kalansql.Config{Query: 100 * ms}).Validate(); len(ps) != 1 || !ps[0].Warning {
		t.Errorf("a connect limit above the query's: %v", ps)
	}
	db, err := kalansql.Open(connector, kalansql.Config{Query: -1})
	must(t, err)
	must(t, db.Close())
}

// F29: an order takes the place of a price query that waits for a connection.
func TestPriorityCountsForTheConnection(t *testing.T) {
	db := open(t, connections(1), checkout(10*time.Second), func(c *kalansql.Config) { c.Room.Waiting = 1 })
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	pool, _, _ := db.Guards()
	later := func(level uint8) <-chan error {
		done := make(chan error, 1)
		go func() { done <- db.PingContext(kalanhttp.WithAsk(t.Context(), kalan.Ask{Level: level})) }()
		return done
	}
	price := later(2)
	until(t, "the price query waits", func() bool { return pool.Snapshot().Waiting == 1 })
	order := later(0)
	if err := <-price; !errors.Is(err, policy.Full) && !errors.Is(err, policy.Shed) {
		t.Errorf("the price query: %v", err)
	}
	must(t, tx.Rollback())
	if err := <-order; err != nil {
		t.Errorf("the order: %v", err)
	}
}
