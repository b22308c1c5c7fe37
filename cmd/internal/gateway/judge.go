package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/kalan-go/kalan/internal/pushback"
	"github.com/kalan-go/kalan/internal/replay"
	"github.com/kalan-go/kalan/internal/travel"
	"github.com/kalan-go/kalan/policy"
)

// judge says what an attempt tells of the upstream and whether it may be
// repeated. It runs on the attempt's goroutine too, when that has been left.
func (x *exchange) judge(answer reply, err error) policy.Report {
	if err == nil {
		return x.judgeAnswer(answer.Response)
	}
	switch {
	case errors.Is(err, travel.ErrTooLate):
		return policy.Report{Outcome: policy.Ignored, Final: true}
	case errors.Is(err, replay.ErrLeft), x.body != nil && x.body.Broken() != nil:
		return policy.Report{Outcome: policy.Cut, Final: true} // the client is at fault
	}
	r := policy.Report{Outcome: policy.Ignored, Final: true}
	fault := faultOf(err)
	if slices.Contains(x.target.config.Failures.Errors, fault) {
		r.Outcome = policy.Failure
	}
	// Whatever was not written was not done either; else the request itself
	// must be one that may be repeated, with its body still there.
	if r.Outcome == policy.Failure && (x.repeatable || fault == "connect") {
		r.Final = x.body != nil && !x.body.Leave(answer.sent)
	}
	return r
}

// faultOf returns the word of the configuration for an error of the
// transport's.
func faultOf(err error) string {
	var network net.Error
	switch {
	case neverConnected(err):
		return "connect"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return "reset" // cut off, or not HTTP
}

// judgeAnswer judges by the status. An answer during which the request is
// still being sent is never followed by another attempt: the rest of the
// answer depends on the rest of the request.
func (x *exchange) judgeAnswer(answer *http.Response) policy.Report {
	r := policy.Report{Outcome: x.outcome(answer.StatusCode), Final: true}
	r.Refused = answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusTooManyRequests
	if r.Outcome == policy.Success || !x.repeatable || x.body != nil && !x.body.Whole() {
		return r
	}
	wait, asked := pushback.RetryAfter(answer.Header.Get("Retry-After"), time.Now())
	switch {
	case slices.Contains(x.target.config.Failures.Status, answer.StatusCode):
		r.Final, r.RetryAfter = false, wait
	case answer.StatusCode == http.StatusTooManyRequests && asked:
		r.Final, r.RetryAfter = false, max(wait, 1) // 0 would be "it did not say"
	}
	return r
}

// outcome says what an answer tells of the upstream.
func (x *exchange) outcome(status int) policy.Outcome {
	switch {
	case slices.Contains(x.target.config.Failures.Status, status), status >= 500 && x.target.usual:
		return policy.Failure
	case status >= 500, status == http.StatusTooManyRequests:
		return policy.Ignored
	}
	return policy.Success
}

// discard gives back an answer that is followed by another attempt, and says
// what it was. Its connection is given up rather than waited for: the next
// attempt may not have the time.
func discard(answer reply) error {
	answer.Body.Close()
	return answerError(answer.StatusCode)
}

// An answerError is an upstream's answer that was a failure.
type answerError int

func (e answerError) Error() string { return "the upstream answered " + strconv.Itoa(int(e)) }
