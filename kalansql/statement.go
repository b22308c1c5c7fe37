package kalansql

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"
)

// A stmt is a prepared statement.
type stmt struct {
	driver.Stmt
	conn *conn
}

// ExecContext executes it.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return run(ctx, s.conn, func(ctx context.Context) (driver.Result, error) {
		if e, can := s.Stmt.(driver.StmtExecContext); can {
			return e.ExecContext(ctx, args)
		}
		values, err := plain(args)
		if err != nil {
			return nil, err
		}
		//lint:ignore SA1019 a driver from before contexts has nothing else
		return s.Stmt.Exec(values)
	})
}

// QueryContext returns its rows.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.rows(ctx, func(ctx context.Context) (driver.Rows, error) {
		if q, can := s.Stmt.(driver.StmtQueryContext); can {
			return q.QueryContext(ctx, args)
		}
		values, err := plain(args)
		if err != nil {
			return nil, err
		}
		//lint:ignore SA1019 a driver from before contexts has nothing else
		return s.Stmt.Query(values)
	})
}

// plain returns arguments as drivers older than names take them.
func plain(args []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return nil, errors.New("kalansql: the driver knows no named arguments")
		}
		values[i] = a.Value
	}
	return values, nil
}

// CheckNamedValue lets the driver look at an argument.
func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, can := s.Stmt.(driver.NamedValueChecker); can {
		return n.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

// ColumnConverter is what drivers had before CheckNamedValue.
func (s *stmt) ColumnConverter(i int) driver.ValueConverter {
	//lint:ignore SA1019 it is what such a driver has
	if c, can := s.Stmt.(driver.ColumnConverter); can {
		return c.ColumnConverter(i)
	}
	return driver.DefaultParameterConverter
}

// A tx is a transaction. Its end is a statement too, but none that can be
// refused: what has been done is there to be kept.
type tx struct {
	driver.Tx
	conn   *conn
	cancel context.CancelFunc
}

// Commit keeps what was done.
func (t *tx) Commit() error { return t.end(t.Tx.Commit) }

// Rollback undoes it.
func (t *tx) Rollback() error { return t.end(t.Tx.Rollback) }

// end ends the transaction within the query limit. The driver gets no context
// for it but the one that it began with.
func (t *tx) end(how func() error) error {
	if limit := t.conn.db.config.Query; limit > 0 {
		timer := time.AfterFunc(limit, t.cancel)
		defer timer.Stop()
	}
	defer t.cancel()
	return how()
}
