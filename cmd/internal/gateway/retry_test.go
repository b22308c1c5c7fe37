package gateway

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
)

// quickRetries makes the waits before retries short.
func quickRetries(u *settings.Upstream) {
	u.Retry = retry.Config{Attempts: 2, Base: time.Millisecond, Cap: 10 * time.Millisecond}
}

// reset cuts a connection after the request has been read.
func reset(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

// TestTheBodySurvivesAFailedDial is O-16: the first address refuses the
// connection, the second gets the same bytes, once.
func TestTheBodySurvivesAFailedDial(t *testing.T) {
	random := make([]byte, 1024)
	rand.Read(random)
	for name, body := range map[string][]byte{"1,024 bytes": random, "an empty one": {}, "beyond what is kept": bytes.Repeat(random, 200)} {
		for _, chunked := range []bool{false, true} {
			got := make(chan []byte, 2)
			address := backend(t, func(w http.ResponseWriter, r *http.Request) {
				all, _ := io.ReadAll(r.Body)
				got <- all
			})
			file := fileFor(closedAddress(t), address)
			quickRetries(&file.Upstreams[0])
			h := open(t, file)
			var reader io.Reader = bytes.NewReader(body)
			if chunked {
				reader = struct{ io.Reader }{reader}
			}
			r, _ := http.NewRequest("POST", h.url("/"), reader)
			if a := h.send(t, r); a.StatusCode != 200 {
				t.Errorf("%s, chunked %v: %d %s", name, chunked, a.StatusCode, a.body)
			}
			if all := receive(t, "the body", got); !bytes.Equal(all, body) || len(got) > 0 {
				t.Errorf("%s, chunked %v: %d of %d bytes, %d more requests", name, chunked, len(all), len(body), len(got))
			}
		}
	}
}

// TestAPaymentIsNotRepeated is O-17.
func TestAPaymentIsNotRepeated(t *testing.T) {
	unavailable := func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	once := func(first http.HandlerFunc) http.HandlerFunc {
		var n atomic.Int32
		return func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				first(w, r)
			}
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	key := []string{"Idempotency-Key: 7"}
	ends := []string{"Idempotency-Key: 7", "Connection: keep-alive, idempotency-key"} // here: the store would not see it
	for name, c := range map[string]struct {
		method  string
		store   http.HandlerFunc
		allows  string
		headers []string
		status  int
		stored  int32
	}{
		"answered 503":             {"POST", unavailable, "", nil, 503, 1},
		"reset after reading":      {"POST", reset, "", nil, 502, 1},
		"unanswered":               {"POST", hang, "", nil, 504, 1},
		"patched":                  {"PATCH", unavailable, "", nil, 503, 1},
		"with a key, not allowed":  {"POST", once(unavailable), "", key, 503, 1},
		"allowed, without a key":   {"POST", once(unavailable), "accepted", nil, 503, 1},
		"with a key that counts":   {"POST", once(unavailable), "accepted", key, 200, 2},
		"with a key that ends":     {"POST", once(unavailable), "accepted", ends, 503, 1},
		"put, with one that ends":  {"PUT", once(unavailable), "accepted", ends, 200, 2},
		"with a key that must be":  {"POST", once(reset), "required", key, 200, 2},
		"put":                      {"PUT", once(reset), "", nil, 200, 2},
		"got":                      {"GET", once(unavailable), "", nil, 200, 2},
		"got, unanswered at first": {"GET", once(hang), "", nil, 200, 2},
		"answered 500":             {"GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "", nil, 500, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var stored atomic.Int32
			file := fileFor(counting(t, &stored, c.store))
			quickRetries(&file.Upstreams[0])
			if strings.Contains(name, "unanswered") {
				file.Upstreams[0].Exchange = 500 * time.Millisecond
			}
			file.Routes[0].IdempotencyKey = c.allows
			h := open(t, file)
			body := "pay"
			if c.method == "GET" {
				body = ""
			}
			if a := h.do(t, c.method, "/", body, c.headers...); a.StatusCode != c.status || stored.Load() != c.stored {
				t.Errorf("%d %s, stored %d times; want %d, %d", a.StatusCode, a.body, stored.Load(), c.status, c.stored)
			}
		})
	}
}

// TestTheTransportRepeatsNoPayment: net/http sends a request again by itself
// when a connection that it has used before breaks, if an Idempotency-Key is
// there and no body.
func TestTheTransportRepeatsNoPayment(t *testing.T) {
	var stored atomic.Int32
	seen := make(chan string, 8)
	file := fileFor(counting(t, &stored, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			seen <- r.Header.Get("Idempotency-Key")
			reset(w, r)
		}
	}))
	h := open(t, file)
	h.do(t, "GET", "/", "") // a connection that was used before
	a := h.do(t, "POST", "/", "", "Idempotency-Key: 7")
	if a.StatusCode != 502 || stored.Load() != 2 || receive(t, "the key", seen) != "7" {
		t.Errorf("%d, stored %d times", a.StatusCode, stored.Load()-1)
	}
}

