package kalanhttp_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

// guard returns one that retries at once and does not open by itself.
func guard(t testing.TB, changes ...func(*kalan.Config)) *kalan.Guard {
	t.Helper()
	c := kalan.Config{Name: "bridge", Config: stack.Config{
		Exchange: 10 * time.Second, Limit: limit.Fixed(25), Retry: retry.Config{Jitter: retry.AtOnce},
	}}
	for _, change := range changes {
		change(&c)
	}
	g, err := kalan.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// admission returns a guard for a server.
func admission(t testing.TB, changes ...func(*kalan.Config)) *kalan.Guard {
	return guard(t, append(changes, func(c *kalan.Config) { *c = kalanhttp.ForServer(*c) })...)
}

func exchange(d time.Duration) func(*kalan.Config) {
	return func(c *kalan.Config) { c.Exchange = d }
}

func slots(n int) func(*kalan.Config) {
	return func(c *kalan.Config) { c.Limit = limit.Fixed(n) }
}

func checkout(d time.Duration) func(*kalan.Config) {
	return func(c *kalan.Config) { c.Checkout = d }
}

// A site is a real server with a client behind a transport.
type site struct {
	*http.Client
	guard     *kalan.Guard
	transport *kalanhttp.Transport
	server    *httptest.Server
	hits      atomic.Int32
	conns     atomic.Int32
}

// serve returns a site whose server is h.
func serve(t testing.TB, g *kalan.Guard, h http.HandlerFunc) *site {
	t.Helper()
	s := &site{guard: g, transport: &kalanhttp.Transport{Guard: g, Connect: 5 * time.Second}}
	s.Client = &http.Client{Transport: s.transport}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		h(w, r)
	}))
	s.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.server.Start()
	t.Cleanup(func() {
		s.CloseIdleConnections()
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

// send sends a request and returns the answer's body too.
func (s *site) send(t testing.TB, ctx context.Context, method, body string, headers ...string) (*http.Response, string, error) {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.server.URL+"/", content)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := s.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer, string(text), err
}

// outcomes returns what the attempts said, by outcome, once all have ended.
func (s *site) outcomes(t testing.TB) [4]uint64 {
	t.Helper()
	until(t, "every slot is back", func() bool { return s.guard.Snapshot().InFlight == 0 })
	return s.guard.Snapshot().Counts.Outcomes
}

func count(outcomes ...policy.Outcome) (n [4]uint64) {
	for _, o := range outcomes {
		n[o]++
	}
	return n
}

// until waits for something that another goroutine, or another process, does.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	limit := time.After(10 * time.Second)
	tick := time.NewTicker(ms)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited 10 s until %s", what)
		}
	}
}

func receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(10 * time.Second):
		t.Fatalf("waited 10 s for %s", what)
		panic("unreachable")
	}
}

// take hijacks the connection of a request.
func take(w http.ResponseWriter) *net.TCPConn {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	return c.(*net.TCPConn)
}

// hidden is a body of which nobody can know how to have it again.
type hidden struct {
	io.Reader
	closed atomic.Int32
}

func (h *hidden) Close() error {
	h.closed.Add(1)
	return nil
}

// status answers with each status in turn, and the last for ever.
func status(codes ...int) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		i := min(int(n.Add(1)), len(codes)) - 1
		w.WriteHeader(codes[i])
		io.WriteString(w, http.StatusText(codes[i]))
	}
}

var discardLog = log.New(io.Discard, "", 0)
