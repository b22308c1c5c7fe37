package kalanhttp

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/resend"
	"github.com/kalan-go/kalan/policy"
)

// A Transport is an [http.RoundTripper] that sends requests behind a guard. It
// needs Guard or Hosts; every other field may be left out. It is safe for
// concurrent use and must not be changed once it is used.
//
// Its errors are *kalan.Rejection for what was refused or ended without an
// answer, and otherwise what Base said. http.Client wraps them, and errors.Is
// and errors.As look through that.
type Transport struct {
	// Base sends the requests. nil means an http.Transport of its own that
	// speaks HTTP/1.1 and HTTP/2, uses the environment's proxies, and has no
	// limit on connections, since the guard has one. Another one must not repeat
	// by itself; see "One attempt is one request".
	Base http.RoundTripper
	// Connect is the longest that a connection of the own Base may take to come
	// about, name look-up included; 200 ms when zero (F8). It is part of the
	// guard's Exchange. Longer suits other continents.
	Connect time.Duration
	// Guard stands before every request. nil means that Hosts has one for each.
	// Without an Exchange in its configuration an attempt ends with its caller;
	// with one, the exchange goes on without a caller that has left, and keeps
	// its slot until the answer is there.
	Guard *kalan.Guard
	// Hosts has a guard for each host.
	Hosts *Hosts
	// Judge says what an answer tells of the dependency and whether sending the
	// same request again can help; nil means [Judge]. Whether the request may be
	// sent again is Transport's business. It must not read the body.
	Judge func(*http.Response) policy.Report
	// Keyed lets requests with an Idempotency-Key be repeated, whatever their
	// method (B9). Set it where the receiver honours the key.
	Keyed bool
	// Keep is how much of a body is kept for the next attempt when the request
	// has no GetBody; 64 KiB when zero, nothing when negative. A body that
	// outgrows it is sent once. Raising it costs that much memory a request.
	Keep int
	// Stream says which answers go on without an end; nil means [IsStream].
	Stream func(*http.Response) bool
	// Streams is how many of them may be open at once: 1,000 when zero, none
	// when negative. One more is closed and refused as full.
	Streams int
	// Header carries the remaining time, in whole milliseconds;
	// "X-Remaining-Ms" when empty.
	Header string
	// Margin is what is kept back of the caller's time for the way back; 5 ms
	// when zero, nothing when negative.
	Margin time.Duration
	// Owner is who says to repeat, so that those below pass errors up: the
	// value of X-Retry-Owner. "kalan" when empty.
	Owner string
	// Quiet sends no headers of ours, neither the remaining time nor the
	// attempt's number nor the owner: for dependencies that are somebody
	// else's.
	Quiet bool

	once    sync.Once
	own     http.RoundTripper
	streams atomic.Int64
}

// The defaults of Transport's fields.
const (
	defaultConnect = 200 * time.Millisecond
	defaultKeep    = 64 << 10
	defaultStreams = 1000
	defaultOwner   = "kalan"
)

// Limits of the own base transport.
const (
	mostIdle      = 256
	idleFor       = 30 * time.Second // below what servers usually keep, so that few connections die under a request
	continueAfter = time.Second
	shakeWithin   = 5 * time.Second
)

var (
	errNoGuard = errors.New("kalanhttp: Transport has no guard; set Guard, or Hosts for one guard a host")
	errNothing = errors.New("kalanhttp: the base transport returned neither an answer nor an error")
	errStreams = errors.New("too many streams are open; close some, or raise Streams")
)

// RoundTrip sends the request behind its guard.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	guard := t.guard(r)
	if guard == nil {
		closeBody(r)
		return nil, errNoGuard
	}
	c := t.begin(r, guard)
	way := kalan.Way[*answer]{Judge: c.judge, Discard: c.discard, Ask: c.ask, Leave: true}
	a, held, err := kalan.Hold(c.caller, guard, way, c.attempt)
	if err != nil {
		c.endBody()
		return nil, err
	}
	c.won(a)
	return c.deliver(a, held)
}

// CloseIdleConnections closes those of Base, as http.Client asks for.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *Transport) guard(r *http.Request) *kalan.Guard {
	switch {
	case t.Guard != nil:
		return t.Guard
	case t.Hosts == nil || r.URL == nil:
		return nil
	}
	return t.Hosts.Guard(r)
}

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	t.once.Do(func() { t.own = newBase(or(t.Connect, defaultConnect)) })
	return t.own
}

func newBase(connect time.Duration) *http.Transport {
	dialer := net.Dialer{Timeout: connect, KeepAlive: idleFor}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           resend.Dialer(dialer.DialContext),
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   mostIdle,
		IdleConnTimeout:       idleFor,
		TLSHandshakeTimeout:   shakeWithin,
		ExpectContinueTimeout: continueAfter,
	}
}

// or returns value, and otherwise where it is zero.
func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}
