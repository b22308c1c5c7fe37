package gateway

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/accept"
	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/internal/settings"
)

func TestRequestsUnderTLS(t *testing.T) {
	s := seal(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("X-Forwarded-Proto")+" "+r.Header.Get("X-Forwarded-For"))
	})))
	c := s.as()
	c.Transport.(*http.Transport).ForceAttemptHTTP2 = true
	for i, resumed := range []bool{false, true} {
		a, err := c.Get(s.url("/"))
		if err != nil {
			t.Fatal(err)
		}
		if body := read(t, a); body != "https 127.0.0.1" || a.ProtoMajor != 1 || a.TLS.NegotiatedProtocol != "http/1.1" || a.TLS.DidResume != resumed {
			t.Errorf("the %d.: %q, %s, %+v", i+1, body, a.Proto, a.TLS)
		}
	}
	s.counts(t, `kalan_handshakes_total{end="complete"} 1`, `kalan_handshakes_total{end="resumed"} 1`,
		`kalan_handshakes_awaited 0`, `kalan_handshakes_running 0`, `kalan_handshakes_limit 1000`, `kalan_handshake_duration_seconds_count 2`)
	if got, _ := s.say(t, "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
		t.Errorf("two framings under TLS: %q", got)
	}
}

// F4: what is over the rate of new connections is closed before the handshake,
// which costs more than everything else.
func TestTheExcessIsClosedBeforeTheHandshake(t *testing.T) {
	file := fileFor(backend(t, answers("ok")))
	file.Accept = &settings.Accept{Rate: .001, Burst: 2}
	s := seal(t, file)
	for i := range 2 {
		if status, err := s.ask(t, s.as()); status != 200 {
			t.Fatalf("the %d.: %d %v", i+1, status, err)
		}
	}
	for i := range 10 {
		if _, err := s.dial(t); !silent(err) {
			t.Errorf("the %d. of the excess: %v", i+1, err)
		}
	}
	until(t, "all have left", func() bool { return s.gate.Snapshot().Open == 0 })
	if n := s.secrecy.handshakes.Begun(); n != 2 {
		t.Errorf("%d handshakes have begun", n)
	}
	s.counts(t, `kalan_connections_refused_total{limit="rate"} 10`, `kalan_handshakes_total{end="complete"} 2`, `kalan_handshakes_awaited 0`)
}

// Handshakes have a rate of their own, which is used up when the hello has come
// and before anything is computed for it. Who is in, stays in.
func TestHandshakesHaveARate(t *testing.T) {
	file := fileFor(backend(t, answers("ok")))
	file.Accept = &settings.Accept{Handshakes: settings.Handshakes{Rate: .001, Burst: 2}}
	s := seal(t, file)
	for range 2 {
		if a := s.do(t, "GET", "/", ""); a.StatusCode != 200 { // on one connection
			t.Errorf("%d", a.StatusCode)
		}
	}
	if _, err := s.dial(t); err != nil {
		t.Errorf("the second of a burst of 2: %v", err)
	}
	for i := range 5 {
		if _, err := s.dial(t); !silent(err) {
			t.Errorf("the %d. of the excess: %v", i+1, err)
		}
	}
	if a := s.do(t, "GET", "/", ""); a.StatusCode != 200 {
		t.Errorf("%d", a.StatusCode)
	}
	until(t, "the refused are closed", func() bool { return s.gate.Snapshot().Open == 2 })
	s.counts(t, `kalan_handshakes_refused_total{limit="rate"} 5`, `kalan_handshakes_total{end="complete"} 2`,
		`kalan_handshakes_total{end="failed"} 0`, `kalan_handshakes_running 0`, `kalan_handshakes_awaited 0`)
}

// Clients that say hello and then nothing keep others out for a moment, and not
// until their time is up.
func TestASilentHandshakeLeavesItsPlace(t *testing.T) {
	t.Parallel()
	file := fileFor(backend(t, answers("ok")))
	file.Accept = &settings.Accept{Handshakes: settings.Handshakes{Running: 1, Within: 10 * patience}}
	s := seal(t, file)
	s.secrecy.handshakes = accept.NewHandshakes(settings.Accept{Handshakes: settings.Handshakes{Running: 1, Within: time.Second}})
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(hello(t)); err != nil {
		t.Fatal(err)
	}
	until(t, "it has begun", func() bool { return s.secrecy.handshakes.Begun() == 1 })
	until(t, "another gets its place", func() bool {
		got, err := s.dial(t)
		if err == nil {
			got.Close()
		}
		return err == nil
	})
	c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the silent one is still open")
	}
	s.counts(t, `kalan_handshakes_total{end="timeout"} 1`, `kalan_handshakes_total{end="complete"} 1`, `kalan_handshakes_running 0`)
}

