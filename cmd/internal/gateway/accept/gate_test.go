package accept

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const second = policy.Instant(time.Second)

// A clock that stands until it is set.
type clock struct{ at atomic.Int64 }

func (c *clock) now() policy.Instant { return policy.Instant(c.at.Load()) }

// way returns a configuration with its defaults.
func way(change func(*settings.Accept)) settings.Accept {
	a := settings.Accept{}
	change(&a)
	return *settings.File{Accept: &a}.WithDefaults().Accept
}

// A hall listens behind a gate, which it never lets time pass for.
type hall struct {
	net.Listener
	*Gate
	*clock
	place atomic.Uint64 // of whoever comes next
	took  chan time.Duration
}

func (h *hall) Accept() (net.Conn, error) {
	for {
		c, err := h.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if h.Admit(c, h.place.Load(), false) {
			return &visit{Conn: c, gate: h.Gate}, nil
		}
	}
}

type visit struct {
	net.Conn
	gate *Gate
	over atomic.Bool
}

func (v *visit) Close() error {
	if v.over.CompareAndSwap(false, true) {
		v.gate.Leave()
	}
	return v.Conn.Close()
}

// open serves HTTP, or TLS, behind a gate.
func open(t *testing.T, secret bool, change func(*settings.Accept)) (*hall, *httptest.Server) {
	t.Helper()
	h := &hall{clock: &clock{}, took: make(chan time.Duration, 100)}
	c := Config{
		Accept: way(change), Now: h.now, Refused: func(d time.Duration) { h.took <- d },
		Answer: func(l Limit, after int64) []byte {
			return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: %d\r\nX-Over: %s\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", after, l)
		},
	}
	if secret {
		c.Answer = nil
	}
	h.Gate = New(c)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "yes") }))
	h.Listener, server.Listener = server.Listener, h
	if secret {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(func() {
		server.Close()
		h.Wait()
	})
	return h, server
}

// ask sends a request on a connection of its own.
func ask(server *httptest.Server) (*http.Response, string, error) {
	client := server.Client()
	client.Transport.(*http.Transport).DisableKeepAlives = true
	answer, err := client.Get(server.URL)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer, string(body), err
}

// What is over the rate is told when to come back, by a client that knows
// nothing of being refused before it has asked.
func TestTheExcessIsRefusedAtOnce(t *testing.T) {
	h, server := open(t, false, func(a *settings.Accept) { a.Rate, a.Burst = 10, 3 })
	seen := make(map[int]bool)
	for i := range 40 {
		answer, body, err := ask(server)
		switch {
		case err != nil:
			t.Fatal(err)
		case i < 3 && (answer.StatusCode != 200 || body != "yes"):
			t.Fatalf("the %d. of a burst of 3: %d", i+1, answer.StatusCode)
		case i >= 3 && (answer.StatusCode != 503 || body != "no" || !answer.Close || answer.Header.Get("X-Over") != "rate"):
			t.Fatalf("the %d.: %d %q", i+1, answer.StatusCode, answer.Header)
		case i >= 3:
			after, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
			if least, most := 3+(i-3)/10, 9+(i-3)/10; after < least || after > most {
				t.Errorf("the %d. is told %d s, want %d to %d", i+1, after, least, most)
			}
			seen[after] = true
			if took := <-h.took; took != 0 { // on a clock that stands
				t.Errorf("took %v", took)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("all are told to come back at %v", seen)
	}
	h.at.Store(int64(second / 5))
	for i, want := range []int{200, 200, 503} { // two more at ten a second
		if answer, _, err := ask(server); err != nil || answer.StatusCode != want {
			t.Errorf("the %d. after 200ms: %v %v", i+1, answer, err)
		}
	}
	if s := h.Snapshot(); s.Accepted != 5 || s.Refused[Rate] != 38 {
		t.Errorf("%+v", s)
	}
}

// One client that comes again and again uses up its own rate, and not what
// there is for all.
func TestOneAddressCannotUseUpTheRate(t *testing.T) {
	h, server := open(t, false, func(a *settings.Accept) {
		a.Rate, a.Burst, a.PerAddress = 1, 5, settings.Quota{Rate: 1, Burst: 2}
	})
	for i := range 20 {
		answer, _, err := ask(server)
		if err != nil || answer.StatusCode == 200 != (i < 2) || i >= 2 && answer.Header.Get("X-Over") != "address" {
			t.Fatalf("the %d. of one address: %v %v", i+1, answer, err)
		}
	}
	h.place.Store(1 << 60)
	for i := range 3 {
		h.place.Add(1 << 60)
		if answer, _, err := ask(server); err != nil || answer.StatusCode != 200 {
			t.Errorf("the %d. of others: %v %v", i+1, answer, err)
		}
	}
	if answer, _, err := ask(server); err != nil || answer.StatusCode != 503 || answer.Header.Get("X-Over") != "rate" {
		t.Errorf("everybody's rate is used up: %v %v", answer, err)
	}
	// That refusal has cost the address nothing.
	h.at.Store(int64(second))
	if answer, _, err := ask(server); err != nil || answer.StatusCode != 200 {
		t.Errorf("a second later: %v %v", answer, err)
	}
}

func TestOpenConnectionsAreBounded(t *testing.T) {
	h, server := open(t, false, func(a *settings.Accept) { a.Connections, a.Observe = 2, true }) // also when observing
	var held []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			t.Fatal(err)
		}
	}
	if answer, _, err := ask(server); err != nil || answer.StatusCode != 503 || answer.Header.Get("X-Over") != "open" {
		t.Errorf("a third one: %v %v", answer, err)
	}
	for _, c := range held {
		c.Close()
	}
	for look := time.NewTicker(time.Millisecond); h.Snapshot().Open > 0; <-look.C {
		t.Logf("%d are open", h.Snapshot().Open)
	}
	if answer, _, err := ask(server); err != nil || answer.StatusCode != 200 {
		t.Errorf("after they have left: %v %v", answer, err)
	}
}

