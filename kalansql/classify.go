package kalansql

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// Classify is the default judgement of an error (F18): the states that say that
// the database, its machine or the way to it is at fault are failures, and so
// is what [kalan.Classify] calls one. A statement that is wrong, a constraint
// that is violated, and a row that is not there are business.
func Classify(err error) policy.Report {
	switch {
	case err == nil:
		return policy.Report{Outcome: policy.Success}
	case errors.Is(err, sql.ErrNoRows), errors.Is(err, sql.ErrTxDone), errors.Is(err, sql.ErrConnDone), errors.Is(err, driver.ErrBadConn):
		return policy.Report{Outcome: policy.Ignored}
	}
	if s := state(err); s != "" {
		if broken(s) {
			return policy.Report{Outcome: policy.Failure}
		}
		return policy.Report{Outcome: policy.Ignored}
	}
	if errors.Is(err, io.EOF) { // the server closed the connection
		return policy.Report{Outcome: policy.Failure}
	}
	return kalan.Classify(err)
}

// broken reports whether a SQLSTATE says that the database cannot do its work.
func broken(state string) bool {
	for _, class := range [...]string{"08", "53", "57P", "58"} {
		if strings.HasPrefix(state, class) {
			return true
		}
	}
	return false
}

// state returns the SQLSTATE of an error, "" when it has none.
func state(err error) string {
	var s interface{ SQLState() string }
	if errors.As(err, &s) {
		return s.SQLState()
	}
	return ""
}

// Conflict reports whether a transaction was ended because it got in another's
// way (40001 serialization_failure, 40P01 deadlock_detected): run again, as a
// whole, it may succeed. The database is well.
func Conflict(err error) bool {
	s := state(err)
	return s == "40001" || s == "40P01"
}
