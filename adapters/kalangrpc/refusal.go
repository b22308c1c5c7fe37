package kalangrpc

import (
	"errors"
	"math"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	comeback "github.com/kalan-go/kalan/internal/refusal"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// statusCodes says which code each reason is answered with.
var statusCodes = [policy.Reasons]codes.Code{
	policy.Open:      codes.Unavailable,
	policy.Throttled: codes.Unavailable,
	policy.Rate:      codes.ResourceExhausted,
	policy.Full:      codes.Unavailable,
	policy.Waited:    codes.Unavailable,
	policy.Shed:      codes.Unavailable,
	policy.Timeout:   codes.DeadlineExceeded,
	policy.Expired:   codes.DeadlineExceeded,
	policy.Gone:      codes.Canceled,
	// Never answers by themselves; the last attempt's error is.
	policy.None:   codes.Unavailable,
	policy.Budget: codes.Unavailable,
	policy.Spent:  codes.Unavailable,
}

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
	return refusal{rejected, withText(statusOf(rejected), rejected.Error())}
}

// withText returns s with another text. What details an attempt's status has
// stay.
func withText(s *status.Status, text string) *status.Status {
	p := s.Proto()
	p.Message = text
	return status.FromProto(p)
}

// publicly is answer for somebody else: what had happened before names addresses
// that strangers need not know, and stays with the error.
func publicly(r *kalan.Rejection) error {
	bare := kalan.Rejection{Guard: r.Guard, Reason: r.Reason, RetryAfter: r.RetryAfter}
	return refusal{r, status.New(statusOf(r).Code(), bare.Error())}
}

// statusOf returns the status of a Rejection. A call of which an attempt was
// made and has failed has that attempt's: that another was refused says nothing
// to a caller who has seen one fail (F19).
func statusOf(r *kalan.Rejection) *status.Status {
	if r.Cause != nil && r.Reason != policy.Timeout && r.Reason != policy.Gone {
		if inner, refused := errors.AsType[*kalan.Rejection](r.Cause); refused {
			return statusOf(inner)
		}
		if s, ok := status.FromError(r.Cause); ok && s.Code() != codes.OK {
			return s
		}
	}
	return status.New(statusCodes[r.Reason], "")
}

// pushbackOf returns the trailer of a refusal: when to come back, or that there
// is no point in it.
func pushbackOf(r *kalan.Rejection) metadata.MD {
	switch statusCodes[r.Reason] {
	case codes.Unavailable, codes.ResourceExhausted:
		return metadata.Pairs(pushbackKey, milliseconds(comeback.Spread(r.Reason, r.RetryAfter)))
	}
	return metadata.Pairs(pushbackKey, "-1")
}

// milliseconds rounds up: nobody is asked back too soon. What reads it takes 32
// bits.
func milliseconds(d time.Duration) string {
	ms := span.Add(d, time.Millisecond-1) / time.Millisecond
	return strconv.FormatInt(min(int64(ms), math.MaxInt32), 10)
}
