package gateway

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/internal/pardon"
	"github.com/kalan-go/kalan/policy"
)

// A delivery is an answer on its way to the client. The slot stays taken until
// its last byte has come from the upstream.
type delivery struct {
	*exchange
	answer reply
	held   kalan.Held
	end    policy.Outcome // what the attempt was when its last byte has come
	flush  bool           // each piece at once: a stream
	late   atomic.Bool
	gone   atomic.Bool
	timer  *time.Timer
	forget func() bool // that the caller is waited for to go
	grace  grace       // for a client that reads slowly
}

// buffers are what bodies are copied through.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// deliver sends an answer to the client.
func (x *exchange) deliver(answer reply, held kalan.Held) {
	d := &delivery{exchange: x, answer: answer, held: held, end: x.outcome(answer.StatusCode)}
	if answer.ContentLength < 0 || answer.ContentLength > mostKept { // less than that fits into a connection's buffers
		d.grace = grace{left: pardon.After(x.target.config.Config), excuse: held.Excuse}
	}
	defer d.drop()
	d.sayHead()
	if x.r.Method == http.MethodHead || answer.Body == http.NoBody {
		held.Release(d.end)
		return
	}
	d.watch()
	d.mind()
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	d.copy(buffer[:])
	if len(answer.Trailer) > 0 {
		x.flush() // an empty body is chunked too, or there is no place for them
		wire.Trailers(x.w.Header(), answer.Trailer, http.TrailerPrefix)
	}
}

// drop frees what a delivery holds, however it ended. What it says comes second
// where the body's end was told already.
func (d *delivery) drop() {
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.forget != nil {
		d.forget()
	}
	d.held.Release(policy.Cut)
	d.answer.Body.Close()
}

// sayHead sends the status and the headers, at once if the answer is a stream.
func (d *delivery) sayHead() {
	d.begin(d.answer.StatusCode)
	header := d.w.Header()
	wire.Response(header, d.answer.Header, d.answer.nominated)
	if _, known := header["Content-Type"]; !known {
		header["Content-Type"] = nil // or net/http guesses one
	}
	d.announce(header)
	d.w.WriteHeader(d.answer.StatusCode)
	stream := d.answer.ContentLength < 0 || strings.HasPrefix(header.Get("Content-Type"), "text/event-stream")
	if d.flush = stream && d.answer.Body != http.NoBody; d.flush {
		d.exchange.flush()
	}
}

// announce names the trailers that the upstream has announced.
func (d *delivery) announce(header http.Header) {
	if len(d.answer.Trailer) == 0 {
		return
	}
	announced := make(http.Header)
	wire.Announced(announced, d.answer.Trailer)
	for name := range announced {
		header["Trailer"] = append(header["Trailer"], name)
	}
}

// begin says that the answer is the handler's from now on, and that the
// connection ends with it if it has to.
func (x *exchange) begin(status int) {
	x.mu.Lock()
	x.begun = true
	x.mu.Unlock()
	x.record.status = status
	// An answer that overtakes its request leaves bytes on the connection that
	// must not be read as the next request.
	if x.g.leaving.Load() || x.body != nil && !x.body.Ended() {
		x.w.Header()["Connection"] = closing
	}
}

var closing = []string{"close"}

// watch ends the delivery when its last byte is due. It may be the exchange's
// limit that ends it, which is the upstream's failure, or the caller's.
func (d *delivery) watch() {
	if d.answer.until.IsZero() {
		return
	}
	outcome := policy.Failure
	if !d.deadline.IsZero() && !d.answer.until.Before(d.deadline) {
		outcome = policy.Cut
	}
	d.timer = time.AfterFunc(time.Until(d.answer.until), func() {
		d.late.Store(true)
		d.held.Release(outcome) // ends the attempt's context, and with it a read that waits
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.over {
			d.limitWrites(time.Now().Add(lastWords))
		}
	})
}

// mind ends the delivery when its caller goes, also while the upstream has
// nothing to say: where that stops the upstream, and where nothing else would
// end it.
func (d *delivery) mind() {
	if !d.target.config.Cancels && !d.answer.until.IsZero() {
		return
	}
	d.forget = context.AfterFunc(d.r.Context(), func() {
		d.gone.Store(true)
		d.held.Release(policy.Cut)
	})
}

// copy copies the body. It ends the connection when the body breaks: whatever
// ends in order is taken for complete (O-33).
func (d *delivery) copy(buffer []byte) {
	for {
		before := d.g.now()
		n, err := d.answer.Body.Read(buffer)
		d.waited += d.g.now() - before
		if err == io.EOF {
			d.held.Release(d.end)
		}
		if n > 0 {
			d.write(buffer[:n], err == io.EOF)
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			d.broken()
		}
	}
}

// write passes on a piece of the body. The last piece of an answer of known
// length goes out at once: the client has it while we are still counting.
func (d *delivery) write(p []byte, last bool) {
	d.grace.begin()
	n, err := d.w.Write(p)
	d.record.bytes += int64(n)
	if err == nil && (d.flush || last && d.answer.ContentLength > 0) {
		err = d.exchange.flush()
	}
	d.grace.end()
	switch {
	case err == nil:
	case d.late.Load():
		d.abort("late")
	default:
		d.held.Release(policy.Cut)
		d.abort("gone")
	}
}

// broken ends an answer that does not go on.
func (d *delivery) broken() {
	d.held.Release(policy.Failure) // unless its time was up: then that is told already
	d.exchange.flush()             // what came before the break is the client's
	switch {
	case d.late.Load():
		d.abort("late")
	case d.gone.Load():
		d.abort("gone")
	}
	d.abort("broken")
}

// lastWords is how long a client that reads slowly gets to take what had come
// when the time was up.
const lastWords = 100 * time.Millisecond

// abort ends the connection so that nobody takes what was sent for a complete
// answer. Where the end of the connection is the end of the answer, as in
// HTTP/1.0 without a length, it has to be a reset.
func (x *exchange) abort(how string) {
	x.record.outcome = how
	if x.conn != nil && !x.r.ProtoAtLeast(1, 1) {
		x.conn.reset()
	}
	panic(http.ErrAbortHandler)
}
