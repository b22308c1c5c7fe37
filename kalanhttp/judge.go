package kalanhttp

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/pushback"
	"github.com/kalan-go/kalan/internal/replay"
	"github.com/kalan-go/kalan/internal/travel"
	"github.com/kalan-go/kalan/policy"
)

// A StatusError is an answer that was a failure and was followed by another
// attempt: the cause of a *kalan.Rejection when that one was refused.
type StatusError int

// Error says what was answered.
func (e StatusError) Error() string {
	return "the dependency answered " + strconv.Itoa(int(e))
}

// Judge is the default judgement of an answer: 502, 503 and 504 are failures
// that sending the same again can repair, other 5xx failures that it cannot.
// 429 says nothing of the dependency's health, and is worth repeating only when
// it says when. Everything else is a success.
func Judge(answer *http.Response) policy.Report {
	r := policy.Report{Outcome: policy.Success, Final: true}
	wait, asked := pushback.RetryAfter(answer.Header.Get("Retry-After"), time.Now())
	switch status := answer.StatusCode; {
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return policy.Report{Outcome: policy.Failure, RetryAfter: wait, Refused: status == http.StatusServiceUnavailable}
	case status >= 500:
		r.Outcome = policy.Failure
	case status == http.StatusTooManyRequests:
		r.Outcome, r.Refused = policy.Ignored, true
		if asked {
			r.Final, r.RetryAfter = false, max(wait, 1) // 0 would be "it did not say"
		}
	}
	return r
}

// IsStream is the default of Transport.Stream: a switched protocol and an
// event stream have no end to wait for.
func IsStream(answer *http.Response) bool {
	return answer.StatusCode == http.StatusSwitchingProtocols || isEvents(answer.Header)
}

func isEvents(h http.Header) bool { return isEventStream(h.Get("Content-Type")) }

// isEventStream recognizes the media type, with parameters or without.
func isEventStream(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
}

// judge says what an attempt tells of the dependency and whether the request
// may be sent again. It runs on the attempt's goroutine too, when that has been
// left.
func (c *call) judge(a *answer, err error) policy.Report {
	if err != nil {
		return c.judgeError(a, err)
	}
	judge := c.Judge
	if judge == nil {
		judge = Judge
	}
	r := judge(a.Response)
	a.end = r.Outcome
	// An answer during which the request is still being sent is never followed
	// by another attempt: the rest of the one depends on the rest of the other.
	if !c.repeatable || c.body != nil && !c.body.Whole() {
		r.Final = true
	}
	return r
}

func (c *call) judgeError(a *answer, err error) policy.Report {
	var refused *kalan.Rejection
	r := policy.Report{Outcome: policy.Failure, Final: true}
	switch {
	case errors.Is(err, replay.ErrLeft), c.body != nil && c.body.Broken() != nil:
		r.Outcome = policy.Cut // the sender of the body is at fault
		return r
	case errors.Is(err, travel.ErrTooLate):
		r.Outcome = policy.Ignored
	case errors.As(err, &refused), !a.wire.Asked():
		// Another guard below, a request that is wrong, or a base that does not
		// tell what it does: the error itself has to say.
		r.Outcome = kalan.Classify(err).Outcome
	}
	if r.Outcome == policy.Failure && (c.repeatable || a.wire.Unsent()) {
		r.Final = c.body != nil && !c.body.Leave(a.sent.ReadCloser)
	}
	return r
}
