package kalanhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
)

func TestWhatIsRepeated(t *testing.T) {
	key := []string{"Idempotency-Key", "7f"}
	for name, c := range map[string]struct {
		method  string
		answers []int
		headers []string
		keyed   bool
		status  int
		hits    int32
	}{
		"503":                          {"GET", []int{503, 200}, nil, false, 200, 2},
		"502":                          {"DELETE", []int{502, 200}, nil, false, 200, 2},
		"504, with a body":             {"PUT", []int{504, 200}, nil, false, 200, 2},
		"503 for ever":                 {"GET", []int{503}, nil, false, 503, 2},
		"500 is the request's":         {"GET", []int{500, 200}, nil, false, 500, 1},
		"501":                          {"GET", []int{501, 200}, nil, false, 501, 1},
		"404 is an answer":             {"GET", []int{404, 200}, nil, false, 404, 1},
		"429 without a time":           {"GET", []int{429, 200}, nil, false, 429, 1},
		"a payment (O-17a)":            {"POST", []int{503, 200}, nil, false, 503, 1},
		"a payment with a key":         {"POST", []int{503, 200}, key, true, 200, 2},
		"a key that nobody honours":    {"POST", []int{503, 200}, key, false, 503, 1},
		"a change that says who it is": {"PATCH", []int{503, 200}, nil, true, 503, 1},
		"somebody else repeats":        {"GET", []int{503, 200}, []string{"X-Retry-Owner", "edge"}, false, 503, 1},
	} {
		s := serve(t, guard(t), status(c.answers...))
		s.transport.Keyed = c.keyed
		body := ""
		if c.method != "GET" && c.method != "DELETE" {
			body = "hello"
		}
		answer, text, err := s.send(t, t.Context(), c.method, body, c.headers...)
		if err != nil || answer.StatusCode != c.status || s.hits.Load() != c.hits || text != http.StatusText(c.status) {
			t.Errorf("%s: %v %q, %d hits, %v", name, answer, text, s.hits.Load(), err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	past := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	far := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for name, c := range map[string]struct {
		status int
		after  string
		hits   int32
	}{
		"429 that says when":      {429, "0", 2},
		"429 with a date":         {429, past, 2},
		"503 with a date":         {503, past, 2},
		"503, too long":           {503, "3600", 1},
		"503, a date too far":     {503, far, 1},
		"429, longer than time":   {429, "9223372036854775807", 1},
		"503 that says nonsense":  {503, "soon", 2},
		"429 that says nonsense":  {429, "soon", 1},
		"500 is not repeated all": {500, "0", 1},
	} {
		var n atomic.Int32
		s := serve(t, guard(t), func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) == 1 {
				w.Header().Set("Retry-After", c.after)
				w.WriteHeader(c.status)
			}
		})
		answer, _, err := s.send(t, t.Context(), "GET", "")
		if err != nil || s.hits.Load() != c.hits || c.hits == 1 && answer.StatusCode != c.status || c.hits == 2 && answer.StatusCode != 200 {
			t.Errorf("%s: %v after %d hits: %v", name, answer, s.hits.Load(), err)
		}
	}
}

// A Retry-After that fits is waited for, to the second that was asked.
func TestRetryAfterIsWaitedFor(t *testing.T) {
	var at []time.Time
	s := serve(t, guard(t), func(w http.ResponseWriter, _ *http.Request) {
		if at = append(at, time.Now()); len(at) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
		}
	})
	answer, _, err := s.send(t, t.Context(), "GET", "")
	if err != nil || answer.StatusCode != 200 || len(at) != 2 || at[1].Sub(at[0]) < time.Second {
		t.Errorf("%v %v: asked at %v", answer, err, at)
	}
}

// O-16: the first connection is refused, the second attempt brings the same
// bytes, and the body is closed once.
func TestABodySurvivesARefusedConnection(t *testing.T) {
	content := make([]byte, 1024)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	for _, method := range []string{"POST", "PUT"} {
		for name, body := range map[string][]byte{"1024 bytes": content, "an empty one": {}} {
			for _, length := range []int64{int64(len(body)), -1} {
				var got []byte
				var twice atomic.Bool
				s := serve(t, guard(t), func(_ http.ResponseWriter, r *http.Request) {
					twice.Store(got != nil)
					got, _ = io.ReadAll(r.Body)
				})
				dials := refuseFirst(t, s)
				sent := &hidden{Reader: bytes.NewReader(body)}
				r, _ := http.NewRequest(method, s.server.URL, sent)
				r.ContentLength = length
				if len(body) == 0 && length == 0 {
					r.ContentLength = -1 // a reader with 0 bytes is not known to be empty
				}
				answer, err := s.Do(r)
				if err != nil {
					t.Fatalf("%s of %s, length %d: %v", method, name, length, err)
				}
				answer.Body.Close()
				if answer.StatusCode != 200 || !bytes.Equal(got, body) || twice.Load() || dials.Load() != 2 {
					t.Errorf("%s of %s, length %d: %d, got %d bytes after %d dials", method, name, length, answer.StatusCode, len(got), dials.Load())
				}
				until(t, "the body is closed", func() bool { return sent.closed.Load() > 0 })
				if n := sent.closed.Load(); n != 1 {
					t.Errorf("%s of %s: closed %d times", method, name, n)
				}
			}
		}
	}
}

