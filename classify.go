package kalan

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/kalan-go/kalan/policy"
)

// Classify is the default judgement of a function's error (F18): what the
// network or the operating system says, an answer that broke off, and a time
// limit are failures, each of which may be repeated. Every other error is
// ignored: a business error that somebody adds tomorrow must not open the
// breaker.
//
// A dependency whose client raises something else states its own
// classification in Config.Classify.
func Classify(err error) policy.Report {
	switch {
	case err == nil:
		return policy.Report{Outcome: policy.Success}
	case infrastructure(err):
		return policy.Report{Outcome: policy.Failure}
	}
	return policy.Report{Outcome: policy.Ignored}
}

func infrastructure(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[syscall.Errno](err)
	return ok
}