// A caller that says nothing is not waited for.
func TestASilentCallerIsAnsweredToo(t *testing.T) {
	_, server := open(t, false, func(a *settings.Accept) { a.Rate, a.Burst = 1e-9, 1 })
	ask(server)
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	begin := time.Now()
	text, err := io.ReadAll(c)
	if err != nil || len(text) < 12 || string(text[9:12]) != "503" {
		t.Errorf("%q %v", text, err)
	}
	if took := time.Since(begin); took > 9*time.Second {
		t.Errorf("told after %v", took)
	}
}

func TestTLSIsRefusedBeforeTheHandshake(t *testing.T) {
	_, server := open(t, true, func(a *settings.Accept) { a.Rate, a.Burst = 1e-9, 1 })
	if answer, body, err := ask(server); err != nil || body != "yes" {
		t.Fatalf("%v %v", answer, err)
	}
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if errors.Is(err, syscall.ECONNRESET) {
		return // refused before Dial has returned
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = tls.Client(c, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(t.Context())
	if alert := (tls.AlertError)(0); err == nil || errors.As(err, &alert) {
		t.Errorf("the handshake: %v", err)
	}
}

func TestObservingRefusesNobody(t *testing.T) {
	h, server := open(t, false, func(a *settings.Accept) { a.Rate, a.Burst, a.Observe = 1, 1, true })
	for range 5 {
		if answer, _, err := ask(server); err != nil || answer.StatusCode != 200 {
			t.Fatalf("%v %v", answer, err)
		}
	}
	if s := h.Snapshot(); s.Accepted != 5 || s.Refused[Rate] != 4 {
		t.Errorf("%+v", s)
	}
}

func TestNothingIsLimitedByDefault(t *testing.T) {
	h, server := open(t, false, func(*settings.Accept) {})
	for range 50 {
		if answer, _, err := ask(server); err != nil || answer.StatusCode != 200 {
			t.Fatalf("%v %v", answer, err)
		}
	}
	if s := h.Snapshot(); s.Most != settings.DefaultConnections || s.Accepted != 50 {
		t.Errorf("%+v", s)
	}
}

// Those who are asked back are as many a second as the rate takes, however
// many they are.
func TestTheReturnIsSpread(t *testing.T) {
	const rate, refused = 500, 4300
	s := newShared(rate, 1, span.Range{Min: 3 * time.Second, Max: 8 * time.Second})
	var back [30]int
	for range refused {
		back[int(s.comeBack(0, Rate, 0)/time.Second)]++
	}
	for at, n := range back {
		if n > rate*13/10 || at < 3 && n > 0 || at > 17 && n > 0 {
			t.Errorf("%d come back in second %d", n, at)
		}
	}
	if wait := s.comeBack(0, Address, 20*second); wait != 20*time.Second {
		t.Errorf("one whose own rate allows it in 20 s is asked back in %v", wait)
	}
}
