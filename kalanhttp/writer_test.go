package kalanhttp_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
)

// An event stream gives its slot back when it begins, and no deadline cuts it.
func TestAnEventStreamHoldsNoSlot(t *testing.T) {
	next := make(chan struct{})
	h := admit(t, admission(t, slots(1), exchange(500*ms)), events(next))
	h.handler.Streams = 1
	r := request(t, h.URL)
	r.Header.Set("Accept", "text/html, text/event-stream;q=0.9")
	answer, err := h.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(answer.Body)
	for began := time.Now(); time.Since(began) < 800*ms; {
		next <- struct{}{}
		if line, err := lines.ReadString('\n'); err != nil || line != "data: tick\n" {
			t.Fatalf("%q %v", line, err)
		}
		lines.ReadString('\n')
	}
	if n := h.guard.Snapshot().InFlight; n != 0 {
		t.Errorf("%d slots are taken", n)
	}
	second, text := h.get(t, "Accept", "text/event-stream")
	if second.StatusCode != 503 || !strings.Contains(text, `"full"`) || second.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("one stream too many: %d %s", second.StatusCode, text)
	}
	answer.Body.Close()
	h.idle(t)
}

func TestHoldStreams(t *testing.T) {
	next := make(chan struct{})
	h := admit(t, admission(t, slots(1), checkout(-1)), events(next))
	h.handler.HoldStreams = true
	r := request(t, h.URL)
	r.Header.Set("Accept", "text/event-stream")
	answer, err := h.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if second, text := h.get(t); second.StatusCode != 503 || !strings.Contains(text, `"full"`) {
		t.Errorf("the stream holds the only slot: %d %s", second.StatusCode, text)
	}
	answer.Body.Close()
	h.idle(t)
	if got := h.guard.Snapshot().Counts.Outcomes; got[policy.Cut] != 1 {
		t.Errorf("how long it lasted was taken for a time of service: %v", got)
	}
}

func TestAnUpgradeHoldsNoSlot(t *testing.T) {
	h := admit(t, admission(t, slots(1), exchange(500*ms)), echo)
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	answer := bufio.NewReader(c)
	for line := ""; line != "\r\n"; {
		if line, err = answer.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if n := h.guard.Snapshot().InFlight; n != 0 {
		t.Errorf("%d slots are taken", n)
	}
	got := make([]byte, 5)
	for began := time.Now(); time.Since(began) < 800*ms; {
		io.WriteString(c, "hello")
		if _, err := io.ReadFull(answer, got); err != nil || string(got) != "hello" {
			t.Fatalf("%q %v", got, err)
		}
	}
	h.handler.Streams = -1
	if answer, text := h.get(t, "Connection", "Upgrade", "Upgrade", "echo"); answer.StatusCode != 500 || !strings.Contains(text, "or raise Streams") {
		t.Errorf("no streams are allowed: %d %s", answer.StatusCode, text)
	}
}

// The writer can what the server's can, on both versions of HTTP.
func TestCapabilities(t *testing.T) {
	var plain, guarded string
	abilities := func(w http.ResponseWriter) string {
		var can []string
		add := func(name string, is bool) {
			if is {
				can = append(can, name)
			}
		}
		_, flush := w.(http.Flusher)
		_, hijack := w.(http.Hijacker)
		_, push := w.(http.Pusher)
		_, from := w.(io.ReaderFrom)
		_, text := w.(io.StringWriter)
		_, errs := w.(interface{ FlushError() error })
		add("flush", flush)
		add("flush with errors", errs)
		add("hijack", hijack)
		add("push", push)
		add("read from", from)
		add("text", text)
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Hour)); err == nil {
			can = append(can, "deadline")
		}
		return strings.Join(can, ", ")
	}
	for _, http2 := range []bool{false, true} {
		inner := &kalanhttp.Handler{Guard: admission(t), Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			guarded = abilities(w)
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(103)
			io.Copy(w, strings.NewReader("hello "))
			http.NewResponseController(w).Flush()
			io.WriteString(w, "world")
			w.WriteHeader(201) // superfluous, and net/http says so
		})}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			plain = abilities(w)
			inner.ServeHTTP(w, r)
		}))
		server.Config.ErrorLog = discardLog
		server.EnableHTTP2 = http2
		server.StartTLS()
		answer, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if plain != guarded || string(text) != "hello world" || answer.StatusCode != 200 || answer.ProtoMajor == 2 != http2 {
			t.Errorf("%s: without a guard it can %q, with one %q; %d %q", answer.Proto, plain, guarded, answer.StatusCode, text)
		}
		server.Close()
	}
}

// What another middleware wraps is found as http.ResponseController finds it.
func TestCapabilitiesThroughAnotherMiddleware(t *testing.T) {
	h := admit(t, admission(t), nil)
	h.handler.Next = http.HandlerFunc(echo)
	wrapped := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.handler.ServeHTTP(wrapping{w}, r)
	}))
	defer wrapped.Close()
	r := request(t, wrapped.URL)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || answer.StatusCode != 101 {
		t.Fatal(answer, err)
	}
	until(t, "the stream holds no slot", func() bool { return h.guard.Snapshot().InFlight == 0 })
	answer.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for _, plain := range []http.ResponseWriter{httptest.NewRecorder(), wrapping{httptest.NewRecorder()}, struct{ http.ResponseWriter }{httptest.NewRecorder()}} {
		h.handler.Next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if _, _, err := http.NewResponseController(w).Hijack(); !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("%T: %v", plain, err)
			}
			io.WriteString(w, "hello")
		})
		h.handler.ServeHTTP(plain, request(t, "/"))
	}
	h.idle(t)
}

type wrapping struct{ http.ResponseWriter }

func (w wrapping) Unwrap() http.ResponseWriter { return w.ResponseWriter }
