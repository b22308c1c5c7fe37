package gateway

import (
	"errors"
	"net/http"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/refusal"
	"github.com/kalan-go/kalan/internal/travel"
	"github.com/kalan-go/kalan/policy"
)

// A problem is an answer of the gateway's own.
type problem struct {
	refusal.Problem

	why    policy.Reason
	allow  string
	close  bool
	waited bool  // the caller had to wait for it
	cause  error // for the log: callers need not know our addresses
}

// wrong says that the request cannot be served as it is.
func wrong(status int, detail string) *problem {
	return &problem{Problem: refusal.Wrong(status, detail)}
}

// andClose ends the connection with the answer.
func (p *problem) andClose() *problem {
	p.close = true
	return p
}

// refusal says that the guard of that name refused for the reason.
func (x *exchange) refusal(guard string, why policy.Reason, after time.Duration, cause error) *problem {
	return &problem{Problem: refusal.Of(guard, why, after), why: why, cause: cause}
}

// failure turns the guard's error into an answer: why it refused, or what the
// last attempt came back with when one was made.
func (x *exchange) failure(err error) *problem {
	rejected, ok := errors.AsType[*kalan.Rejection](err)
	switch {
	case x.senseless(), x.hasStalled():
		return x.unread()
	case !ok:
		return x.lastError(err)
	case x.tried(rejected):
		p := x.lastError(rejected.Cause)
		p.cause = err // the log also says why nothing followed
		if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
			p.RetryAfter = refusal.ComeBack(rejected.Reason, rejected.RetryAfter)
		}
		return p
	}
	p := x.refusal(rejected.Guard, rejected.Reason, rejected.RetryAfter, rejected.Cause)
	p.waited = rejected.Waited
	return p
}

// tried reports whether a call ended because the attempt that was to follow
// another did not fit into its time, or was refused at a gate. That says nothing
// to a caller who has seen one fail (F19); the one that failed does.
func (x *exchange) tried(r *kalan.Rejection) bool {
	switch r.Reason {
	case policy.Timeout, policy.Gone:
		return false
	case policy.Expired:
		return r.Cause != nil && time.Until(x.deadline) > 0
	}
	return r.Cause != nil
}

// lastError turns the last attempt's own error into an answer.
func (x *exchange) lastError(err error) *problem {
	if errors.Is(err, travel.ErrTooLate) {
		return x.last(x.refusal(x.target.name, policy.Expired, 0, nil), err)
	}
	if answer, ok := errors.AsType[answerError](err); ok {
		return x.last(wrong(int(answer), answer.Error()+", and no other attempt could be made"), err)
	}
	detail := "the upstream broke off before it had answered"
	switch faultOf(err) {
	case "timeout":
		return x.last(x.refusal(x.target.name, policy.Timeout, 0, nil), err)
	case "connect":
		detail = "the upstream could not be reached"
	}
	return x.last(wrong(http.StatusBadGateway, detail), err)
}

// last completes the answer that says what the last attempt came back with.
func (x *exchange) last(p *problem, err error) *problem {
	p.Guard, p.cause, p.waited = x.target.name, err, true
	return p
}

// refuse answers with a problem. The upstream's transport is not touched.
func (x *exchange) refuse(p *problem) {
	x.record.refused(p)
	if p.why == policy.Gone {
		x.abort("gone")
	}
	x.begin(p.Status)
	header := x.w.Header()
	if p.close || x.leaveUnread() {
		header["Connection"] = closing
	}
	if p.allow != "" {
		header["Allow"] = []string{p.allow}
	}
	x.record.bytes += p.Write(x.w)
}

// leaveUnread deals with a body that nobody will read. net/http reads what is
// left before it answers, to keep the connection: that is worth it for a small
// one that comes at once. It reports whether to close the connection instead.
func (x *exchange) leaveUnread() bool {
	if x.body != nil || x.r.ContentLength == 0 {
		return false
	}
	x.readBefore(time.Now().Add(linger))
	return x.r.ContentLength < 0 || x.r.ContentLength > mostKept
}
