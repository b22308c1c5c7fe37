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

// failure turns the guard's error into an answer.
func (x *exchange) failure(err error) *problem {
	var rejected *kalan.Rejection
	switch {
	case x.senseless():
		return x.unread()
	case errors.As(err, &rejected) && !x.unfit(rejected):
		p := x.refusal(rejected.Guard, rejected.Reason, rejected.RetryAfter, rejected.Cause)
		p.waited = rejected.Waited
		return p
	case rejected != nil:
		err = rejected.Cause
	}
	return x.lastError(err)
}

// lastError turns the last attempt's own error into an answer.
func (x *exchange) lastError(err error) (p *problem) {
	defer func() { p.waited = true }()
	if errors.Is(err, travel.ErrTooLate) {
		return x.refusal(x.target.name, policy.Expired, 0, err)
	}
	detail := "the upstream broke off before it had answered"
	switch faultOf(err) {
	case "timeout":
		return x.refusal(x.target.name, policy.Timeout, 0, err)
	case "connect":
		detail = "the upstream could not be reached"
	}
	p = wrong(http.StatusBadGateway, detail)
	p.Guard, p.cause = x.target.name, err
	return p
}

// unfit reports whether a call ended because a retry did not fit into its
// time: the answer is then what the attempt came back with.
func (x *exchange) unfit(r *kalan.Rejection) bool {
	return r.Reason == policy.Expired && r.Cause != nil && time.Until(x.deadline) > 0
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
