package kalanhttp

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/pardon"
	"github.com/kalan-go/kalan/policy"
)

// deliver hands the answer to the caller, and sees to its end.
func (c *call) deliver(a *answer, held kalan.Held) (*http.Response, error) {
	switch {
	case c.endless(a, held):
		return c.stream(a, held)
	case a.Body == http.NoBody:
		held.Release(a.end)
		a.cancel(nil)
		return a.Response, nil
	}
	a.tie() // or the read that is cut hears of the attempt's end, and not of why it ended
	b := &body{ReadCloser: a.Body, answer: a, held: held, call: c}
	b.watch()
	a.Response.Body = b
	return a.Response, nil
}

// endless reports whether the answer is a stream. The question may be the
// program's, and its panic the end of the attempt.
func (c *call) endless(a *answer, held kalan.Held) bool {
	if c.Stream == nil {
		return IsStream(a.Response)
	}
	said := false
	defer func() {
		if !said {
			held.Release(policy.Ignored)
			a.cancel(nil)
			a.Body.Close()
		}
	}()
	is := c.Stream(a.Response)
	said = true
	return is
}

// A body is an answer's body. The slot is the dependency's until its end.
type body struct {
	io.ReadCloser
	*answer
	call   *call
	held   kalan.Held
	own    bool          // the attempt's limit comes before its caller's
	pardon pardon.Pardon // for a caller who asks for no bytes

	mu    sync.Mutex // guards what follows, which is set while others may look
	over  bool
	timer *time.Timer
	leave func() bool
}

// watch ends the body when its last byte is due, or when its caller leaves.
func (b *body) watch() {
	caller := b.call.caller
	b.mu.Lock()
	defer b.mu.Unlock()
	d, limited := caller.Deadline()
	b.own = !b.until.IsZero() && (!limited || b.until.Before(d))
	config := b.call.guard.Config()
	after := pardon.After(config)
	b.pardon.Open(after, &b.held)
	if b.own || config.Breaker.Slow <= 0 {
		b.pardon.Rest()
	}
	if b.own {
		b.timer = time.AfterFunc(min(after, time.Until(b.until)), b.look)
	}
	b.pardon.Begin()
	b.leave = context.AfterFunc(caller, func() {
		b.finish(policy.Cut)
		b.cancel(context.Cause(caller))
	})
}

// look ends the body when its time is up. Before that it looks once at one that is
// read for long, so that all others have enough of one timer.
func (b *body) look() {
	if left := time.Until(b.until); left > 0 {
		b.pardon.Look()
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.over {
			b.timer.Reset(left)
		}
		return
	}
	b.finish(policy.Failure)
	b.cancel(context.DeadlineExceeded)
}

// Read reads on, and frees the slot at the end. Between two of them the caller is
// waited for.
func (b *body) Read(p []byte) (int, error) {
	b.pardon.End()
	n, err := b.ReadCloser.Read(p)
	b.pardon.Begin()
	switch {
	case err == nil:
	case err == io.EOF:
		b.finish(b.end)
	case b.call.caller.Err() != nil:
		b.finish(policy.Cut)
	case b.own && time.Until(b.until) <= 0:
		b.finish(policy.Failure)
		err = &kalan.Rejection{Guard: b.call.guard.Name(), Reason: policy.Timeout, Cause: err}
	default:
		b.finish(policy.Failure)
	}
	return n, err
}

// Close ends the body. A caller who needs no more of an answer has got what it
// asked for.
func (b *body) Close() error {
	if b.call.caller.Err() != nil {
		b.finish(policy.Cut)
	}
	b.finish(b.end)
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

// finish gives the slot back, once.
func (b *body) finish(o policy.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	b.over = true
	if b.timer != nil {
		b.timer.Stop()
	}
	b.leave()
	b.pardon.Stop()
	b.held.Release(o)
}

// stream hands over an answer that has no end: it is no attempt any more. It
// lives until it is closed or its caller leaves.
func (c *call) stream(a *answer, held kalan.Held) (*http.Response, error) {
	a.tie()
	held.Release(a.end)
	if err := oneMore(&c.streams, c.Streams, c.guard); err != nil {
		a.Body.Close()
		a.cancel(nil)
		return nil, err
	}
	s := &streamed{ReadCloser: a.Body, answer: a, call: c}
	s.leave = context.AfterFunc(c.caller, func() { a.cancel(context.Cause(c.caller)) })
	a.Response.Body = s
	if w, both := s.ReadCloser.(io.Writer); both {
		a.Response.Body = &switched{s, w}
	}
	return a.Response, nil
}

// oneMore counts another open stream, or says that there are too many.
func oneMore(open *atomic.Int64, most int, guard *kalan.Guard) error {
	if open.Add(1) > int64(max(or(most, defaultStreams), 0)) {
		open.Add(-1)
		return &kalan.Rejection{Guard: guard.Name(), Reason: policy.Full, Cause: errStreams}
	}
	return nil
}

// A streamed is the body of a stream.
type streamed struct {
	io.ReadCloser
	*answer
	call  *call
	leave func() bool
	over  atomic.Bool
}

// Close ends the stream.
func (s *streamed) Close() error {
	err := s.ReadCloser.Close()
	if !s.over.Swap(true) {
		s.leave()
		s.cancel(nil)
		s.call.streams.Add(-1)
	}
	return err
}

// A switched is a connection that speaks another protocol now.
type switched struct {
	*streamed
	io.Writer
}