// refuseFirst makes the site's first connection fail.
func refuseFirst(t testing.TB, s *site) *atomic.Int32 {
	nobody, dials := closed(t), new(atomic.Int32)
	base := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials.Add(1) == 1 {
			address = nobody
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	s.transport.Base = base
	return dials
}

// O-17: what was read by the server is not sent again, what was not sent is.
func TestAPaymentIsMadeOnce(t *testing.T) {
	stored := new(atomic.Int32)
	resets := serve(t, guard(t), func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		stored.Add(1)
		c := take(w)
		c.SetLinger(0)
		c.Close()
	})
	if _, _, err := resets.send(t, t.Context(), "POST", "pay"); err == nil || stored.Load() != 1 {
		t.Errorf("a reset: %v, stored %d times", err, stored.Load())
	}
	stored.Store(0)
	stands := serve(t, guard(t), func(http.ResponseWriter, *http.Request) { stored.Add(1) })
	refuseFirst(t, stands)
	if answer, _, err := stands.send(t, t.Context(), "POST", "pay"); err != nil || answer.StatusCode != 200 || stored.Load() != 1 {
		t.Errorf("the first connection refused: %v %v, stored %d times", answer, err, stored.Load())
	}
}

// A body that has outgrown what is kept is sent once.
func TestABodyThatOutgrowsTheCap(t *testing.T) {
	for keep, want := range map[int]int32{0: 1, 1 << 20: 2, -1: 1} {
		s := serve(t, guard(t), status(503, 200))
		s.transport.Keep = keep
		body := &hidden{Reader: bytes.NewReader(make([]byte, 100<<10))}
		r, _ := http.NewRequest("PUT", s.server.URL, body)
		answer, err := s.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if s.hits.Load() != want {
			t.Errorf("keep %d: %d attempts, want %d", keep, s.hits.Load(), want)
		}
		until(t, "the body is closed", func() bool { return body.closed.Load() == 1 })
	}
}

