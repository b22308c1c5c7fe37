package kalanhttp

import (
	"errors"
	"net/http"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/refusal"
	"github.com/kalan-go/kalan/policy"
)

// Refuse answers for an error that is a [*kalan.Rejection], as [Handler] answers
// what it refuses itself: with the status for the reason, a problem in JSON, and
// when to come back, not the same for everybody. It reports whether it was one,
// and writes nothing otherwise. It is for what a handler asks on its own: a guard
// before a dependency, a rate for each customer (package pace), a number of slots.
func Refuse(w http.ResponseWriter, err error) bool {
	var r *kalan.Rejection
	if !errors.As(err, &r) {
		return false
	}
	why := r.Reason
	if int(why) >= policy.Reasons {
		why = policy.None // somebody's own
	}
	p := refusal.Of(r.Guard, why, r.RetryAfter)
	p.Write(w)
	return true
}
