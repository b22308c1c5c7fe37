package kalanhttp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
)

// once allows one attempt, so that what it raised is counted once.
func once(c *kalan.Config) { c.Retry.Attempts = 1 }

// closed returns an address where nobody listens, nor will: it is one end of a
// connection. The port of a listener that was closed is given to the next who
// asks for any.
func closed(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func as[T error](also func(T) bool) func(error) bool {
	return func(err error) bool {
		var e T
		return errors.As(err, &e) && (also == nil || also(e))
	}
}

func dialing(err error) bool {
	return as(func(e *net.OpError) bool { return e.Op == "dial" })(err)
}

// F18: what http.Transport raises for each of these, on real sockets, and what
// becomes of it. The package's documentation has the same table.
func TestWhatTheClientRaises(t *testing.T) {
	plain := serve(t, guard(t), status(200))
	secure := httptest.NewUnstartedServer(http.HandlerFunc(status(200)))
	secure.Config.ErrorLog = discardLog
	secure.StartTLS()
	defer secure.Close()
	hang := make(chan struct{})
	defer close(hang)
	broken := func(how func(c *net.TCPConn)) string {
		return serve(t, guard(t), func(w http.ResponseWriter, _ *http.Request) {
			c := take(w)
			how(c)
			c.Close()
		}).server.URL
	}
	for name, c := range map[string]struct {
		url     string
		change  func(*http.Transport)
		raises  func(error) bool
		outcome policy.Outcome
	}{
		"nobody listens": {url: "http://" + closed(t), raises: func(err error) bool { return dialing(err) && is(syscall.ECONNREFUSED)(err) }, outcome: policy.Failure},
		"no such name": {url: "http://nobody.example.", change: nobodyKnows(t), outcome: policy.Failure,
			raises: func(err error) bool {
				return dialing(err) && as(func(e *net.DNSError) bool { return e.IsNotFound })(err)
			}},
		"it does not connect": {url: plain.server.URL, outcome: policy.Failure,
			change: func(base *http.Transport) { base.DialContext = (&net.Dialer{Timeout: 1}).DialContext },
			raises: func(err error) bool { return dialing(err) && as(func(e net.Error) bool { return e.Timeout() })(err) }},
		"it is not TLS":   {url: strings.Replace(plain.server.URL, "http:", "https:", 1), raises: is(http.ErrSchemeMismatch), outcome: policy.Failure},
		"it is untrusted": {url: secure.URL, raises: as[*tls.CertificateVerificationError](nil), outcome: policy.Failure},
		"it resets":       {url: broken(func(c *net.TCPConn) { c.SetLinger(0) }), raises: is(syscall.ECONNRESET), outcome: policy.Failure},
		"it closes":       {url: broken(func(*net.TCPConn) {}), raises: is(io.EOF), outcome: policy.Failure},
		"it speaks no HTTP": {url: broken(func(c *net.TCPConn) { io.WriteString(c, "220 mail\r\n\r\n") }), outcome: policy.Failure,
			raises: func(err error) bool { return strings.Contains(err.Error(), "malformed HTTP") }},
		"it breaks off within the body": {url: broken(func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
		}), raises: is(io.ErrUnexpectedEOF), outcome: policy.Failure},
		"it hangs": {url: serve(t, guard(t), func(http.ResponseWriter, *http.Request) { <-hang }).server.URL, outcome: policy.Failure,
			raises: func(err error) bool { return is(context.DeadlineExceeded)(err) && is(policy.Timeout)(err) }},
		"the request is malformed": {url: "gopher://" + closed(t), raises: func(err error) bool { return strings.Contains(err.Error(), "unsupported protocol") }, outcome: policy.Ignored},
	} {
		g := guard(t, once, exchange(time.Minute)) // a busy machine takes seconds for TLS
		if name == "it hangs" {
			g = guard(t, once, exchange(100*ms))
		}
		base := &http.Transport{}
		if c.change != nil {
			c.change(base)
		}
		s := &site{guard: g, transport: &kalanhttp.Transport{Base: base, Guard: g}}
		s.Client = &http.Client{Transport: s.transport}
		answer, err := s.Get(c.url)
		if err == nil {
			_, err = io.ReadAll(answer.Body)
			answer.Body.Close()
		}
		if err == nil || !c.raises(err) {
			t.Errorf("%s: %#v", name, err)
		}
		if got := s.outcomes(t); got != count(c.outcome) {
			t.Errorf("%s: counted %v, want one %v", name, got, c.outcome)
		}
		base.CloseIdleConnections()
	}
}

// nobodyKnows answers every question for a name with NXDOMAIN.
func nobodyKnows(t testing.TB) func(*http.Transport) {
	names, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { names.Close() })
	go func() {
		question := make([]byte, 512)
		for {
			n, from, err := names.ReadFrom(question)
			if err != nil {
				return
			}
			question[2], question[3] = 0x81, 0x83 // an answer: no such name
			question[10], question[11] = 0, 0     // without additional records
			end := 12
			for end < n && question[end] != 0 {
				end += int(question[end]) + 1
			}
			names.WriteTo(question[:min(n, end+5)], from)
		}
	}()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", names.LocalAddr().String())
	}}
	return func(base *http.Transport) { base.DialContext = (&net.Dialer{Resolver: resolver}).DialContext }
}

// A base transport that tells nothing is not believed to have sent nothing.
func TestASilentBaseIsNotRepeated(t *testing.T) {
	for method, want := range map[string]int{"GET": 2, "POST": 1} {
		g, n := guard(t), 0
		client := &http.Client{Transport: &kalanhttp.Transport{Guard: g, Base: tripper(func(*http.Request) (*http.Response, error) {
			n++
			return nil, syscall.ECONNREFUSED
		})}}
		r, _ := http.NewRequest(method, "http://bridge.example/", nil)
		if _, err := client.Do(r); !errors.Is(err, syscall.ECONNREFUSED) || n != want {
			t.Errorf("%s: %d attempts, want %d: %v", method, n, want, err)
		}
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestABaseThatReturnsNothing(t *testing.T) {
	client := &http.Client{Transport: &kalanhttp.Transport{Guard: guard(t), Base: tripper(func(*http.Request) (*http.Response, error) { return nil, nil })}}
	if _, err := client.Get("http://bridge.example/"); err == nil || !strings.Contains(err.Error(), "neither an answer nor an error") {
		t.Error(err)
	}
}

func TestATransportWithoutAGuardSaysSo(t *testing.T) {
	body := &hidden{Reader: strings.NewReader("x")}
	client := &http.Client{Transport: &kalanhttp.Transport{}}
	if _, err := client.Post("http://bridge.example/", "", body); err == nil || !strings.Contains(err.Error(), "set Guard") || body.closed.Load() != 1 {
		t.Errorf("%v, body closed %d times", err, body.closed.Load())
	}
}
