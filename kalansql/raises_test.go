package kalansql_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/kalan-go/kalan/kalansql"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// outcomes returns what the statements said, by outcome.
func outcomes(t testing.TB, db *kalansql.DB) [4]uint64 {
	t.Helper()
	_, _, statements := db.Guards()
	until(t, "every statement has ended", func() bool { return statements.Snapshot().InFlight == 0 })
	return statements.Snapshot().Counts.Outcomes
}

// since returns what the statements of do said.
func since(t testing.TB, db *kalansql.DB, do func()) (n [4]uint64) {
	t.Helper()
	before := outcomes(t, db)
	do()
	for i, after := range outcomes(t, db) {
		n[i] = after - before[i]
	}
	return n
}

func hasState(err error, state string) bool {
	var e *pq.Error
	return errors.As(err, &e) && e.SQLState() == state
}

// F18: what lib/pq raises for each of these, and what becomes of it. The
// package's documentation has the same table.
func TestWhatTheDriverRaises(t *testing.T) {
	db, ctx := open(t), t.Context()
	_, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS raises; CREATE TABLE raises (id int PRIMARY KEY, n int); INSERT INTO raises VALUES (1, 0), (2, 0)")
	must(t, err)
	for name, c := range map[string]struct {
		statement string
		state     string
		outcome   policy.Outcome
	}{
		"syntax":              {"SELEC 1", "42601", policy.Ignored},
		"a duplicate":         {"INSERT INTO raises VALUES (1, 1)", "23505", policy.Ignored},
		"a division by zero":  {"SELECT 1/0", "22012", policy.Ignored},
		"somebody cancels it": {"SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(5)", "57014", policy.Ignored},
	} {
		counted := since(t, db, func() {
			_, err := db.ExecContext(ctx, c.statement)
			if !hasState(err, c.state) {
				t.Errorf("%s: %v", name, err)
			}
		})
		if counted[c.outcome] != 1 || counted[policy.Failure] != 0 {
			t.Errorf("%s: counted %v", name, counted)
		}
	}
	must(t, db.PingContext(ctx))
}

// A backend that is ended says 57P01, which lib/pq calls driver.ErrBadConn, as
// everything that ends a connection: database/sql then tries twice more, and
// each time ends one.
func TestABackendThatIsEnded(t *testing.T) {
	db, ctx := open(t), t.Context()
	one, err := db.Conn(ctx)
	must(t, err)
	must(t, one.PingContext(ctx))
	if _, err := one.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)"); !errors.Is(err, driver.ErrBadConn) {
		t.Errorf("%v", err)
	}
	one.Close()
	counted := since(t, db, func() {
		if _, err := db.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)"); !errors.Is(err, driver.ErrBadConn) {
			t.Errorf("%v", err)
		}
	})
	if counted[policy.Failure] != 3 {
		t.Errorf("counted %v: three connections that had just been made were ended", counted)
	}
	if _, err := db.ExecContext(ctx, "SELECT 1"); err != nil || taken(db) != 0 {
		t.Errorf("afterwards %v, %d connections are not back", err, taken(db))
	}
}

func TestConflicts(t *testing.T) {
	db, ctx := open(t), t.Context()
	_, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS conflicts; CREATE TABLE conflicts (id int PRIMARY KEY, n int); INSERT INTO conflicts VALUES (1, 0), (2, 0)")
	must(t, err)
	counted := since(t, db, func() {
		if err := deadlock(t, db); !hasState(err, "40P01") || !kalansql.Conflict(err) {
			t.Errorf("deadlock: %v", err)
		}
		serializable := &sql.TxOptions{Isolation: sql.LevelSerializable}
		first, err := db.BeginTx(ctx, serializable)
		must(t, err)
		var n int
		must(t, first.QueryRowContext(ctx, "SELECT n FROM conflicts WHERE id = 1").Scan(&n))
		_, err = db.ExecContext(ctx, "UPDATE conflicts SET n = n + 1 WHERE id = 1")
		must(t, err)
		_, err = first.ExecContext(ctx, "UPDATE conflicts SET n = n + 1 WHERE id = 1")
		if !hasState(err, "40001") || !kalansql.Conflict(err) {
			t.Errorf("serialization: %v", err)
		}
		must(t, first.Rollback())
	})
	if counted[policy.Failure] != 0 || counted[policy.Ignored] != 2 {
		t.Errorf("counted %v", counted)
	}
	if kalansql.Conflict(io.EOF) || kalansql.Conflict(nil) {
		t.Error("what has no state is a conflict")
	}
}

