package kalanhttp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/refusal"
	"github.com/kalan-go/kalan/policy"
)

// A writer looks on while a handler answers, for two things: the status, and
// whether the answer is a stream.
type writer struct {
	http.ResponseWriter
	handler   *Handler
	held      kalan.Held
	ctx       context.Context // the handler's
	cancel    context.CancelFunc
	status    int   // 0: the head is not out
	refused   error // a stream that may not begin: its handler's bytes go nowhere
	streaming bool
	returned  bool // the handler, neither with a panic nor with Goexit
}

// Unwrap returns the server's writer, for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the head.
func (w *writer) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols { // the others come before the answer
		w.begin(status)
	}
	if w.refused == nil {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write sends a piece of the body.
func (w *writer) Write(p []byte) (int, error) {
	if w.begin(http.StatusOK); w.refused != nil {
		return 0, w.refused
	}
	return w.ResponseWriter.Write(p)
}

// WriteString is Write without a copy.
func (w *writer) WriteString(s string) (int, error) {
	if w.begin(http.StatusOK); w.refused != nil {
		return 0, w.refused
	}
	return io.WriteString(w.ResponseWriter, s)
}

// begin takes in the head of the answer, once.
func (w *writer) begin(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if status == http.StatusOK && isEvents(w.Header()) {
		if w.refused = w.startStream(); w.refused == nil {
			w.leaveGuard()
			return
		}
		w.refuseStream()
	}
}

// refuseStream answers instead of the handler, and tells it to end.
func (w *writer) refuseStream() {
	clear(w.Header())
	p := refusal.Of(w.handler.Guard.Name(), policy.Full, 0)
	p.Write(w.ResponseWriter)
	http.NewResponseController(w.ResponseWriter).Flush()
	w.cancel()
}

// startStream counts the answer as a stream, or says that there are too many.
func (w *writer) startStream() error {
	h := w.handler
	if err := oneMore(&h.streams, h.Streams, h.Guard); err != nil {
		return err
	}
	w.streaming = true
	if h.Drain != nil {
		go w.endAtFinish()
	}
	return nil
}

// endAtFinish ends a stream when the server takes nothing new any more: it has
// no end of its own that could be waited for.
func (w *writer) endAtFinish() {
	select {
	case <-w.handler.Drain.Finishing():
		w.cancel()
	case <-w.ctx.Done():
	}
}

// leaveGuard gives the slot of a stream back: it is no work any more.
func (w *writer) leaveGuard() {
	if !w.handler.HoldStreams {
		w.held.Release(policy.Success)
	}
}

// end gives back what is still held. How long a stream lasted, what a handler
// had done when it panicked, and when a client left say nothing about how long
// the work takes.
func (w *writer) end() {
	outcome := policy.Success
	switch {
	case w.streaming:
		w.handler.streams.Add(-1)
		outcome = policy.Cut
	case !w.returned:
		outcome = policy.Ignored
	case errors.Is(w.ctx.Err(), context.Canceled): // the client left
		outcome = policy.Cut
	case w.status >= 500:
		outcome = policy.Failure
	}
	w.held.Release(outcome)
	w.cancel()
}

// The capabilities that a server's writer may have beyond the three methods.
type (
	flusher    struct{ *writer }
	hijacker   struct{ *writer }
	readerFrom struct{ *writer }
	pusher     struct{ *writer }
)

// Flush sends what is buffered.
func (f flusher) Flush() { f.FlushError() }

// FlushError is Flush for http.ResponseController.
func (f flusher) FlushError() error {
	if f.begin(http.StatusOK); f.refused != nil {
		return f.refused
	}
	return http.NewResponseController(f.ResponseWriter).Flush()
}

// Hijack hands over the connection: the answer is a stream from then on.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if err := h.startStream(); err != nil {
		return nil, nil, err
	}
	c, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		h.streaming = false
		h.handler.streams.Add(-1)
		return nil, nil, err
	}
	h.leaveGuard()
	return c, buffered, nil
}

// ReadFrom sends a body, from a file without copying it.
func (f readerFrom) ReadFrom(src io.Reader) (int64, error) {
	if f.begin(http.StatusOK); f.refused != nil {
		return 0, f.refused
	}
	return f.ResponseWriter.(io.ReaderFrom).ReadFrom(src)
}

// Push promises another answer (HTTP/2).
func (p pusher) Push(target string, o *http.PushOptions) error {
	return p.ResponseWriter.(http.Pusher).Push(target, o)
}

// capable returns the writer with the capabilities of the server's, and no
// others: handlers ask for them by interface. HTTP/1 can be hijacked, HTTP/2
// can push, both flush; wrappers of other middlewares have any of them.
func (w *writer) capable() http.ResponseWriter {
	flush, hijack := has[http.Flusher](w.ResponseWriter), has[http.Hijacker](w.ResponseWriter)
	_, from := w.ResponseWriter.(io.ReaderFrom)
	_, push := w.ResponseWriter.(http.Pusher)
	f, h, r, p := flusher{w}, hijacker{w}, readerFrom{w}, pusher{w}
	switch {
	case flush && hijack && from:
		return struct {
			*writer
			flusher
			hijacker
			readerFrom
		}{w, f, h, r}
	case flush && push:
		return struct {
			*writer
			flusher
			pusher
		}{w, f, p}
	case flush && hijack:
		return struct {
			*writer
			flusher
			hijacker
		}{w, f, h}
	case flush && from:
		return struct {
			*writer
			flusher
			readerFrom
		}{w, f, r}
	case hijack:
		return struct {
			*writer
			hijacker
		}{w, h}
	case flush:
		return struct {
			*writer
			flusher
		}{w, f}
	case from:
		return struct {
			*writer
			readerFrom
		}{w, r}
	}
	return w
}

// has reports whether the writer, or one that it unwraps to, is a T: those are
// the ones that http.ResponseController finds too, and would find past us.
func has[T any](w http.ResponseWriter) bool {
	for {
		if _, is := w.(T); is {
			return true
		}
		outer, wraps := w.(interface{ Unwrap() http.ResponseWriter })
		if !wraps {
			return false
		}
		w = outer.Unwrap()
	}
}
