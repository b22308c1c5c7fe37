package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
)

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s %q", r.Method, r.Host, r.RequestURI, body)
}

func TestARequestPasses(t *testing.T) {
	h := open(t, fileFor(backend(t, echo)))
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/prices/eur?at=a%20b;c&x", ""},
		{"POST", "/a%2Fb//c/%20", "hello"},
		{"PUT", "/", strings.Repeat("x", 1<<20)},
		{"DELETE", "/orders/7", ""},
		{"OPTIONS", "/", ""},
		{"PROPFIND", "/", "<x/>"},
	} {
		got := h.do(t, c.method, c.path, c.body)
		want := fmt.Sprintf("%s %s %s %q", c.method, h.Addr(), c.path, c.body)
		if got.StatusCode != 200 || got.body != want {
			t.Errorf("%s %s: %d %.200q", c.method, c.path, got.StatusCode, got.body)
		}
	}
}

func TestBodiesWithoutALengthPass(t *testing.T) {
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		w.WriteHeader(http.StatusCreated)
		w.(http.Flusher).Flush() // chunked, and begun before the request has ended
		io.Copy(w, r.Body)
	})))
	r, _ := http.NewRequest("POST", h.url("/"), struct{ io.Reader }{strings.NewReader(strings.Repeat("abc", 100_000))})
	if got := h.send(t, r); got.StatusCode != 201 || got.body != strings.Repeat("abc", 100_000) {
		t.Errorf("%d, %d bytes", got.StatusCode, len(got.body))
	}
}

func TestAnswersWithoutABody(t *testing.T) {
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		switch r.URL.Path {
		case "/304":
			w.WriteHeader(http.StatusNotModified)
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		case "/empty":
			w.Header().Set("Content-Length", "0")
		default:
			w.Header().Set("Content-Length", "5000")
			io.WriteString(w, strings.Repeat("x", 5000))
		}
	})))
	for _, c := range []struct {
		method, path   string
		status         int
		length         int64
		headerOfLength string
	}{
		{"GET", "/304", 304, 0, ""}, {"GET", "/204", 204, 0, ""}, {"GET", "/empty", 200, 0, "0"},
		{"HEAD", "/", 200, 5000, "5000"}, {"GET", "/", 200, 5000, "5000"},
	} {
		got := h.do(t, c.method, c.path, "")
		if got.StatusCode != c.status || got.ContentLength != c.length || got.Header.Get("Content-Length") != c.headerOfLength || got.Header.Get("Etag") == "" {
			t.Errorf("%s %s: %d, length %d %v", c.method, c.path, got.StatusCode, got.ContentLength, got.Header)
		}
	}
	until(t, "slots come free", func() bool { return h.upstreams[0].guard.Snapshot().InFlight == 0 })
}

func TestNothingIsAddedToAnAnswer(t *testing.T) {
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		w.Header().Set("Date", "Sat, 14 Mar 2026 09:00:00 GMT")
		io.WriteString(w, "<html>")
	})))
	got := h.do(t, "GET", "/", "")
	want := http.Header{"Date": {"Sat, 14 Mar 2026 09:00:00 GMT"}, "Content-Length": {"6"}}
	if !reflect.DeepEqual(got.Header, want) {
		t.Errorf("%v", got.Header)
	}
}

// TestHopByHopHeadersEndInBothDirections is O-29 on the wire.
func TestHopByHopHeadersEndInBothDirections(t *testing.T) {
	seen := make(chan http.Header, 1)
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		c, _, _ := w.(http.Hijacker).Hijack()
		io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection:\r\nConnection: x-HOP ,close\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nX-End: 1\r\nContent-Length: 2\r\n\r\nok")
		c.Close()
	})))
	got, err := h.raw(t, "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection:\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nX-End: 1\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	upstream := receive(t, "the upstream", seen)
	if upstream.Get("Connection") != "" || upstream.Get("X-Hop") != "" || upstream.Get("X-End") != "1" {
		t.Errorf("the upstream saw %v", upstream)
	}
	head, body, _ := strings.Cut(got, "\r\n\r\n")
	for _, name := range []string{"x-hop", "keep-alive", "proxy-"} {
		if strings.Contains(strings.ToLower(head), name) {
			t.Errorf("the client saw %s in %q", name, head)
		}
	}
	if !strings.Contains(head, "X-End: 1") || body != "ok" {
		t.Errorf("%q", got)
	}
}

