package kalansql

import (
	"context"
	"database/sql/driver"
	"io"
	"reflect"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/pardon"
	"github.com/kalan-go/kalan/policy"
)

// rows runs a query whose rows are read later. They are part of it.
func (c *conn) rows(ctx context.Context, query func(context.Context) (driver.Rows, error)) (driver.Rows, error) {
	var own context.Context
	found, held, err := hold(ctx, c, func(ctx context.Context) (driver.Rows, error) {
		own = ctx
		return query(ctx)
	})
	if err != nil {
		return nil, err
	}
	r := &rows{Rows: found, conn: c, held: held, caller: ctx, own: own}
	r.pardon.Open(pardon.After(c.db.query.Config()), &r.held)
	r.pardon.Begin()
	return r, nil
}

// rows are what a query found. The statement ends when they are closed.
type rows struct {
	driver.Rows
	conn        *conn
	held        kalan.Held
	caller, own context.Context
	broke       error
	pardon      pardon.Pardon // for a program that asks for no rows
}

// Next reads a row. Between two of them the program is waited for.
func (r *rows) Next(row []driver.Value) error {
	r.pardon.End()
	defer r.pardon.Begin()
	err := r.Rows.Next(row)
	if err == nil || err == io.EOF {
		return err
	}
	r.broke = err
	if r.own.Err() != nil && r.caller.Err() == nil { // the driver has a word of its own for it
		return &kalan.Rejection{Guard: r.conn.db.query.Name(), Reason: policy.Timeout, Cause: err}
	}
	return err
}

// Close ends the statement.
func (r *rows) Close() error {
	r.pardon.End()
	err := r.Rows.Close()
	outcome := policy.Success
	switch {
	case r.caller.Err() != nil:
		outcome = policy.Cut
	case r.broke != nil:
		outcome = r.conn.judge(r.own, r.broke).Outcome
	case err != nil:
		outcome = r.conn.judge(r.own, err).Outcome
	}
	r.pardon.Stop()
	r.held.Release(outcome)
	return err
}

// The rest is what a driver may tell of columns and further results. What it
// does not tell is answered as database/sql does by itself.

// HasNextResultSet reports whether another result follows.
func (r *rows) HasNextResultSet() bool {
	n, can := r.Rows.(driver.RowsNextResultSet)
	return can && n.HasNextResultSet()
}

// NextResultSet goes to the next result.
func (r *rows) NextResultSet() error {
	if n, can := r.Rows.(driver.RowsNextResultSet); can {
		r.pardon.End()
		defer r.pardon.Begin()
		return n.NextResultSet()
	}
	return io.EOF
}

// ColumnTypeScanType returns the Go type of a column.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if t, can := r.Rows.(driver.RowsColumnTypeScanType); can {
		return t.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

// ColumnTypeDatabaseTypeName returns the database's name for its type.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if t, can := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); can {
		return t.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

// ColumnTypeLength returns its length.
func (r *rows) ColumnTypeLength(i int) (int64, bool) {
	if t, can := r.Rows.(driver.RowsColumnTypeLength); can {
		return t.ColumnTypeLength(i)
	}
	return 0, false
}

// ColumnTypeNullable reports whether it can be null.
func (r *rows) ColumnTypeNullable(i int) (nullable, known bool) {
	if t, can := r.Rows.(driver.RowsColumnTypeNullable); can {
		return t.ColumnTypeNullable(i)
	}
	return false, false
}

// ColumnTypePrecisionScale returns its precision and scale.
func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, known bool) {
	if t, can := r.Rows.(driver.RowsColumnTypePrecisionScale); can {
		return t.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