// deadlock lets two transactions wait for each other and returns the error of
// the one that lost.
func deadlock(t testing.TB, db *kalansql.DB) error {
	ctx := t.Context()
	update := func(tx *sql.Tx, id int) error {
		_, err := tx.ExecContext(ctx, "UPDATE conflicts SET n = n + 1 WHERE id = $1", id)
		return err
	}
	var txs [2]*sql.Tx
	for i := range txs {
		tx, err := db.BeginTx(ctx, nil)
		must(t, err)
		defer tx.Rollback()
		must(t, update(tx, i+1))
		txs[i] = tx
	}
	var errs [2]error
	var both sync.WaitGroup
	for i, tx := range txs {
		both.Go(func() {
			if errs[i] = update(tx, 2-i); errs[i] == nil {
				errs[i] = tx.Commit()
			} else {
				tx.Rollback()
			}
		})
	}
	both.Wait()
	return errors.Join(errs[:]...)
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	mine, err := net.Dial("tcp", l.Addr().String()) // so that nobody is given its port
	must(t, err)
	defer mine.Close()
	l.Close()
	connector, err := pq.NewConnector(fmt.Sprintf("host=127.0.0.1 port=%d sslmode=disable", mine.LocalAddr().(*net.TCPAddr).Port))
	must(t, err)
	db, err := kalansql.Open(connector, kalansql.Config{Breaker: breaker.Config{Calls: 3}})
	must(t, err)
	defer db.Close()
	for range 3 {
		err = db.PingContext(t.Context())
		var e *net.OpError
		if !errors.As(err, &e) || e.Op != "dial" || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%v", err)
		}
	}
	_, connects, _ := db.Guards()
	if got := connects.Snapshot().Counts.Outcomes; got[policy.Failure] != 3 {
		t.Errorf("counted %v", got)
	}
	if err := db.PingContext(t.Context()); !errors.Is(err, policy.Open) {
		t.Errorf("after three failures: %v", err)
	}
}

// A server that takes the connection and says nothing is given up at the connect
// limit, although lib/pq does not give it up. As many as are left behind are
// counted, and no more are made.
func TestAConnectionThatDoesNotComeAbout(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	connector, err := pq.NewConnector(fmt.Sprintf("host=127.0.0.1 port=%d sslmode=disable", l.Addr().(*net.TCPAddr).Port))
	must(t, err)
	db, err := kalansql.Open(connector, kalansql.Config{Connect: 100 * ms, Connections: 2, Checkout: 50 * ms})
	must(t, err)
	defer db.Close()
	for range 2 {
		began := time.Now()
		if err := db.PingContext(t.Context()); !errors.Is(err, policy.Timeout) || time.Since(began) > 20*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	}
	if err := db.PingContext(t.Context()); !errors.Is(err, policy.Waited) {
		t.Errorf("with two left behind: %v", err)
	}
	_, connects, _ := db.Guards()
	if s := connects.Snapshot(); s.Counts.Outcomes[policy.Failure] != 2 || s.Kept != 2 || taken(db) != 0 {
		t.Errorf("counted %v, %d left behind", s.Counts.Outcomes, s.Kept)
	}
	for range 2 { // whoever was left behind sees its connection end
		c, err := l.Accept()
		must(t, err)
		c.Close()
	}
	l.Close()
	until(t, "those left behind are gone", func() bool { return connects.Snapshot().Kept == 0 })
}

// Every connection that the server allows is taken by others.
func TestTooManyConnections(t *testing.T) {
	plain, err := pq.NewConnector(postgres(t).dsn())
	must(t, err)
	t.Cleanup(func() { waitForRoom(t, plain) })
	others := sql.OpenDB(plain)
	defer others.Close()
	var last error
	for range mostConnections + 1 { // a superuser gets all of them
		c, err := others.Conn(t.Context())
		if last = err; err != nil {
			break
		}
		defer c.Close()
	}
	if !hasState(last, "53300") {
		t.Fatalf("%v", last)
	}
	db := open(t)
	if err := db.PingContext(t.Context()); !hasState(err, "53300") {
		t.Errorf("%v", err)
	}
	_, connects, _ := db.Guards()
	if got, statements := connects.Snapshot().Counts.Outcomes, outcomes(t, db); got[policy.Failure] == 0 || statements[policy.Failure] != 0 {
		t.Errorf("counted %v of connecting, %v of statements", got, statements)
	}
}

// waitForRoom waits until the server has noticed that its clients have left,
// which it does one by one, after they have.
func waitForRoom(t *testing.T, plain driver.Connector) {
	one := sql.OpenDB(plain)
	defer one.Close()
	until(t, "the clients are gone", func() bool {
		n := mostConnections
		err := one.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'").Scan(&n)
		return err == nil && n == 1
	})
}

// The server is stopped and comes back: the connections that lay idle are no
// failures, and everything works again by itself.
func TestTheServerIsStopped(t *testing.T) {
	db, c := open(t), postgres(t)
	ctx := t.Context()
	var held []*sql.Conn
	for range 3 {
		one, err := db.Conn(ctx)
		must(t, err)
		held = append(held, one)
	}
	for _, one := range held[1:] {
		must(t, one.Close())
	}
	c.stop()
	counted := since(t, db, func() {
		_, err := held[0].ExecContext(ctx, "SELECT 1")
		if !errors.Is(err, driver.ErrBadConn) {
			t.Errorf("a connection in use: %v", err)
		}
		held[0].Close()
	})
	if counted[policy.Success] != 0 {
		t.Errorf("counted %v", counted)
	}
	counted = since(t, db, func() {
		var e *net.OpError
		if _, err := db.ExecContext(ctx, "SELECT 1"); !errors.As(err, &e) || e.Op != "dial" {
			t.Errorf("the idle ones are dead, and no new one comes about: %v", err)
		}
	})
	if counted != [4]uint64{policy.Ignored: 2} {
		t.Errorf("counted %v: two that lay idle", counted)
	}
	c.start(t)
	_, err := db.ExecContext(ctx, "SELECT 1")
	must(t, err)
	if taken(db) != 0 {
		t.Errorf("%d connections are not back", taken(db))
	}
}
