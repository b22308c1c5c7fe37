package kalansql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kalan-go/kalan/kalansql"
	"github.com/kalan-go/kalan/policy"
)

// old is a driver from before contexts: it can what every driver must, and no
// more. It remembers what it was asked.
type old struct{ asked []string }

func init() { sql.Register("old", theOld) }

var theOld = &old{}

func (o *old) Open(string) (driver.Conn, error) { return oldConn{o}, nil }

type oldConn struct{ *old }

func (c oldConn) Prepare(q string) (driver.Stmt, error) { return oldStmt{c.old, q}, nil }
func (c oldConn) Begin() (driver.Tx, error)             { return oldTx(c), nil }
func (c oldConn) Close() error                          { return nil }

type oldStmt struct {
	*old
	query string
}

func (s oldStmt) Close() error  { return nil }
func (s oldStmt) NumInput() int { return -1 }

func (s oldStmt) Exec(args []driver.Value) (driver.Result, error) {
	s.asked = append(s.asked, s.query)
	return driver.RowsAffected(len(args)), nil
}

func (s oldStmt) Query([]driver.Value) (driver.Rows, error) { return &oldRows{}, nil }

// ColumnConverter doubles numbers, so that it is seen.
func (s oldStmt) ColumnConverter(int) driver.ValueConverter { return doubling{} }

type doubling struct{}

func (doubling) ConvertValue(v any) (driver.Value, error) {
	if n, is := v.(int); is {
		return int64(2 * n), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}

type oldTx struct{ *old }

func (t oldTx) Commit() error   { return nil }
func (t oldTx) Rollback() error { return nil }

type oldRows struct{ read bool }

func (r *oldRows) Columns() []string { return []string{"n"} }
func (r *oldRows) Close() error      { return nil }

func (r *oldRows) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, row[0] = true, int64(42)
	return nil
}

// A driver that knows neither contexts nor names is guarded like any other, and
// what it cannot do is refused as database/sql refuses it.
func TestADriverFromBeforeContexts(t *testing.T) {
	connector, err := kalansql.Connector("old", "")
	must(t, err)
	db, err := kalansql.Open(connector, kalansql.Config{})
	must(t, err)
	defer db.Close()
	ctx := t.Context()
	must(t, db.PingContext(ctx))
	result, err := db.ExecContext(ctx, "insert", 1, "two")
	must(t, err)
	if n, _ := result.RowsAffected(); n != 2 {
		t.Errorf("%d arguments arrived", n)
	}
	var n int
	must(t, db.QueryRowContext(ctx, "select", 21).Scan(&n))
	rows, err := db.QueryContext(ctx, "select")
	must(t, err)
	types, err := rows.ColumnTypes()
	must(t, err)
	if types[0].DatabaseTypeName() != "" || types[0].ScanType().String() != "interface {}" || rows.NextResultSet() {
		t.Errorf("%+v", types[0])
	}
	must(t, rows.Close())
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	must(t, tx.Commit())
	if _, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "plain transactions") {
		t.Error(err)
	}
	if _, err := db.ExecContext(ctx, "insert", sql.Named("a", 1)); err == nil || !strings.Contains(err.Error(), "named") {
		t.Error(err)
	}
	if n != 42 || taken(db) != 0 {
		t.Errorf("%d; %d connections are not back", n, taken(db))
	}
	if got := outcomes(t, db); got[policy.Failure] != 0 {
		t.Errorf("counted %v", got)
	}
}

// brittle is a driver whose connections say driver.ErrBadConn when a context
// ends, although the statement may have been done.
type brittle struct {
	oldConn
	done *int
}

func (b brittle) Connect(context.Context) (driver.Conn, error) { return b, nil }
func (b brittle) Driver() driver.Driver                        { return b.old }

func (b brittle) ExecContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	if query == "prepare me" {
		return nil, driver.ErrSkip
	}
	*b.done++
	<-ctx.Done()
	return nil, driver.ErrBadConn
}

// database/sql does again what ended with driver.ErrBadConn. Not when it was
// time that ended it: then nobody knows whether it was done.
func TestWhatRanOutOfTimeIsNotDoneAgain(t *testing.T) {
	b := brittle{oldConn{&old{}}, new(int)}
	db, err := kalansql.Open(b, kalansql.Config{Query: 20 * ms})
	must(t, err)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "pay"); !errors.Is(err, policy.Timeout) || *b.done != 1 {
		t.Errorf("%v; it was done %d times", err, *b.done)
	}
	until(t, "the connection is given up", func() bool { return db.Stats().OpenConnections == 0 })
}

