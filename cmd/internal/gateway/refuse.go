package gateway

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A problem is an answer of the gateway's own (RFC 9457).
type problem struct {
	Type       string `json:"type"`
	Title      string `json:"title"`
	Status     int    `json:"status"`
	Detail     string `json:"detail,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Guard      string `json:"guard,omitempty"`
	RetryAfter int64  `json:"retry_after,omitempty"` // seconds

	why   policy.Reason
	allow string
	close bool
	cause error // for the log: callers need not know our addresses
}

// clientGone is what logs say of a client that left before its answer.
const clientGone = 499

// statuses says which status each reason is answered with.
var statuses = [policy.Reasons]int{
	policy.Open:    http.StatusServiceUnavailable,
	policy.Rate:    http.StatusTooManyRequests,
	policy.Full:    http.StatusServiceUnavailable,
	policy.Waited:  http.StatusServiceUnavailable,
	policy.Shed:    http.StatusServiceUnavailable,
	policy.Timeout: http.StatusGatewayTimeout,
	policy.Expired: http.StatusGatewayTimeout,
	policy.Gone:    clientGone,
	// Never answers by themselves; the last attempt's error is.
	policy.None:   http.StatusBadGateway,
	policy.Budget: http.StatusBadGateway,
	policy.Spent:  http.StatusBadGateway,
}

// comeBack is when those may come back whom nobody has told more exactly.
var comeBack = span.Range{Min: 2 * time.Second, Max: 5 * time.Second}

// wrong says that the request cannot be served as it is.
func wrong(status int, detail string) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// andClose ends the connection with the answer.
func (p *problem) andClose() *problem {
	p.close = true
	return p
}

// refusal says that the guard of that name refused for the reason.
func (x *exchange) refusal(guard string, why policy.Reason, after time.Duration, cause error) *problem {
	p := &problem{
		Type: "urn:kalan:reason:" + why.String(), Title: why.Error(), Status: statuses[why],
		Reason: why.String(), Guard: guard, why: why, cause: cause,
	}
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		p.RetryAfter = seconds(spread(why, after))
	}
	return p
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

// seconds rounds up: nobody is asked back too soon.
func seconds(d time.Duration) int64 {
	return int64(span.Add(d, time.Second-1) / time.Second)
}

// failure turns the guard's error into an answer.
func (x *exchange) failure(err error) *problem {
	var rejected *kalan.Rejection
	switch {
	case errors.As(err, &rejected) && !x.unfit(rejected):
		return x.refusal(rejected.Guard, rejected.Reason, rejected.RetryAfter, rejected.Cause)
	case rejected != nil:
		err = rejected.Cause
	}
	return x.lastError(err)
}

// lastError turns the last attempt's own error into an answer.
func (x *exchange) lastError(err error) *problem {
	if errors.Is(err, errTooLate) {
		return x.refusal(x.target.name, policy.Expired, 0, err)
	}
	detail := "the upstream broke off before it had answered"
	switch faultOf(err) {
	case "timeout":
		return x.refusal(x.target.name, policy.Timeout, 0, err)
	case "connect":
		detail = "the upstream could not be reached"
	}
	p := wrong(http.StatusBadGateway, detail)
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
	if p.RetryAfter > 0 {
		header["Retry-After"] = []string{strconv.FormatInt(p.RetryAfter, 10)}
	}
	header["Content-Type"] = problemJSON
	header["Cache-Control"] = noStore
	body, _ := json.Marshal(p) // strings and numbers
	header["Content-Length"] = length(len(body))
	x.w.WriteHeader(p.Status)
	n, _ := x.w.Write(body)
	x.record.bytes += int64(n)
}

var (
	problemJSON = []string{"application/problem+json"}
	noStore     = []string{"no-store"}
)

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