func TestOriginIsTold(t *testing.T) {
	seen := make(chan http.Header, 1)
	file := fileFor(backend(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header }))
	ask := func(h *house) http.Header {
		h.do(t, "GET", "/", "", "X-Forwarded-For: 1.1.1.1", "X-Retry-Owner: edge")
		return receive(t, "the upstream", seen)
	}
	stranger := ask(open(t, file))
	file.Trust = make([]settings.Network, 1)
	file.Trust[0].UnmarshalText([]byte("127.0.0.0/8"))
	friend := ask(open(t, file))
	if got := stranger.Get("X-Forwarded-For"); got != "127.0.0.1" || stranger.Get("X-Retry-Owner") == "edge" {
		t.Errorf("from a stranger: %v", stranger)
	}
	if got := friend.Get("X-Forwarded-For"); got != "1.1.1.1, 127.0.0.1" || friend.Get("X-Retry-Owner") != "edge" {
		t.Errorf("from a trusted peer: %v", friend)
	}
	if friend.Get("Via") != "1.1 kalan" || friend.Get("X-Forwarded-Proto") != "http" {
		t.Errorf("%v", friend)
	}
}

// TestTrailersPassInBothDirections is O-30 for HTTP/1.1: announced or not,
// with a body or without one.
func TestTrailersPassInBothDirections(t *testing.T) {
	seen := make(chan http.Header, 1)
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		seen <- r.Trailer
		w.Header().Set("Trailer", "X-Announced")
		w.Header().Set("X-Announced", "0") // a header of the same name is another thing
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		io.WriteString(w, r.Header.Get("X-Body"))
		w.Header().Set("X-Announced", "1")
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	})))
	for _, body := range []string{"0123456789", ""} {
		chunk := ""
		if body != "" {
			chunk = "a\r\n" + body + "\r\n"
		}
		got, err := h.raw(t, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\nTrailer: X-Announced, bad name\r\nX-Body: "+body+
			"\r\n\r\n"+chunk+"0\r\nX-Announced: 2\r\nX-Late: 3\r\nContent-Length: 7\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		if up, want := receive(t, "the upstream", seen), (http.Header{"X-Announced": {"2"}, "X-Late": {"3"}}); !reflect.DeepEqual(up, want) {
			t.Errorf("with %q the upstream saw %v", body, up)
		}
		a, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		if got := a.Header["X-Announced"]; len(got) != 1 || got[0] != "0" {
			t.Errorf("with %q the header is %q", body, got)
		}
		if want := (http.Header{"X-Announced": {"1"}, "Grpc-Status": {"0"}}); err != nil || string(text) != body || !reflect.DeepEqual(a.Trailer, want) {
			t.Errorf("with %q the client saw %q and %v (%v)", body, text, a.Trailer, err)
		}
	}
}

func TestEarlyHintsPass(t *testing.T) {
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		io.WriteString(w, "ok")
	})))
	var early []string
	r, _ := http.NewRequest("GET", h.url("/"), nil)
	got := h.send(t, r.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			early = append(early, fmt.Sprint(code, header.Get("Link")))
			return nil
		},
	})))
	if got.body != "ok" || got.Header.Get("Link") != "" || !reflect.DeepEqual(early, []string{"103</a.css>"}) {
		t.Errorf("%q, %v, early %v", got.body, got.Header, early)
	}
}

// TestTheBodyIsAskedForWhenTheUpstreamAsks: 100 Continue is the upstream's
// word, not the gateway's.
func TestTheBodyIsAskedForWhenTheUpstreamAsks(t *testing.T) {
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		echo(w, r)
	})))
	for path, want := range map[string]string{"/yes": "HTTP/1.1 100 Continue", "/no": "HTTP/1.1 403 Forbidden"} {
		c, err := net.Dial("tcp", h.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
		in := bufio.NewReader(c)
		line, _ := in.ReadString('\n')
		if strings.TrimSpace(line) != want {
			t.Errorf("%s: %q, want %q", path, line, want)
		}
		io.WriteString(c, "hello")
		rest, err := io.ReadAll(in)
		if path == "/yes" && (err != nil || !strings.HasSuffix(string(rest), `"hello"`)) {
			t.Errorf("%s: %q, %v", path, rest, err)
		}
	}
}

// An upstream that knows nothing of 100 Continue gets the body all the same, and
// has most of its time left for it.
func TestAnUpstreamThatNeverAsksGetsTheBody(t *testing.T) {
	file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		c, in, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		body := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(in, body); err == nil {
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%s", body)
		}
	}))
	file.Upstreams[0].Exchange = time.Second
	h := open(t, file)
	const post = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello"
	for range 10 { // a machine may stand still for a second
		if got, err := h.raw(t, post); err == nil && strings.Contains(got, " 200 OK") && strings.Contains(got, "hello") {
			return
		} else if t.Logf("%q, %v", got, err); !strings.Contains(got, " 504 ") {
			break
		}
	}
	t.Error("it does not get the body")
}

// TestStreamsAreFlushed: each piece reaches the client while the answer goes
// on, and the head before the first.
func TestStreamsAreFlushed(t *testing.T) {
	next := make(chan string)
	file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for piece := range next {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}))
	h := open(t, file)
	a, err := h.client.Get(h.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	for _, piece := range []string{"data: 1\n\n", "data: 2\n\n"} {
		next <- piece
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(a.Body, got); err != nil || string(got) != piece {
			t.Errorf("%q, %v", got, err)
		}
	}
	close(next)
}
