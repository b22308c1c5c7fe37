// Package refusal is how an HTTP server of Kalan's says no: a status for each
// reason, application/problem+json (RFC 9457), and a time to come back that is
// not the same for everybody. It serves the gateway and kalanhttp.Handler.
package refusal

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A Problem is an answer that the server gives instead of doing the work.
type Problem struct {
	Type       string `json:"type"`
	Title      string `json:"title"`
	Status     int    `json:"status"`
	Detail     string `json:"detail,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Guard      string `json:"guard,omitempty"`
	RetryAfter int64  `json:"retry_after,omitempty"` // seconds
}

// ClientGone is what logs say of a client that left before its answer.
const ClientGone = 499

// statuses says which status each reason is answered with.
var statuses = [policy.Reasons]int{
	policy.Open:      http.StatusServiceUnavailable,
	policy.Throttled: http.StatusServiceUnavailable,
	policy.Rate:      http.StatusTooManyRequests,
	policy.Full:      http.StatusServiceUnavailable,
	policy.Waited:    http.StatusServiceUnavailable,
	policy.Shed:      http.StatusServiceUnavailable,
	policy.Timeout:   http.StatusGatewayTimeout,
	policy.Expired:   http.StatusGatewayTimeout,
	policy.Gone:      ClientGone,
	// Never answers by themselves; the last attempt's error is.
	policy.None:   http.StatusBadGateway,
	policy.Budget: http.StatusBadGateway,
	policy.Spent:  http.StatusBadGateway,
}

// comeBack is when those may come back whom nobody has told more exactly.
var comeBack = span.Range{Min: 2 * time.Second, Max: 5 * time.Second}

// Wrong says that a request cannot be served as it is.
func Wrong(status int, detail string) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// Of says that the guard of that name refused for the reason. After is when to
// come back, as far as the guard knows.
func Of(guard string, why policy.Reason, after time.Duration) Problem {
	p := Problem{
		Type: "urn:kalan:reason:" + why.String(), Title: why.Error(), Status: statuses[why],
		Reason: why.String(), Guard: guard,
	}
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		p.RetryAfter = ComeBack(why, after)
	}
	return p
}

// ComeBack draws when a caller may come back that was refused for the reason, in
// whole seconds. After is what the guard knows of it; 0: nothing.
func ComeBack(why policy.Reason, after time.Duration) int64 { return seconds(Spread(why, after)) }

// Spread draws when to come back, so that those who are refused together do
// not come together. What the room says is drawn already.
func Spread(why policy.Reason, after time.Duration) time.Duration {
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

// Write sends the problem and returns how many bytes its body has. Headers that
// are set already stay, but for those that describe the body.
func (p *Problem) Write(w http.ResponseWriter) int64 {
	header := w.Header()
	if p.RetryAfter > 0 {
		header["Retry-After"] = []string{strconv.FormatInt(p.RetryAfter, 10)}
	}
	header["Content-Type"] = problemJSON
	header["Cache-Control"] = noStore
	body, _ := json.Marshal(p) // strings and numbers
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(p.Status)
	n, _ := w.Write(body)
	return int64(n)
}

var (
	problemJSON = []string{"application/problem+json"}
	noStore     = []string{"no-store"}
)
