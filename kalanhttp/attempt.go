package kalanhttp

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/resend"
	"github.com/kalan-go/kalan/policy"
)

// An answer is what one attempt came back with.
type answer struct {
	*http.Response
	sent   *sent          // nil: no body that is kept
	end    policy.Outcome // what the attempt is when its last byte has come
	until  time.Time      // when its last byte is due; zero: never
	cancel context.CancelCauseFunc
	tie    func() bool // unties the request from the attempt's own end

	wire resend.Attempt // sees to it that it is sent once
}

// mostDrained is how much of an answer is read that nobody waits for, and
// lastWords how much of one that is followed by another attempt, in what time.
const (
	mostDrained     = 256 << 10
	lastWords       = 4 << 10
	lastWordsWithin = 50 * time.Millisecond
)

// attempt sends the request once. It runs on a goroutine of its own and may
// outlive its caller.
func (c *call) attempt(ctx context.Context) (*answer, error) {
	this := kalan.AttemptOf(ctx)
	a := &answer{until: this.Until}
	out, err := c.outgoing(c.open(ctx, a), a, this)
	if err == nil {
		a.Response, err = c.base().RoundTrip(out)
		if a.Response == nil && err == nil {
			err = errNothing
		}
	}
	if err != nil {
		a.tie()
		a.cancel(nil)
		return a, err
	}
	if a.Response.Request = c.request; a.Body == nil {
		a.Body = http.NoBody
	}
	if c.unwanted(this) {
		// The slot is the dependency's until its last byte, so it is read.
		io.CopyN(io.Discard, a.Body, mostDrained)
		a.Body.Close()
	}
	return a, nil
}

// open makes the context of the attempt's request: it ends with the attempt,
// until it is untied, because its answer is a stream that outlives it. An
// attempt that nothing bounds ends with its caller.
func (c *call) open(ctx context.Context, a *answer) context.Context {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	a.cancel = cancel
	bound := ctx
	if _, bounded := ctx.Deadline(); !bounded {
		bound = c.caller
	}
	a.tie = context.AfterFunc(bound, func() { cancel(context.Cause(bound)) })
	return a.wire.Watch(limited{inner, a.until}, c.request.Method, c.Base == nil, cancel)
}

// unwanted reports whether nobody waits for the answer any more.
func (c *call) unwanted(this kalan.Attempt) bool {
	return c.caller.Err() != nil || !this.Until.IsZero() && time.Until(this.Until) <= 0
}

// limited tells those below until when the answer is wanted.
type limited struct {
	context.Context
	until time.Time
}

// Deadline returns the attempt's.
func (l limited) Deadline() (time.Time, bool) { return l.until, !l.until.IsZero() }

// discard gives back an answer that is followed by another attempt, and says
// what it was. A short rest is read, so that the connection can be used again.
func (c *call) discard(a *answer) error {
	a.tie()
	timer := time.AfterFunc(lastWordsWithin, func() { a.cancel(nil) })
	defer timer.Stop()
	if a.StatusCode != http.StatusSwitchingProtocols {
		io.CopyN(io.Discard, a.Body, lastWords)
	}
	a.Body.Close()
	a.cancel(nil)
	return StatusError(a.StatusCode)
}
