package gateway

import (
	"net/http"
	"strings"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/cmd/internal/gateway/replay"
	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/deadline"
)

// mostKept is how much of a body is kept to repeat it.
const mostKept = 64 << 10

// enter decides whether the request may be served at all, and finds out what
// the rest needs to know. It returns what is wrong, nil if nothing is.
func (x *exchange) enter() *problem {
	if x.conn != nil {
		x.peer = x.conn.peer
		if !x.conn.next() {
			return wrong(http.StatusBadRequest, "the request's length is written in two ways, or as HTTP does not write it; send Content-Length or Transfer-Encoding").andClose()
		}
	} else {
		x.peer = x.g.trust.Peer(x.r.RemoteAddr)
	}
	if p := speaks(x.r); p != nil {
		return p
	}
	i, onward, bad := x.g.routes.Find(x.r.Method, x.r.URL)
	if bad != nil {
		p := wrong(bad.Status, bad.Detail)
		p.allow = bad.Allow
		return p
	}
	x.target, x.url = &x.g.targets[i], onward
	if p := x.timed(); p != nil {
		return p
	}
	if p := x.keyed(); p != nil {
		return p
	}
	x.place = x.target.pool.begin()
	x.limit = callContext{x.r.Context(), x.deadline}
	if p := x.takeBody(); p != nil {
		return p
	}
	x.ask = kalan.Ask{
		Level: x.target.level,
		Once:  x.peer.Trusted && len(x.r.Header[wire.RetryOwner]) > 0,
		// Of a body that still streams nobody knows whether it can be had again.
		Unsafe: !x.repeatable || x.body != nil && !x.body.Whole(),
	}
	return nil
}

// speaks refuses what is not HTTP/1.1 with one answer to one request.
func speaks(r *http.Request) *problem {
	if r.ProtoMajor != 1 {
		return wrong(http.StatusNotImplemented, "HTTP/2 without TLS is not spoken here yet; use HTTP/1.1").andClose()
	}
	if r.Method == http.MethodConnect {
		return wrong(http.StatusNotImplemented, "this gateway forwards requests and digs no tunnels").andClose()
	}
	if protocol, asked := wire.WantsUpgrade(r.Header); asked {
		return wrong(http.StatusNotImplemented, "an upgrade to "+protocol+" is not supported yet; stay with HTTP/1.1")
	}
	for _, kind := range r.Header["Content-Type"] {
		if isGRPC(kind) {
			return wrong(http.StatusNotImplemented, "gRPC is not supported yet; it needs HTTP/2").andClose()
		}
	}
	return nil
}

// isGRPC recognizes application/grpc, with a message format ("+proto") or
// parameters, and not application/grpc-web, which is at home in HTTP/1.1.
func isGRPC(contentType string) bool {
	const grpc = "application/grpc"
	if len(contentType) < len(grpc) || !strings.EqualFold(contentType[:len(grpc)], grpc) {
		return false
	}
	rest := contentType[len(grpc):]
	return rest == "" || rest[0] == '+' || rest[0] == ';' || rest[0] == ' '
}

// timed reads the remaining time and sets the call's deadline: what the caller
// brings can only shorten what the route promises, so it is read from everyone.
func (x *exchange) timed() *problem {
	remaining := deadline.None
	if x.g.header != "" {
		for _, name := range [...]string{x.g.header, wire.Expected} {
			inbound, p := remainingIn(x.r.Header[name], name)
			if p != nil {
				return p
			}
			remaining = min(remaining, inbound)
		}
	}
	remaining = deadline.Effective(remaining, x.target.promise)
	if remaining <= max(x.g.file.Deadline.Margin, 0) {
		return x.refusal(x.target.name, policy.Expired, 0, nil)
	}
	if remaining != deadline.None {
		x.deadline = time.Now().Add(min(remaining, longest))
	}
	return nil
}

// longest is a deadline that no connection lives to see, and that no clock
// overflows at.
const longest = 100 * 365 * 24 * time.Hour

func remainingIn(lines []string, name string) (time.Duration, *problem) {
	switch len(lines) {
	case 0:
		return deadline.None, nil
	case 1:
		inbound, err := deadline.Parse(lines[0])
		if err != nil {
			return 0, wrong(http.StatusBadRequest, name+": "+err.Error())
		}
		return inbound, nil
	}
	return 0, wrong(http.StatusBadRequest, name+" is there more than once; send it once")
}

// keyed finds out whether the request may be repeated.
func (x *exchange) keyed() *problem {
	key := x.r.Header["Idempotency-Key"]
	has := len(key) == 1 && key[0] != ""
	changes := true
	switch x.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		changes, x.repeatable = false, true
	case http.MethodPut, http.MethodDelete: // RFC 9110, 9.2.2
		x.repeatable = true
	}
	if x.target.keyDue && changes && !has {
		return wrong(http.StatusBadRequest, "this route needs an Idempotency-Key; make one for each change and send the same with each repetition")
	}
	x.repeatable = x.repeatable || has && x.target.keyed
	return nil
}

// takeBody prepares the request's body: a small one is read now, so that a
// slow sender holds no slot. One that waits for a 100 Continue is not asked
// for before the upstream asks.
func (x *exchange) takeBody() *problem {
	r := x.r
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	x.body = replay.New(r.Body, mostKept)
	x.readBefore(x.deadline)
	if r.ContentLength < 0 || r.ContentLength > mostKept || len(r.Header["Expect"]) > 0 {
		return nil
	}
	before := x.g.now()
	err := x.body.Load(int(r.ContentLength))
	x.waited += x.g.now() - before
	if err != nil {
		return x.unread()
	}
	x.readBefore(time.Time{}) // from now on net/http reads, to see the client leave
	return nil
}

// unread says why a body could not be read: its time was up, or its sender
// has gone.
func (x *exchange) unread() *problem {
	why := policy.Gone
	if !x.deadline.IsZero() && time.Until(x.deadline) <= 0 {
		why = policy.Expired
	}
	return x.refusal(x.target.name, why, 0, nil).andClose()
}
