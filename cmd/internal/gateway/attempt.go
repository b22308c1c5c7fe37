package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/internal/pardon"
	"github.com/kalan-go/kalan/internal/replay"
	"github.com/kalan-go/kalan/internal/travel"
	"github.com/kalan-go/kalan/policy/deadline"
)

// A reply is what one attempt came back with.
type reply struct {
	*http.Response
	nominated              *wire.Nominated
	sent                   io.ReadCloser // the request's body as this attempt reads it
	until                  time.Time     // when its last byte is due; zero: never
	began, asked, answered time.Duration // on the gateway's clock
}

var errTalks = errors.New("the upstream sends informational answers without end")

var errSwitched = errors.New("the upstream switched protocols without being asked to")

// mostDrained is how much of an answer is read that nobody waits for.
const mostDrained = 256 << 10

// attempt forwards the request once. It runs on a goroutine of its own and may
// outlive the handler: it touches nothing that the handler changes.
func (x *exchange) attempt(ctx context.Context) (reply, error) {
	answer := reply{began: x.g.now()}
	if !x.join() {
		return answer, replay.ErrLeft // everybody left before it began
	}
	defer x.leave()
	this := kalan.AttemptOf(ctx)
	x.tries.Add(1)
	answer.nominated = new(wire.Nominated)
	to := x.target.pool.pick(&x.place)
	out, err := x.outgoing(x.traced(ctx, answer.nominated), to.host, this.Number)
	if err != nil {
		return answer, err
	}
	answer.sent, answer.asked = out.Body, x.g.now()
	answer.Response, err = x.target.transport.RoundTrip(out)
	answer.answered, answer.until = x.g.now(), this.Until
	x.tell(to, answer.answered-answer.asked, err)
	switch {
	case err != nil:
		return answer, err
	case answer.StatusCode < http.StatusOK:
		answer.Body.Close()
		return answer, errSwitched
	case x.unwanted(this.Until):
		// The slot is the upstream's until its last byte, so it is read.
		io.CopyN(io.Discard, answer.Body, mostDrained)
		answer.Body.Close()
	}
	return answer, nil
}

// tell lets the pool know whether an address has answered. One that had little
// time, or waits for the rest of the request, may still have done so.
func (x *exchange) tell(to *address, took time.Duration, err error) {
	exchange := x.target.config.Exchange
	switch {
	case err == nil:
		to.answered()
	case took >= exchange-exchange/8 && faultOf(err) == "timeout" && (x.body == nil || x.body.Ended()):
		x.target.pool.unanswered(to)
	}
}

// unwanted reports whether nobody waits for the answer any more.
func (x *exchange) unwanted(until time.Time) bool {
	return x.limit.Err() != nil || !until.IsZero() && time.Until(until) <= 0
}

// blank is what outgoing requests are made of: a context can only be given to
// a copy.
var blank http.Request

// outgoing makes the request of the nth attempt, which goes to a host.
func (x *exchange) outgoing(ctx context.Context, host string, n int) (*http.Request, error) {
	header := make(http.Header, len(x.r.Header)+8)
	x.peer.Request(header, x.r)
	if err := x.mark(header, n); err != nil {
		return nil, err
	}
	out := blank.WithContext(ctx)
	out.Method, out.Host, out.Header = x.r.Method, x.r.Host, header
	out.Proto, out.ProtoMajor, out.ProtoMinor = "HTTP/1.1", 1, 1
	out.URL = &url.URL{
		Scheme: "http", Host: host,
		Path: x.url.Path, RawPath: x.url.RawPath, RawQuery: x.url.RawQuery, ForceQuery: x.url.ForceQuery,
	}
	x.attach(ctx, out)
	return out, nil
}

// traced lets us see what http.Transport does not pass on: informational
// answers, which headers the answer nominates, and that it would repeat.
func (x *exchange) traced(ctx context.Context, nominated *wire.Nominated) context.Context {
	t := &tracedContext{Context: ctx}
	t.watch(nominated)
	// Not beside a 100 Continue, which net/http writes from another goroutine.
	if x.r.ProtoAtLeast(1, 1) && len(x.r.Header["Expect"]) == 0 {
		t.trace.Got1xxResponse = func(code int, header textproto.MIMEHeader) error {
			if t.early += weight(header); t.early > mostAnswerHeaders {
				return errTalks
			}
			return x.early(code, header)
		}
	}
	return t
}

// mark writes what gateways tell each other: what remains of the time, the
// attempt's number, and who repeats.
func (x *exchange) mark(header http.Header, n int) error {
	travel.WriteAttempt(header, n)
	if !x.ask.Once && x.repeatable && x.target.config.Retry.Attempts > 1 {
		header[travel.RetryOwner] = []string{x.g.name}
	}
	travel.HideKeys(header)
	if x.g.header == "" {
		return nil
	}
	remaining := deadline.None
	if !x.deadline.IsZero() {
		remaining = time.Until(x.deadline)
	}
	remaining = deadline.Outbound(x.target.config.Exchange, remaining, x.g.file.Deadline.Margin)
	return travel.WriteRemaining(header, x.g.header, remaining)
}

// attach gives the request its body and its trailers.
func (x *exchange) attach(ctx context.Context, out *http.Request) {
	if x.body == nil {
		delete(out.Header, "Expect") // there is nothing to wait for
		return
	}
	out.ContentLength = x.r.ContentLength
	if out.ContentLength < 0 {
		out.TransferEncoding = []string{"chunked"}
		out.Trailer = make(http.Header)
		wire.Announced(out.Trailer, x.r.Trailer)
	}
	if x.body.Whole() && out.ContentLength >= 0 {
		out.Body = x.body.Attempt(nil)
		// Of a connection that turns out dead before anything was written the
		// transport makes another, if it can have the body again.
		out.GetBody = func() (io.ReadCloser, error) { return x.body.Attempt(nil), nil }
		return
	}
	x.sender.grace.Store(&grace{left: pardon.After(x.target.config.Config), excuse: func() { kalan.Excuse(ctx) }})
	out.Body = x.body.Attempt(func() { x.bodyEnded(out.Trailer) })
}

// bodyEnded takes over the trailers, announced or not: the transport writes
// what is in the map when the body has ended. From here on net/http reads the
// connection itself, to see the client leave.
func (x *exchange) bodyEnded(trailer http.Header) {
	if trailer != nil {
		clear(trailer)
		wire.Trailers(trailer, x.r.Trailer, "")
	}
	x.readBefore(time.Time{})
}

// weight is about how long an informational answer is. http.Transport counts
// them only where nobody listens to them.
func weight(header textproto.MIMEHeader) int {
	long := 64 // for the status line and whatever is done for each
	for name, values := range header {
		for _, value := range values {
			long += len(name) + len(value)
		}
	}
	return long
}

// early passes on an informational answer (RFC 9110, 15.2). 100 Continue is
// net/http's business: it says it when the body is asked for.
func (x *exchange) early(code int, header textproto.MIMEHeader) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.begun || x.over || code == http.StatusContinue {
		return nil
	}
	if !x.deadline.IsZero() { // beyond it the handler wants to answer
		x.limitWrites(x.deadline)
		defer x.limitWrites(time.Time{})
	}
	wire.Response(x.w.Header(), http.Header(header), nil)
	x.w.WriteHeader(code)
	clear(x.w.Header())
	return nil
}
