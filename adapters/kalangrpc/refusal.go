package kalangrpc

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// statusCodes says which code each reason is answered with.
var statusCodes = [policy.Reasons]codes.Code{
	policy.Open:    codes.Unavailable,
	policy.Rate:    codes.ResourceExhausted,
	policy.Full:    codes.Unavailable,
	policy.Waited:  codes.Unavailable,
	policy.Shed:    codes.Unavailable,
	policy.Timeout: codes.DeadlineExceeded,
	policy.Expired: codes.DeadlineExceeded,
	policy.Gone:    codes.Canceled,
	// Never answers by themselves; the last attempt's error is.
	policy.None:   codes.Unavailable,
	policy.Budget: codes.Unavailable,
	policy.Spent:  codes.Unavailable,
}

// comeBack is when those may come back whom nobody has told more exactly (F12).
var comeBack = span.Range{Min: 2 * time.Second, Max: 5 * time.Second}

// A refusal is a Rejection that gRPC understands.
type refusal struct {
	*kalan.Rejection
	status *status.Status
}

// GRPCStatus is what goes over the wire.
func (r refusal) GRPCStatus() *status.Status { return r.status }

// Unwrap returns the Rejection, which leads on to the last attempt's error.
func (r refusal) Unwrap() error { return r.Rejection }

// answer gives a Rejection its status and leaves every other error alone.
func answer(err error) error {
	var rejected *kalan.Rejection
	if _, done := err.(refusal); done || !errors.As(err, &rejected) {
		return err
	}
	return refusal{rejected, status.New(codeFor(rejected), rejected.Error())}
}

// publicly is answer for somebody else: what had happened before names addresses
// that strangers need not know, and stays with the error.
func publicly(r *kalan.Rejection) error {
	told := kalan.Rejection{Guard: r.Guard, Reason: r.Reason, RetryAfter: r.RetryAfter}
	return refusal{r, status.New(codeFor(r), told.Error())}
}

// codeFor returns the code of a Rejection. A call that ended because a retry
// did not fit into its time is answered with what the attempt came back with.
func codeFor(r *kalan.Rejection) codes.Code {
	if r.Reason == policy.Expired && r.Cause != nil {
		if s, ok := status.FromError(r.Cause); ok && s.Code() != codes.OK {
			return s.Code()
		}
	}
	return statusCodes[r.Reason]
}

// pushbackOf returns the trailer of a refusal: when to come back, or that there
// is no sense in it.
func pushbackOf(r *kalan.Rejection) metadata.MD {
	switch statusCodes[r.Reason] {
	case codes.Unavailable, codes.ResourceExhausted:
		return metadata.Pairs(pushbackKey, milliseconds(spread(r.Reason, r.RetryAfter)))
	}
	return metadata.Pairs(pushbackKey, "-1")
}

// spread draws when to come back, so that those who are refused together do
// not come together. What the room says is drawn already.
func spread(why policy.Reason, after time.Duration) time.Duration {
	switch {
	case after <= 0:
		return comeBack.Pick(rand.Float64())
	case why == policy.Open || why == policy.Rate:
		return span.Range{Min: after, Max: span.Add(after, max(after/2, time.Second))}.Pick(rand.Float64())
	}
	return after
}

// milliseconds rounds up: nobody is asked back too soon. What reads it takes 32
// bits.
func milliseconds(d time.Duration) string {
	ms := span.Add(d, time.Millisecond-1) / time.Millisecond
	return strconv.FormatInt(min(int64(ms), math.MaxInt32), 10)
}
