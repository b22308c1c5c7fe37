package kalansql_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/kalan-go/kalan/kalansql"
	"github.com/kalan-go/kalan/policy"
)

// A program that works on a row, or forgets for a while to close its rows, is
// not the database; one that returns its rows slowly is.
func TestWhoIsSlow(t *testing.T) {
	const (
		limit   = 2 * time.Second
		tarried = limit/2 + 100*ms // past the slow threshold
	)
	postgres(t) // one for all of them
	tarry := func(d time.Duration) {
		began := time.Now()
		until(t, "enough time has passed", func() bool { return time.Since(began) > d })
	}
	pause := func(*sql.Rows) { tarry(tarried) }
	for name, c := range map[string]struct {
		query  string
		work   func(*sql.Rows) // after the first row
		blamed bool
	}{
		"the program":                      {query: "SELECT generate_series(1, 100000)", work: pause},
		"the program, with a small answer": {query: "SELECT 1", work: pause},
		"the program, after the limit": {query: "SELECT generate_series(1, 100000)", work: func(*sql.Rows) {
			tarry(limit + 100*ms)
		}},
		"the program, before the next result": {query: "SELECT 1; SELECT 2", work: func(r *sql.Rows) {
			for r.Next() {
			}
			pause(r)
			if !r.NextResultSet() {
				t.Error("there is no other result")
			}
		}},
		"the database": {query: "SELECT n, pg_sleep(0.3) FROM generate_series(1, 4) n", work: func(*sql.Rows) {}, blamed: true},
		"the database, in the next result": {query: "SELECT 1; SELECT pg_sleep(1.2)", blamed: true, work: func(r *sql.Rows) {
			for r.Next() {
			}
			r.NextResultSet()
		}},
		"the database, while the rest is thrown away": {blamed: true, work: func(r *sql.Rows) { r.Close() },
			query: "SELECT n, repeat('x', 9000), pg_sleep(0.3) FROM generate_series(1, 5) n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, query(limit))
			readSlowly(t, db, c.query, c.work)
			_, _, statements := db.Guards()
			s := statements.Snapshot()
			if c.blamed && (s.Breaker.Slow == 0 || s.Mean < tarried) {
				t.Errorf("the database is excused: mean %v, %+v", s.Mean, s.Breaker)
			}
			if !c.blamed && (s.Counts.Outcomes[policy.Cut] != 1 || s.Breaker.Slow > 0 || s.Mean > 0) {
				t.Errorf("the database is blamed: outcomes %v, mean %v, %+v", s.Counts.Outcomes, s.Mean, s.Breaker)
			}
		})
	}
}

// readSlowly reads a row, works, and closes.
func readSlowly(t *testing.T, db *kalansql.DB, query string, work func(*sql.Rows)) {
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Error(err)
		return
	}
	defer rows.Close()
	if !rows.Next() {
		t.Error(rows.Err())
	}
	work(rows)
	for rows.Next() {
	}
	if err := rows.Err(); err != nil && !errors.Is(err, policy.Timeout) {
		t.Error(err)
	}
}