// A client that has said hello and does not go on takes one of the places of
// those that are under way.
func TestRunningHandshakesAreBounded(t *testing.T) {
	file := fileFor(backend(t, answers("ok")))
	file.Accept = &settings.Accept{Handshakes: settings.Handshakes{Running: 1, Within: 10 * patience}}
	s := seal(t, file)
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stopped, goOn, shaken := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	half := s.trusts()
	half.VerifyConnection = func(tls.ConnectionState) error {
		close(stopped)
		<-goOn
		return nil
	}
	go func() { shaken <- tls.Client(c, half).Handshake() }()
	receive(t, "the server's part", stopped)
	if _, err := s.dial(t); !silent(err) {
		t.Errorf("a second handshake: %v", err)
	}
	close(goOn)
	if err := receive(t, "the first one", shaken); err != nil {
		t.Error(err)
	}
	until(t, "its place is free", func() bool { return s.secrecy.handshakes.Running() == 0 })
	if _, err := s.dial(t); err != nil {
		t.Errorf("after it: %v", err)
	}
	s.counts(t, `kalan_handshakes_refused_total{limit="running"} 1`)
}

// Whoever says half a hello takes nobody's place, and its time is limited.
func TestHalfAHelloIsBounded(t *testing.T) {
	const many = 20
	file := fileFor(backend(t, answers("ok")))
	file.Accept = &settings.Accept{Handshakes: settings.Handshakes{Running: 1, Within: 500 * time.Millisecond}}
	s := seal(t, file)
	ended := make(chan error, many)
	for range many {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.Write(append([]byte{22, 3, 1, 0, 200, 1, 0, 0, 196}, make([]byte, 50)...))
		go func() {
			c.SetReadDeadline(time.Now().Add(patience))
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
	}
	until(t, "a whole one among them", func() bool { // at the first attempt, if its own time suffices
		status, _ := s.ask(t, s.as())
		return status == 200
	})
	for range many {
		if err := receive(t, "its end", ended); !silent(err) {
			t.Errorf("half a hello ended with %v", err)
		}
	}
	until(t, "all are gone", func() bool { return s.gate.Snapshot().Open == 0 })
	if n := s.secrecy.ended[timeout].Load(); n < many {
		t.Errorf("%d ran out of time", n)
	}
	if n := s.secrecy.handshakes.Refused(accept.Running); n != 0 {
		t.Errorf("%d were refused for them", n)
	}
	s.counts(t, `kalan_handshakes_awaited 0`, `kalan_handshakes_running 0`, `kalan_handshakes_refused_total{limit="running"} 0`)
}

// A reconnect storm: those within the burst are served, and for nobody else is
// a key made or anything signed.
func TestAStormCostsNoMoreHandshakesThanTheRate(t *testing.T) {
	const clients, burst = 300, 60
	file := fileFor(backend(t, answers("ok")))
	file.Accept = &settings.Accept{Rate: .001, Burst: burst}
	file.Routes[0].Match.Prefix = "/orders" // elsewhere the gateway answers by itself: what is drilled is the way in
	s := seal(t, file)
	var served, refused, odd atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			switch status, err := s.ask(t, s.as()); {
			case status == 404:
				served.Add(1)
			case silent(err):
				refused.Add(1)
			default:
				odd.Add(1)
				t.Logf("%d %v", status, err)
			}
		})
	}
	all.Wait()
	if served.Load() != burst || refused.Load() != clients-burst || odd.Load() != 0 {
		t.Errorf("%d served, %d refused", served.Load(), refused.Load())
	}
	if n := s.secrecy.handshakes.Begun(); n != burst {
		t.Errorf("%d handshakes have begun", n)
	}
}

func TestNamesOfTheMetricsUnderTLS(t *testing.T) {
	s := seal(t, fileFor(backend(t, answers("ok"))))
	_, text := s.probe(t, "/metrics")
	ours := regexp.MustCompile(`(?m)^# (?:HELP|TYPE) kalan_(?:handshake|certificate).*\n`)
	golden.File(t, "testdata/metrics-tls.txt", strings.Join(ours.FindAllString(text, -1), ""))
}
