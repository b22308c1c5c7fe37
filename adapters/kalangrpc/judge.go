package kalangrpc

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/pushback"
	"github.com/kalan-go/kalan/policy"
)

// Judge says what a status tells of the dependency: the table of the package
// comment.
func Judge(code codes.Code) policy.Outcome {
	switch code {
	case codes.OK, codes.NotFound, codes.AlreadyExists:
		return policy.Success
	case codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.DataLoss:
		return policy.Failure
	}
	return policy.Ignored
}

// An attempt is what one attempt came back with, beside its reply.
type attempt struct {
	trailer metadata.MD
	sent    bool // a stream was opened for it
}

// report judges an attempt. Whatever was not sent was not done either; else
// the method itself must be one that may be repeated.
func (a *attempt) report(err error, outcome policy.Outcome, repeatable bool) policy.Report {
	r := policy.Report{Outcome: outcome, Final: true}
	switch status.Code(err) {
	case codes.Unavailable:
		r.Final = !repeatable && a.sent
		r.Refused = len(a.trailer.Get(pushbackKey)) > 0 // it is there, and has no room
	case codes.ResourceExhausted:
		r.Final, r.Refused = !repeatable, true
	case codes.DeadlineExceeded:
		r.Final = !repeatable
	}
	return a.obey(r)
}

// obey reads the server's pushback (gRFC A6). Two answers are none.
func (a *attempt) obey(r policy.Report) policy.Report {
	values := a.trailer.Get(pushbackKey)
	if len(values) == 0 {
		return r
	}
	wait, again := pushback.GRPC(values[0])
	if !again || len(values) > 1 {
		r.Final = true
		return r
	}
	r.RetryAfter = max(wait, 1) // 0 would be "it did not say"
	return r
}

// handled judges what a handler returned. A refusal of a guard further down
// says nothing of this one's work: one breaker for each dependency (F16).
func handled(err error, judge func(codes.Code) policy.Outcome) policy.Report {
	var refused *kalan.Rejection
	if errors.As(err, &refused) {
		return policy.Report{Outcome: policy.Ignored, Final: true}
	}
	return policy.Report{Outcome: judge(codeOf(err)), Final: true}
}

// codeOf is status.Code, with the plain errors of a context understood.
func codeOf(err error) codes.Code {
	if _, ok := status.FromError(err); ok {
		return status.Code(err)
	}
	return status.FromContextError(err).Code()
}