func (b brittle) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return &breaking{}, nil
}

// breaking are rows that break off after the first, and close well.
type breaking struct{ oldRows }

func (r *breaking) Next(row []driver.Value) error {
	if r.read {
		return io.ErrUnexpectedEOF
	}
	return r.oldRows.Next(row)
}

// Rows that break off are a failure, however well they close.
func TestRowsThatBreakOff(t *testing.T) {
	db, err := kalansql.Open(brittle{oldConn{&old{}}, new(int)}, kalansql.Config{})
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "select")
	must(t, err)
	for rows.Next() {
	}
	if !errors.Is(rows.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("%v", rows.Err())
	}
	if got := outcomes(t, db); got != [4]uint64{policy.Failure: 1} {
		t.Errorf("counted %v", got)
	}
}

// What a driver wants to have prepared first was no statement yet.
func TestASkippedStatementSaysNothing(t *testing.T) {
	db, err := kalansql.Open(brittle{oldConn{&old{}}, new(int)}, kalansql.Config{})
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "prepare me")
	must(t, err)
	if got := outcomes(t, db); got != [4]uint64{policy.Cut: 1, policy.Success: 2} {
		t.Errorf("counted %v: one that was skipped, one that was prepared, one that was executed", got)
	}
}

// A parent that counts who waits for its end.
type parent struct {
	context.Context
	waiting *atomic.Int32
}

func (p parent) Done() <-chan struct{} { return make(chan struct{}) }

func (p parent) AfterFunc(func()) func() bool {
	p.waiting.Add(1)
	return func() bool {
		p.waiting.Add(-1)
		return true
	}
}

// A context that lives long remembers no call that has ended.
func TestNothingWaitsForACallersContext(t *testing.T) {
	connector, err := kalansql.Connector("old", "")
	must(t, err)
	db, err := kalansql.Open(connector, kalansql.Config{})
	must(t, err)
	defer db.Close()
	p := parent{t.Context(), new(atomic.Int32)}
	for range 10 {
		_, err := db.ExecContext(p, "insert")
		must(t, err)
		var n int
		must(t, db.QueryRowContext(p, "select").Scan(&n))
		tx, err := db.BeginTx(p, nil)
		must(t, err)
		must(t, tx.Commit())
	}
	until(t, "nobody waits", func() bool { return p.waiting.Load() == 0 })
}

func TestClassify(t *testing.T) {
	for err, want := range map[error]policy.Outcome{
		nil: policy.Success, sql.ErrNoRows: policy.Ignored, sql.ErrTxDone: policy.Ignored, sql.ErrConnDone: policy.Ignored,
		driver.ErrBadConn: policy.Ignored, io.EOF: policy.Failure, io.ErrUnexpectedEOF: policy.Failure, errors.New("no such account"): policy.Ignored,
		stated("08006"): policy.Failure, stated("53200"): policy.Failure, stated("57P03"): policy.Failure, stated("58030"): policy.Failure,
		stated("57014"): policy.Ignored, stated("40001"): policy.Ignored, stated("23505"): policy.Ignored, stated(""): policy.Ignored,
	} {
		if got := kalansql.Classify(err).Outcome; got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// stated is an error as drivers have them.
type stated string

func (s stated) Error() string    { return "state " + string(s) }
func (s stated) SQLState() string { return string(s) }

// What a guard adds to a statement, against database/sql alone.
func TestAllocations(t *testing.T) {
	const most = 26
	connector, err := kalansql.Connector("old", "")
	must(t, err)
	db, err := kalansql.Open(connector, kalansql.Config{})
	must(t, err)
	defer db.Close()
	bare := sql.OpenDB(connector)
	defer bare.Close()
	ctx := t.Context()
	guarded := testing.AllocsPerRun(300, func() { db.ExecContext(ctx, "insert") })
	alone := testing.AllocsPerRun(300, func() { bare.ExecContext(ctx, "insert") })
	if guarded-alone > most {
		t.Errorf("%v allocations a statement and %v without guards; at most %d more", guarded, alone, most)
	}
}

func BenchmarkExec(b *testing.B) {
	connector, err := kalansql.Connector("old", "")
	must(b, err)
	db, err := kalansql.Open(connector, kalansql.Config{})
	must(b, err)
	defer db.Close()
	for name, from := range map[string]*sql.DB{"guarded": nil, "alone": sql.OpenDB(connector)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if from == nil {
					db.ExecContext(b.Context(), "insert")
				} else {
					from.ExecContext(b.Context(), "insert")
				}
			}
		})
		if from != nil {
			from.Close()
		}
	}
}