// TestTheTransportRepeatsNothing: a request that kills who serves it breaks the
// connection before the answer begins, and net/http takes that for one that had
// died idle. As many as were kept would see it, counted as one attempt (O-14).
func TestTheTransportRepeatsNothing(t *testing.T) {
	const kept = 20
	for _, attempts := range []int{1, 2} {
		var hits atomic.Int32
		var all sync.WaitGroup
		gate := make(chan struct{})
		file := fileFor(counting(t, &hits, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/kill" {
				reset(w, r)
			}
			<-gate
		}))
		quickRetries(&file.Upstreams[0])
		file.Upstreams[0].Retry.Attempts, file.Upstreams[0].Limit = attempts, limit.Fixed(kept)
		h := open(t, file)
		for range kept {
			all.Go(func() { h.do(t, "GET", "/", "") })
		}
		until(t, "all are served", func() bool { return hits.Load() == kept })
		close(gate)
		all.Wait()
		if a := h.do(t, "GET", "/kill", ""); a.StatusCode != 502 || int(hits.Load()) != kept+attempts {
			t.Errorf("%d attempts allowed: %d after %d", attempts, a.StatusCode, hits.Load()-kept)
		}
	}
}

// TestAnIdleConnectionThatDiedCostsNoAttempt: it is no failure of the upstream's.
func TestAnIdleConnectionThatDiedCostsNoAttempt(t *testing.T) {
	closed := make(chan struct{}, 1)
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, _ := w.(http.Hijacker).Hijack()
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c) // until the other end has noticed
		closed <- struct{}{}
	})))
	const rounds = 5
	for range rounds {
		if a := h.do(t, "GET", "/", ""); a.StatusCode != 200 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
		receive(t, "the end of the connection", closed)
	}
	until(t, "the guard hears", func() bool { return outcomes(h)["success"] == rounds })
	if n := outcomes(h); n["failure"] != 0 {
		t.Errorf("%v", n)
	}
}

// TestALargeBodyIsNotRepeatedOnceItWasRead: what has gone by and is not kept
// cannot be sent again.
func TestALargeBodyIsNotRepeatedOnceItWasRead(t *testing.T) {
	for size, want := range map[int]int32{mostKept: 2, mostKept + 1: 1, 10 * mostKept: 1} {
		var stored atomic.Int32
		file := fileFor(counting(t, &stored, reset))
		quickRetries(&file.Upstreams[0])
		for _, chunked := range []bool{false, true} {
			stored.Store(0)
			h := open(t, file)
			var reader io.Reader = strings.NewReader(strings.Repeat("x", size))
			if chunked {
				reader = struct{ io.Reader }{reader}
			}
			r, _ := http.NewRequest("PUT", h.url("/"), reader)
			if a := h.send(t, r); a.StatusCode != 502 || stored.Load() != want {
				t.Errorf("%d bytes, chunked %v: %d, %d attempts, want %d", size, chunked, a.StatusCode, stored.Load(), want)
			}
		}
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	for _, c := range []struct {
		status   int
		after    string
		attempts int32
	}{
		{503, "", 2}, {503, "0", 2}, {503, "60", 1}, {503, "9223372037", 1}, {503, strings.Repeat("9", 30), 1}, {503, "soon", 2},
		{429, "", 1}, {429, "0", 2}, {429, "60", 1}, {404, "0", 1},
	} {
		var hits atomic.Int32
		file := fileFor(counting(t, &hits, func(w http.ResponseWriter, _ *http.Request) {
			if c.after != "" {
				w.Header().Set("Retry-After", c.after)
			}
			w.WriteHeader(c.status)
		}))
		quickRetries(&file.Upstreams[0])
		a := open(t, file).do(t, "GET", "/", "")
		if a.StatusCode != c.status || hits.Load() != c.attempts || a.Header.Get("Retry-After") != c.after || a.took > patience {
			t.Errorf("%d, Retry-After %.20q: %d after %d attempts and %v", c.status, c.after, a.StatusCode, hits.Load(), a.took)
		}
	}
}

// TestFailuresAreTheUpstreamsOwn: each upstream says which answers and errors
// count (F18).
func TestFailuresAreTheUpstreamsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		failures settings.Failures
		h        http.HandlerFunc
		status   int
		outcome  string
		attempts int32
	}{
		"500 counts and is not repeated": {settings.Failures{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 500, "failure", 1},
		"500 that was not named":         {settings.Failures{Status: []int{503}}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 500, "ignored", 1},
		"500 that was named":             {settings.Failures{Status: []int{500}}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 500, "failure", 2},
		"a reset that counts":            {settings.Failures{}, reset, 502, "failure", 2},
		"a reset that does not":          {settings.Failures{Errors: []string{"connect"}}, reset, 502, "ignored", 1},
		"an answer that is not HTTP":     {settings.Failures{}, notHTTP, 502, "failure", 2},
		"a head that never ends":         {settings.Failures{}, hugeHead, 502, "failure", 2},
		"a switch that nobody asked for": {settings.Failures{}, switching, 502, "failure", 2},
		"a business error":               {settings.Failures{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404, "success", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var hits atomic.Int32
			file := fileFor(counting(t, &hits, c.h))
			quickRetries(&file.Upstreams[0])
			file.Upstreams[0].Failures = c.failures
			h := open(t, file)
			a := h.do(t, "GET", "/", "")
			if a.StatusCode != c.status || hits.Load() != c.attempts {
				t.Errorf("%d after %d attempts: %s", a.StatusCode, hits.Load(), a.body)
			}
			until(t, "the guard hears", func() bool { return outcomes(h)[c.outcome] == uint64(c.attempts) })
		})
	}
}

