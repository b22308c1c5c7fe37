package kalanhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
)

// dripping sends a beginning at once and the end when next says so.
func dripping(next <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
		http.NewResponseController(w).Flush()
		select {
		case <-next:
			io.WriteString(w, " world")
		case <-r.Context().Done():
		}
	}
}

// The slot is held, and the context lives, until the last byte.
func TestTheSlotIsHeldUntilTheLastByte(t *testing.T) {
	next := make(chan struct{})
	s := serve(t, guard(t), dripping(next))
	answer, err := s.Get(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 5)
	if _, err := io.ReadFull(answer.Body, first); err != nil || s.guard.Snapshot().InFlight != 1 {
		t.Fatalf("%q %v, %d in flight", first, err, s.guard.Snapshot().InFlight)
	}
	close(next)
	rest, err := io.ReadAll(answer.Body)
	if err != nil || string(rest) != " world" || s.guard.Snapshot().InFlight != 0 {
		t.Errorf("%q %v, %d in flight", rest, err, s.guard.Snapshot().InFlight)
	}
	if got := s.outcomes(t); got != count(policy.Success) {
		t.Errorf("counted %v", got)
	}
}

// A caller that closes has got what it wanted: a decoder stops before the end.
func TestClosingEarlyIsASuccess(t *testing.T) {
	next := make(chan struct{})
	defer close(next)
	s := serve(t, guard(t), func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"price": 42}`)
		http.NewResponseController(w).Flush()
		select {
		case <-next:
		case <-r.Context().Done():
		}
	})
	answer, err := s.Get(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var price struct{ Price int }
	if err := json.NewDecoder(answer.Body).Decode(&price); err != nil || price.Price != 42 {
		t.Error(price, err)
	}
	answer.Body.Close()
	answer.Body.Close()
	if got := s.outcomes(t); got != count(policy.Success) {
		t.Errorf("counted %v", got)
	}
}

// F8: the exchange ends at its last byte, and a body that drips beyond the
// limit breaks; it does not end.
func TestABodyIsCutAtTheLimit(t *testing.T) {
	s := serve(t, guard(t, exchange(500*ms)), dripping(nil))
	answer, err := s.Get(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if string(text) != "hello" || !errors.Is(err, policy.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q, %v", text, err)
	}
	if got := s.outcomes(t); got != count(policy.Failure) {
		t.Errorf("counted %v", got)
	}
}

// A body that nobody reads or closes does not keep its slot for ever.
func TestAForgottenBody(t *testing.T) {
	s := serve(t, guard(t, exchange(500*ms)), dripping(nil))
	answer, err := s.Get(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.outcomes(t)
	answer.Body.Close()
}

func TestACallerThatLeavesWhileReading(t *testing.T) {
	for name, c := range map[string]struct {
		ctx  func() (context.Context, context.CancelFunc)
		want error
	}{
		"cancelled": {func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }, context.Canceled},
		"out of time": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 500*ms)
		}, context.DeadlineExceeded},
	} {
		s := serve(t, guard(t), dripping(nil))
		ctx, cancel := c.ctx()
		r, _ := http.NewRequestWithContext(ctx, "GET", s.server.URL, nil)
		answer, err := s.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.ReadFull(answer.Body, make([]byte, 5))
		if c.want == context.Canceled {
			cancel()
		}
		if _, err := io.ReadAll(answer.Body); !errors.Is(err, c.want) || errors.Is(err, policy.Timeout) {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.outcomes(t); got != count(policy.Cut) {
			t.Errorf("%s: counted %v", name, got)
		}
		answer.Body.Close()
		cancel()
	}
}

// A caller that has left and closes in the same breath has left all the same.
func TestClosingAfterLeaving(t *testing.T) {
	s := serve(t, guard(t), dripping(nil))
	for range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, "GET", s.server.URL, nil)
		answer, err := s.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		answer.Body.Close()
	}
	if got := s.outcomes(t); got[policy.Cut] != 30 {
		t.Errorf("counted %v", got)
	}
}

// Connections are used again: what ends an attempt comes after its last byte.
func TestConnectionsAreUsedAgain(t *testing.T) {
	s := serve(t, guard(t), status(200))
	for range 100 {
		if _, _, err := s.send(t, t.Context(), "GET", ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.conns.Load(); n != 1 {
		t.Errorf("%d connections for 100 requests", n)
	}
}

// A caller that leaves before the answer is back at once; the slot is the
// dependency's until it has answered.
func TestAGhostKeepsItsSlot(t *testing.T) {
	gate := make(chan struct{})
	s := serve(t, guard(t), func(http.ResponseWriter, *http.Request) { <-gate })
	ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
	defer cancel()
	began := time.Now()
	_, _, err := s.send(t, ctx, "GET", "")
	if took := time.Since(began); !errors.Is(err, policy.Expired) || !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
		t.Errorf("%v after %v", err, took)
	}
	if shot := s.guard.Snapshot(); shot.Kept != 1 {
		t.Errorf("%d slots are kept", shot.Kept)
	}
	close(gate)
	if got := s.outcomes(t); got != count(policy.Success) {
		t.Errorf("counted %v", got)
	}
}

// Where the guard has no limit, or knows that the dependency stops, an attempt
// ends with its caller.
func TestAnAttemptEndsWithItsCaller(t *testing.T) {
	for name, change := range map[string]func(*kalan.Config){
		"without a limit": exchange(0),
		"cancels":         func(c *kalan.Config) { c.Cancels = true },
	} {
		left := make(chan struct{}, 1)
		s := serve(t, guard(t, change), func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			left <- struct{}{}
		})
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, _, err := s.send(t, ctx, "GET", "")
			failed <- err
		}()
		until(t, "the request is there", func() bool { return s.hits.Load() == 1 })
		cancel()
		if err := receive(t, "the call", failed); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		receive(t, "the server to see it", left)
		s.outcomes(t)
	}
}

func TestAnswersWithoutABody(t *testing.T) {
	for method, code := range map[string]int{"HEAD": 200, "GET": 204, "DELETE": 304} {
		s := serve(t, guard(t), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		r, _ := http.NewRequest(method, s.server.URL, nil)
		answer, err := s.Do(r)
		if err != nil || answer.StatusCode != code || s.guard.Snapshot().InFlight != 0 {
			t.Errorf("%s: %v %v, %d in flight", method, answer, err, s.guard.Snapshot().InFlight)
		}
		answer.Body.Close()
	}
}

// An answer can come before its request has ended, and the rest of the request
// is sent all the same.
func TestAnAnswerBeforeTheRequestsEnd(t *testing.T) {
	got := make(chan string, 1)
	s := serve(t, guard(t), func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		control.EnableFullDuplex()
		io.WriteString(w, "go on")
		control.Flush()
		text, _ := io.ReadAll(r.Body)
		got <- string(text)
	})
	content, send := io.Pipe()
	closed := &hidden{Reader: content}
	r, _ := http.NewRequest("POST", s.server.URL, closed)
	go io.WriteString(send, "hello")
	answer, err := s.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(answer.Body, make([]byte, 5))
	io.WriteString(send, " world")
	send.Close()
	if text := receive(t, "the request's end", got); text != "hello world" {
		t.Errorf("the server read %q", text)
	}
	io.ReadAll(answer.Body)
	answer.Body.Close()
	until(t, "the body is closed", func() bool { return closed.closed.Load() == 1 })
}

// A base transport that panics frees the slot, and the panic reaches the caller.
func TestAPanicBelow(t *testing.T) {
	g := guard(t)
	client := &kalanhttp.Transport{Guard: g, Base: tripper(func(*http.Request) (*http.Response, error) { panic("below") })}
	func() {
		defer func() {
			if p := recover(); p != "below" {
				t.Errorf("recovered %v", p)
			}
		}()
		r, _ := http.NewRequest("GET", "http://bridge.example/", nil)
		client.RoundTrip(r)
	}()
	if n := g.Snapshot().InFlight; n != 0 {
		t.Errorf("%d in flight", n)
	}
}

// What the program says of an answer may panic too: the slot comes free, and the
// body is closed.
func TestAPanicInAQuestion(t *testing.T) {
	for name, ask := range map[string]func(*kalanhttp.Transport){
		"Stream": func(c *kalanhttp.Transport) { c.Stream = func(*http.Response) bool { panic("asked") } },
		"Judge":  func(c *kalanhttp.Transport) { c.Judge = func(*http.Response) policy.Report { panic("asked") } },
	} {
		s := serve(t, guard(t), status(200))
		ask(s.transport)
		func() {
			defer func() {
				if p := recover(); p != "asked" {
					t.Errorf("%s: recovered %v", name, p)
				}
			}()
			r, _ := http.NewRequest("GET", s.server.URL, nil)
			s.transport.RoundTrip(r)
		}()
		if n := s.guard.Snapshot().InFlight; n != 0 {
			t.Errorf("%s: %d in flight", name, n)
		}
	}
}

// Many at once, of which some leave, some are cut and some break: every slot
// comes back.
func TestEverySlotComesBack(t *testing.T) {
	var n atomic.Int32
	s := serve(t, guard(t, exchange(100*ms), slots(8)), func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // net/http does not see a client leave before that
		switch n.Add(1) % 5 {
		case 0:
			w.WriteHeader(503)
		case 1:
			dripping(nil)(w, r)
		case 2:
			c := take(w)
			c.SetLinger(0)
			c.Close()
		case 3:
			io.WriteString(w, strings.Repeat("x", 100<<10))
		default:
			<-r.Context().Done()
		}
	})
	done := make(chan struct{})
	for i := range 60 {
		go func() {
			defer func() { done <- struct{}{} }()
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*5*ms+ms)
			defer cancel()
			s.send(t, ctx, []string{"GET", "POST", "PUT"}[i%3], "hello")
		}()
	}
	for range 60 {
		receive(t, "a call", done)
	}
	s.outcomes(t)
}
