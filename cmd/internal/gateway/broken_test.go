package gateway

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// broken is an upstream that breaks off in the middle of its answer.
func broken(framing string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { hijack(w, "HTTP/1.1 200 OK\r\n"+framing) }
}

// TestABrokenAnswerIsNoCleanEnd is O-33 for HTTP/1: the client gets what came
// and sees the cut; the breaker hears of a failure; the log does not call it
// complete.
func TestABrokenAnswerIsNoCleanEnd(t *testing.T) {
	for name, framing := range map[string]string{
		"chunked":        "Transfer-Encoding: chunked\r\n\r\n5\r\nchunk\r\n",
		"inside a chunk": "Transfer-Encoding: chunked\r\n\r\n9\r\nchunk",
		"a known length": "Content-Length: 100\r\n\r\nchunk",
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, fileFor(backend(t, broken(framing))))
			a, err := h.client.Get(h.url("/"))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			got, err := io.ReadAll(a.Body)
			if string(got) != "chunk" || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%q, %v", got, err)
			}
			until(t, "the guard hears", func() bool { return outcomes(h)["failure"] == 1 })
			until(t, "it is logged", func() bool { return len(h.log.requests(t)) == 1 })
			if line := h.log.requests(t)[0]; line["outcome"] != "broken" || line["attempts"] != 1. {
				t.Errorf("%v", line)
			}
			if s := h.upstreams[0].guard.Snapshot(); s.InFlight != 0 {
				t.Errorf("%d slots are taken", s.InFlight)
			}
		})
	}
}

// TestABrokenAnswerIsAResetWhereTheEndIsTheEnd: in HTTP/1.0 without a length
// an orderly close would say that the answer is complete.
func TestABrokenAnswerIsAResetWhereTheEndIsTheEnd(t *testing.T) {
	h := open(t, fileFor(backend(t, broken("Transfer-Encoding: chunked\r\n\r\n5\r\nchunk\r\n"))))
	_, err := h.raw(t, "GET / HTTP/1.0\r\n\r\n")
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ended with %v", err)
	}
}

// TestABodyThatEndsWithItsConnection is complete, as HTTP/1.0 servers send it.
func TestABodyThatEndsWithItsConnection(t *testing.T) {
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, _ *http.Request) { hijack(w, "HTTP/1.0 200 OK\r\n\r\nall of it") })))
	if got := h.do(t, "GET", "/", ""); got.body != "all of it" {
		t.Errorf("%d %q", got.StatusCode, got.body)
	}
}

// smuggled is a request inside another's body, for those who read the other
// length.
const smuggled = "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n"

// TestNothingIsSmuggled is O-31.
func TestNothingIsSmuggled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, status string
		requests     int
	}{
		"both lengths":                   {"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, "400", 0},
		"both, second on its connection": {"GET /a HTTP/1.1\r\nHost: a\r\n\r\nPOST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled, "200", 1},
		"both, after empty lines":        {"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n\r\n\r\nPOST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled, "200", 1},
		"two lengths":                    {"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello" + smuggled, "400", 0},
		"a signed length":                {"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello" + smuggled, "400", 0},
		"a coding of its own":            {"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggled, "501", 0},
		"coded in HTTP/1.0":              {"POST /a HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, "400", 0},
		"a space in the name":            {"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\nhello" + smuggled, "400", 0},
		"a folded coding":                {"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled, "400", 0},
		"an answer before the body":      {"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + smuggled, "403", 1},
		"refused before the body":        {"POST /a HTTP/1.1\r\nHost: a\r\nX-Remaining-Ms: x\r\nContent-Length: 100000\r\n\r\n" + smuggled, "400", 0},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan *http.Request, 8)
			h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
				seen <- r
				if r.URL.Path == "/early" {
					w.WriteHeader(http.StatusForbidden)
				}
			})))
			got, _ := h.raw(t, c.text)
			if !strings.HasPrefix(got, "HTTP/1.1 "+c.status) && !strings.HasPrefix(got, "HTTP/1.0 "+c.status) {
				t.Errorf("%.200q", got)
			}
			if len(seen) != c.requests {
				t.Errorf("the upstream saw %d requests", len(seen))
			}
			for len(seen) > 0 {
				if r := <-seen; r.URL.Path == "/evil" || len(r.TransferEncoding) > 0 && r.Header.Get("Content-Length") != "" {
					t.Errorf("the upstream saw %s %v", r.URL, r.Header)
				}
			}
		})
	}
}

// TestASenselessBodyIsTheClientsFault: it is told, and the breaker is not.
func TestASenselessBodyIsTheClientsFault(t *testing.T) {
	h := open(t, fileFor(backend(t, echo)))
	got, _ := h.raw(t, "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "not framed as HTTP") {
		t.Errorf("%q", got)
	}
	until(t, "the slot comes free", h.idle)
	if got := outcomes(h); got["failure"] != 0 {
		t.Errorf("the guard heard %v", got)
	}
}

// TestHeadsAreBounded, on both sides.
func TestHeadsAreBounded(t *testing.T) {
	h := open(t, fileFor(backend(t, answers("ok"))))
	got, _ := h.raw(t, "GET / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", 2*mostHeaders)+"\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 431 ") {
		t.Errorf("%.100q", got)
	}
}

// TestManyRequestsOnOneConnection: what reads along does not lose count.
func TestManyRequestsOnOneConnection(t *testing.T) {
	h := open(t, fileFor(backend(t, echo)))
	c, err := net.Dial("tcp", h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text := strings.Repeat("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nPUT /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 20) +
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
	go io.WriteString(c, text)
	got, err := io.ReadAll(c)
	if n := strings.Count(string(got), "HTTP/1.1 200 OK"); err != nil || n != 41 || strings.Count(string(got), `"hello"`) != 40 {
		t.Errorf("%d answers, %v", n, err)
	}
}

// TestInformationWithoutEndIsTheUpstreamsFault: it takes neither the time of the
// attempt nor the client's connection.
func TestInformationWithoutEndIsTheUpstreamsFault(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				// What comes before its request was sent has no call that it belongs to.
				_, err := http.ReadRequest(bufio.NewReader(c))
				for err == nil {
					_, err = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
				}
			}()
		}
	}()
	file := fileFor("http://" + l.Addr().String())
	file.Upstreams[0].Exchange = time.Hour
	h := open(t, file)
	got, _ := h.raw(t, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	if most := 2 * mostAnswerHeaders / 64; !strings.Contains(got, "\r\n\r\nHTTP/1.1 502 ") || strings.Count(got, "HTTP/1.1 103 ") > most {
		t.Errorf("%d informational answers, and at the end %.300q", strings.Count(got, "HTTP/1.1 103 "), got[max(0, len(got)-300):])
	}
	if s := h.upstreams[0].guard.Snapshot(); s.Counts.Outcomes[policy.Failure] != 2 {
		t.Errorf("%+v", s.Counts)
	}
}
