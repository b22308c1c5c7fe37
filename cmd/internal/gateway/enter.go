package gateway

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/internal/replay"
	"github.com/kalan-go/kalan/internal/travel"
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
	if p := x.identify(); p != nil {
		return p
	}
	if p := x.pace(); p != nil {
		return p
	}
	x.place.Store(x.target.pool.begin())
	x.limit = callContext{x.r.Context(), x.deadline}
	if p := x.takeBody(); p != nil {
		return p
	}
	x.ask.Once = x.peer.Trusted && len(x.r.Header[travel.RetryOwner]) > 0
	// Of a body that still streams nobody knows whether it can be had again.
	x.ask.Unsafe = !x.repeatable || x.body != nil && !x.body.Whole()
	x.ask.Hedge = true // what is not unsafe may also run twice at once, if the file asks for it
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
		inbound, err := travel.ReadRemaining(x.r.Header, x.g.header)
		if err != nil {
			return wrong(http.StatusBadRequest, err.Error())
		}
		remaining = inbound
	}
	remaining = deadline.Effective(remaining, x.target.promise)
	if remaining <= max(x.g.file.Deadline.Margin, 0) {
		return x.refusal(x.target.name, policy.Expired, 0, nil)
	}
	if remaining != deadline.None {
		x.deadline = time.Now().Add(min(remaining, travel.Longest))
	}
	return nil
}

// keyed finds out whether the request may be repeated. A key that Connection
// names ends here (RFC 9110, 7.6.1), and the upstream would know no repetition
// by it.
func (x *exchange) keyed() *problem {
	has := travel.Keyed(x.r.Header) && !wire.Nominates(x.r.Header, "Idempotency-Key")
	if x.target.keyDue && !travel.Safe(x.r.Method) && !has {
		return wrong(http.StatusBadRequest, "this route needs an Idempotency-Key that Connection does not name; make one for each change and send the same with each repetition")
	}
	x.repeatable = travel.Idempotent(x.r.Method) || has && x.target.keyed
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
	x.sender = &sender{ReadCloser: r.Body, x: x}
	x.body = replay.New(x.sender, mostKept)
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

// unread says why a body could not be read: its time was up, it makes no
// sense, or its sender has gone.
func (x *exchange) unread() *problem {
	switch {
	case x.hasStalled():
		return stalled()
	case !x.deadline.IsZero() && time.Until(x.deadline) <= 0:
		return x.refusal(x.target.name, policy.Expired, 0, nil).andClose()
	case x.senseless():
		return wrong(http.StatusBadRequest, "the request's body is not framed as HTTP frames it").andClose()
	}
	return x.refusal(x.target.name, policy.Gone, 0, x.body.Broken())
}

// senseless reports whether the request's body broke off on its own account,
// and not because of its connection.
func (x *exchange) senseless() bool {
	if x.body == nil || x.body.Broken() == nil {
		return false
	}
	var network net.Error
	err := x.body.Broken()
	return !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, http.ErrBodyReadAfterClose) && !errors.As(err, &network)
}
