package kalan

import (
	"context"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A Rejection is the one error of this package: a call that was refused, or
// that ended without an answer.
//
//	var r *kalan.Rejection
//	switch {
//	case errors.Is(err, policy.Open): // the reason is a sentinel
//	case errors.As(err, &r):          // and r.RetryAfter says when to come back
//	}
//
// It keeps the real cause: errors.Is and errors.As find the last attempt's
// error through it. A Rejection for policy.Timeout or policy.Expired is also
// context.DeadlineExceeded, one for policy.Gone also context.Canceled, so that
// code that knows nothing of Kalan understands it.
type Rejection struct {
	// Guard is the name of the guard that refused.
	Guard string
	// Reason says why.
	Reason policy.Reason
	// RetryAfter is when the caller may come back, jittered where many callers
	// are told the same; 0 where nothing is known.
	RetryAfter time.Duration
	// Waited says that the call had waited, for a slot or for an attempt, before
	// it was refused. One that had not was refused on arrival.
	Waited bool
	// Cause is the error of the last attempt that was made: what the function
	// returned, or a Rejection for policy.Timeout when it was left at its limit.
	// nil when none was made, or when there is nothing to add to Reason.
	Cause error
}

// Error says who refused, why, when to come back and what had happened before.
func (r *Rejection) Error() string {
	var b strings.Builder
	b.WriteString("kalan: ")
	if r.Guard != "" {
		b.WriteString(r.Guard + ": ")
	}
	b.WriteString(r.Reason.Error())
	if r.RetryAfter > 0 {
		b.WriteString("; come back in " + max(r.RetryAfter.Round(time.Millisecond), time.Millisecond).String())
	}
	if r.Cause != nil {
		b.WriteString(": " + r.Cause.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (r *Rejection) Unwrap() error { return r.Cause }

// Is reports whether target is the rejection's reason, or the context error
// that means the same.
func (r *Rejection) Is(target error) bool {
	switch target {
	case r.Reason:
		return true
	case context.DeadlineExceeded:
		return r.Reason == policy.Timeout || r.Reason == policy.Expired
	case context.Canceled:
		return r.Reason == policy.Gone
	}
	return false
}

// Timeout reports whether time was what there was too little of, for os.IsTimeout
// and for the errors of net/http, which ask.
func (r *Rejection) Timeout() bool { return r.Is(context.DeadlineExceeded) }
