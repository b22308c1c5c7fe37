package kalanhttp

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/internal/pardon"
	"github.com/kalan-go/kalan/internal/replay"
	"github.com/kalan-go/kalan/internal/travel"
	"github.com/kalan-go/kalan/policy/deadline"
)

// A call is one request on its way. Attempts that were left behind go on
// reading it, so nothing but the atomics changes once it has begun.
type call struct {
	*Transport
	request    *http.Request
	caller     context.Context
	guard      *kalan.Guard
	ask        kalan.Ask
	owner      string       // who repeats; "" for nobody
	repeatable bool         // by its method or its key
	body       *replay.Body // nil: there is none, or GetBody has it again
	over       atomic.Bool  // an answer is there: the body may close with its attempt
}

// begin finds out what the attempts need to know.
func (t *Transport) begin(r *http.Request, guard *kalan.Guard) *call {
	asked := carry.Of[kalan.Ask](r.Context())
	c := &call{Transport: t, request: r, caller: r.Context(), guard: guard, ask: asked.Ask, owner: asked.Owner}
	c.repeatable = travel.Idempotent(r.Method) || t.Keyed && travel.Keyed(r.Header)
	if _, marked := r.Header[travel.RetryOwner]; marked || c.owner != "" {
		c.ask.Once = true
	}
	if c.owner == "" && c.repeatable && !c.ask.Once && guard.Config().Retry.Attempts > 1 {
		c.owner = or(t.Owner, defaultOwner)
	}
	c.takeBody()
	// Of a body that streams nobody knows whether it can be had again, nor
	// whether it was received.
	c.ask.Unsafe = !c.repeatable || c.body != nil
	c.ask.Hedge = c.body == nil && travel.Safe(r.Method) && len(r.Header["Upgrade"]) == 0
	return c
}

// takeBody decides how each attempt gets the body.
func (c *call) takeBody() {
	r := c.request
	switch {
	case r.Body == nil || r.Body == http.NoBody:
	case r.GetBody != nil:
		r.Body.Close() // every attempt gets one of its own
	default:
		c.body = replay.New(r.Body, max(or(c.Keep, defaultKeep), 0))
	}
}

// outgoing makes the request of one attempt.
func (c *call) outgoing(ctx context.Context, a *answer, this kalan.Attempt) (*http.Request, error) {
	out := c.request.WithContext(ctx)
	out.Header = make(http.Header, len(c.request.Header)+3)
	for name, values := range c.request.Header {
		out.Header[name] = values
	}
	travel.HideKeys(out.Header)
	if err := c.mark(out.Header, this); err != nil {
		return nil, err
	}
	switch {
	case c.body != nil:
		a.sent = &sent{ReadCloser: c.body.Attempt(nil), call: c}
		a.sent.pardon.Open(pardon.After(c.guard.Config()), tarrying{ctx})
		out.Body = a.sent
	case c.request.GetBody != nil && c.request.Body != nil && c.request.Body != http.NoBody:
		body, err := c.request.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	return out, nil
}

// mark writes what services tell each other: what remains of the time, the
// attempt's number, and who repeats.
func (c *call) mark(h http.Header, this kalan.Attempt) error {
	if c.Quiet {
		return nil
	}
	travel.WriteAttempt(h, this.Number)
	if c.owner != "" {
		h[travel.RetryOwner] = []string{c.owner}
	}
	remaining, own := deadline.None, time.Duration(0)
	if d, limited := c.caller.Deadline(); limited {
		remaining = time.Until(d)
	}
	if !this.Until.IsZero() {
		own = max(time.Until(this.Until), 1) // 0 would be none
	}
	remaining = deadline.Outbound(own, remaining, or(c.Margin, deadline.DefaultMargin))
	name := travel.Remaining
	if c.Header != "" {
		name = http.CanonicalHeaderKey(c.Header)
	}
	return travel.WriteRemaining(h, name, remaining)
}

// A sent is the request's body as one attempt sends it.
type sent struct {
	io.ReadCloser
	call   *call
	closed atomic.Bool
	pardon pardon.Pardon // for a caller who has not sent it all
}

// A tarrying attempt waits for the rest of its request.
type tarrying struct{ context.Context }

// Excuse excuses it.
func (t tarrying) Excuse() { kalan.Excuse(t.Context) }

// Read waits for what the caller sends.
func (s *sent) Read(p []byte) (int, error) {
	s.pardon.Begin()
	defer s.pardon.End()
	return s.ReadCloser.Read(p)
}

// Close says that the attempt sends no more. The real body is closed once,
// when no other attempt can want it.
func (s *sent) Close() error {
	s.closed.Store(true)
	s.pardon.Stop()
	if s.call.over.Load() {
		return s.call.body.Close()
	}
	return nil
}

// won says that a is the call's answer. Its attempt may still be sending.
func (c *call) won(a *answer) {
	if c.body == nil {
		return
	}
	c.over.Store(true)
	if a.sent.closed.Load() {
		c.body.Close()
	}
}

// endBody takes the body from whoever still reads it.
func (c *call) endBody() {
	if c.body != nil {
		c.body.Close()
	}
}