// TestTheLimitHearsOfRefusals: an upstream that has no room says so.
func TestTheLimitHearsOfRefusals(t *testing.T) {
	for status, want := range map[int]uint64{503: 1, 429: 1, 500: 0, 404: 0} {
		h := open(t, fileFor(backend(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })))
		h.do(t, "POST", "/", "")
		until(t, "the slot comes free", h.idle)
		if got := h.upstreams[0].guard.Snapshot().Slots.Refused; got != want {
			t.Errorf("%d: %d refusals, want %d", status, got, want)
		}
	}
}

// outcomes returns what the attempts on the first upstream have said.
func outcomes(h *house) map[string]uint64 {
	n := h.upstreams[0].guard.Snapshot().Counts.Outcomes
	return map[string]uint64{"ignored": n[0], "success": n[1], "failure": n[2], "cut": n[3]}
}

func hijack(w http.ResponseWriter, answer string) {
	c, _, _ := w.(http.Hijacker).Hijack()
	defer c.Close()
	io.WriteString(c, answer)
}

func notHTTP(w http.ResponseWriter, _ *http.Request) { hijack(w, "SSH-2.0-x\r\n\r\n") }

func switching(w http.ResponseWriter, _ *http.Request) {
	hijack(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
}

func hugeHead(w http.ResponseWriter, _ *http.Request) {
	hijack(w, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 200)+"\r\n")
}

// TestOneLayerOwnsTheRetries is F20 on the wire.
func TestOneLayerOwnsTheRetries(t *testing.T) {
	seen := make(chan string, 8)
	file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("X-Envoy-Attempt-Count") + " " + r.Header.Get("X-Retry-Owner")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	quickRetries(&file.Upstreams[0])
	ask := func(h *house, method, owner string) (all []string) {
		h.do(t, method, "/", "", "X-Retry-Owner: "+owner, "X-Envoy-Attempt-Count: 9")
		for len(seen) > 0 {
			all = append(all, <-seen)
		}
		return all
	}
	h := open(t, file)
	if got, want := fmt.Sprint(ask(h, "GET", "edge")), fmt.Sprintf("[1 %s 2 %s]", h.name, h.name); got != want {
		t.Errorf("from a stranger: %s, want %s", got, want)
	}
	if got := fmt.Sprint(ask(h, "POST", "edge")); got != "[1 ]" {
		t.Errorf("what is not repeated here: %s", got)
	}
	file.Trust = make([]settings.Network, 1)
	file.Trust[0].UnmarshalText([]byte("127.0.0.1"))
	if got := fmt.Sprint(ask(open(t, file), "GET", "edge")); got != "[1 edge]" {
		t.Errorf("from a trusted owner: %s", got)
	}
}

// TestADeadAddressIsPassedOver: it would use up the retry budget of the others.
func TestADeadAddressIsPassedOver(t *testing.T) {
	var hits [2]atomic.Int32
	dead := closedAddress(t)
	file := fileFor(counting(t, &hits[0], answers("a")), dead, counting(t, &hits[1], answers("b")))
	quickRetries(&file.Upstreams[0])
	h := open(t, file)
	for range 60 {
		if a := h.do(t, "GET", "/", ""); a.StatusCode != 200 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	if a, b := hits[0].Load(), hits[1].Load(); a < 15 || b < 15 || a+b != 60 {
		t.Errorf("%d and %d", a, b)
	}
	if n := h.upstreams[0].guard.Snapshot().Counts.Retries; n > 3 {
		t.Errorf("%d retries", n)
	}
}