// The sender of a body that breaks off is at fault, not the dependency.
func TestABodyThatBreaks(t *testing.T) {
	s := serve(t, guard(t), status(200))
	broken := errors.New("the disk is gone")
	r, _ := http.NewRequest("PUT", s.server.URL, &hidden{Reader: io.MultiReader(strings.NewReader("hello"), failing{broken})})
	if _, err := s.Do(r); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if got := s.outcomes(t); got[policy.Failure] != 0 || got[policy.Success] != 0 {
		t.Errorf("counted %v", got)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// What services tell each other (O-18): never more than is left.
func TestHeaders(t *testing.T) {
	var seen []http.Header
	s := serve(t, guard(t, exchange(30*time.Second)), func(w http.ResponseWriter, r *http.Request) {
		if seen = append(seen, r.Header); len(seen) == 1 {
			w.WriteHeader(503)
		}
	})
	remaining := func(h http.Header) time.Duration {
		d, err := time.ParseDuration(h.Get("X-Remaining-Ms") + "ms")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, _, err := s.send(t, ctx, "GET", "", "X-Mine", "yes"); err != nil {
		t.Fatal(err)
	}
	for i, h := range seen {
		if h.Get("X-Envoy-Attempt-Count") != string(rune('1'+i)) || h.Get("X-Retry-Owner") != "kalan" || h.Get("X-Mine") != "yes" {
			t.Errorf("attempt %d: %v", i+1, h)
		}
		if d := remaining(h); d > 19_995*ms || d < 10*time.Second {
			t.Errorf("attempt %d has %v of the caller's 20 s less a margin of 5", i+1, d)
		}
	}
	seen = nil
	s.transport = &kalanhttp.Transport{Guard: s.guard, Header: "x-left", Owner: "shop"}
	s.Client.Transport = s.transport
	s.send(t, t.Context(), "POST", "x")
	s.send(t, t.Context(), "GET", "")
	if len(seen) != 2 {
		t.Fatalf("%d requests", len(seen))
	}
	if h := seen[0]; h.Get("X-Retry-Owner") != "" || h.Get("X-Left") == "" || h.Get("X-Remaining-Ms") != "" {
		t.Errorf("what is not repeated: %v", h)
	}
	if h := seen[1]; h.Get("X-Retry-Owner") != "shop" || h.Get("X-Left") > "800" {
		t.Errorf("without a deadline: %v", h)
	}
	seen, s.transport.Quiet = nil, true
	s.send(t, t.Context(), "GET", "")
	for name := range seen[0] {
		if strings.HasPrefix(name, "X-") {
			t.Errorf("to a stranger: %s", name)
		}
	}
}

// What is too late for another hop is not sent, and nobody is blamed.
func TestTooLateToSend(t *testing.T) {
	s := serve(t, guard(t), status(200))
	s.transport.Margin = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, _, err := s.send(t, ctx, "GET", ""); err == nil || s.hits.Load() != 0 {
		t.Errorf("%v after %d hits", err, s.hits.Load())
	}
	if got := s.outcomes(t); got != count(policy.Ignored) {
		t.Errorf("counted %v", got)
	}
}

// A refusal says who refused, why and until when, through http.Client's error.
func TestARefusal(t *testing.T) {
	g := guard(t, once, func(c *kalan.Config) { c.Breaker.Calls = 3 })
	s := serve(t, g, status(503))
	for range 3 {
		s.send(t, t.Context(), "GET", "")
	}
	body := &hidden{Reader: strings.NewReader("hello")}
	r, _ := http.NewRequest("POST", s.server.URL, body)
	_, err := s.Do(r)
	var refused *kalan.Rejection
	if !errors.Is(err, policy.Open) || !errors.As(err, &refused) || refused.RetryAfter <= 0 || refused.Guard != "bridge" {
		t.Errorf("%v", err)
	}
	if s.hits.Load() != 3 || body.closed.Load() != 1 {
		t.Errorf("%d hits, body closed %d times", s.hits.Load(), body.closed.Load())
	}
}

// The last answer is the answer when there is no further attempt, and the cause
// when the next one is refused.
func TestTheFirstAnswerIsTheCause(t *testing.T) {
	gate := make(chan struct{})
	g := guard(t, slots(1), checkout(20*ms), func(c *kalan.Config) { c.Retry.Jitter, c.Retry.Base = retry.Constant, time.Second })
	var n atomic.Int32
	s := serve(t, g, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			w.WriteHeader(503)
			return
		}
		<-gate
	})
	failed, second := make(chan error, 1), make(chan error, 1)
	get := func(end chan<- error) {
		answer, err := s.Get(s.server.URL)
		if err == nil {
			answer.Body.Close()
		}
		end <- err
	}
	go get(failed)
	until(t, "the first attempt has failed", func() bool { return g.Snapshot().Counts.Outcomes[policy.Failure] == 1 })
	go get(second)
	err := receive(t, "a refusal", failed)
	close(gate)
	receive(t, "the other's answer", second)
	var status kalanhttp.StatusError
	if !errors.Is(err, policy.Waited) || !errors.As(err, &status) || status != 503 {
		t.Errorf("%v", err)
	}
}

// A refused retry's connection is used again: a short answer is read to its
// end before the next attempt.
func TestTheConnectionOfADiscardedAnswerIsUsedAgain(t *testing.T) {
	s := serve(t, guard(t), status(503, 200))
	if _, _, err := s.send(t, t.Context(), "GET", ""); err != nil || s.conns.Load() != 1 {
		t.Errorf("%d connections: %v", s.conns.Load(), err)
	}
}

func TestRedirectsAreRequestsOfTheirOwn(t *testing.T) {
	second := serve(t, guard(t), status(200))
	first := serve(t, guard(t), func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, second.server.URL, http.StatusFound) })
	hosts, err := kalanhttp.NewHosts(kalan.Config{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	first.Client.Transport = &kalanhttp.Transport{Hosts: hosts}
	defer first.CloseIdleConnections()
	answer, _, err := first.send(t, t.Context(), "GET", "")
	if err != nil || answer.Request.URL.String() != second.server.URL || len(hosts.Guards()) != 2 {
		t.Errorf("%v %v, %d guards", answer, err, len(hosts.Guards()))
	}
	for _, g := range hosts.Guards() {
		if g.Snapshot().Counts.Started != 1 {
			t.Errorf("%s: %+v", g.Name(), g.Snapshot().Counts)
		}
	}
}

// A hang is answered by the hedge; the one that hung runs on until it is done.
func TestHedge(t *testing.T) {
	gate := make(chan struct{})
	var n atomic.Int32
	g := guard(t, func(c *kalan.Config) { c.Retry.Hedge.After = 20 * ms; c.Limit = limit.Fixed(2) })
	s := serve(t, g, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if n.Add(1) == 1 {
			<-gate
		}
		io.WriteString(w, "hello")
	})
	_, text, err := s.send(t, t.Context(), "GET", "")
	if err != nil || text != "hello" || s.hits.Load() != 2 {
		t.Errorf("%q %v after %d hits", text, err, s.hits.Load())
	}
	if busy := g.Snapshot().InFlight; busy != 1 {
		t.Errorf("%d slots are taken while one attempt still runs", busy)
	}
	close(gate)
	if got := s.outcomes(t); got[policy.Failure] != 0 {
		t.Errorf("counted %v", got)
	}
	s.hits.Store(0)
	n.Store(0)
	gate = make(chan struct{})
	time.AfterFunc(200*ms, func() { close(gate) }) // ten times the hedge's delay
	if _, _, err := s.send(t, t.Context(), "PUT", "hello"); err != nil || s.hits.Load() != 1 {
		t.Errorf("a change: %d hits, %v", s.hits.Load(), err)
	}
}
