package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan/internal/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 10 * time.Second

// backend starts an upstream and returns its address.
func backend(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// answers is a handler that answers with a text.
func answers(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

// closedAddress returns an address at which nobody listens, and which nobody
// else gets while the test runs: it is bound.
func closedAddress(t testing.TB) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}

// fileFor returns a configuration with one upstream, "bridge", and one route
// to it for everything. Its limits are out of the way of a machine that stands
// still for a while; a test that is about one sets it.
func fileFor(addresses ...string) settings.File {
	file := settings.File{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0",
		Drain:     settings.Drain{Delay: -1, Finish: 5 * time.Second},
		Upstreams: []settings.Upstream{{Name: "bridge", Addresses: addresses}},
		Routes:    []settings.Route{{Match: settings.Match{Prefix: "/"}, Upstream: "bridge", Promise: time.Minute}},
	}
	file.Upstreams[0].Exchange, file.Upstreams[0].Connect = 30*time.Second, 10*time.Second
	return file
}

// A house is a gateway that serves on real sockets.
type house struct {
	*Gateway
	signals chan os.Signal
	status  chan int
	log     *journal
	client  *http.Client
}

// open starts a gateway and stops it when the test ends.
func open(t testing.TB, file settings.File) *house {
	t.Helper()
	log := &journal{}
	g, err := New(file, logTo(log))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}
	h := &house{
		Gateway: g, signals: make(chan os.Signal, 2), status: make(chan int, 1), log: log,
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	go func() {
		h.status <- g.run(context.Background(), h.signals)
		close(h.status)
	}()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		h.leave(t)
	})
	return h
}

// leave stops the gateway and returns its status; 0 when it has left before.
func (h *house) leave(t testing.TB) int {
	select {
	case h.signals <- syscall.SIGTERM:
	default:
	}
	select {
	case status := <-h.status:
		return status
	case <-time.After(patience):
		t.Fatal("the gateway does not leave")
		return -1
	}
}

func (h *house) url(path string) string {
	scheme := "http://"
	if h.file.TLS != nil {
		scheme = "https://"
	}
	return scheme + h.Addr().String() + path
}

// do sends a request with headers written "Name: value" and reads the answer.
func (h *house) do(t testing.TB, method, path, body string, headers ...string) answered {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, h.url(path), reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return h.send(t, r)
}

// An answered request.
type answered struct {
	*http.Response
	body string
	took time.Duration
}

func (h *house) send(t testing.TB, r *http.Request) answered {
	t.Helper()
	begin := time.Now()
	a, err := h.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body := read(t, a)
	return answered{a, body, time.Since(begin)}
}

// read returns the body of an answer that has to be whole.
func read(t testing.TB, a *http.Response) string {
	t.Helper()
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// problem reads the answer as the gateway's own.
func (a answered) problem(t testing.TB) problem {
	t.Helper()
	var p problem
	if kind := a.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("%d %s: %q", a.StatusCode, kind, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || p.Status != a.StatusCode || p.Title == "" {
		t.Fatalf("%d %s: %v", a.StatusCode, a.body, err)
	}
	return p
}

// raw sends bytes on a connection of their own and returns everything that
// comes back until it is closed, and how it ended.
func (h *house) raw(t testing.TB, text string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(bufio.NewReader(c))
	return string(got), err
}

// until waits for a condition that nothing announces.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	late := time.After(patience)
	for !condition() {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// receive waits for a value.
func receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
		panic("unreachable")
	}
}

// A journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func logTo(j *journal) *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// requests returns the lines of the access log, read.
func (j *journal) requests(t testing.TB) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(j.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry["msg"] == "request" {
			lines = append(lines, entry)
		}
	}
	return lines
}
