package kalanhttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kalan-go/kalan/policy"
)

// http.Transport repeats by itself what carries a key, when a connection that
// it used again dies before the answer. Nobody would have allowed or counted
// that, so it does not learn of the key (O-17).
func TestTheBaseDoesNotRepeatByItself(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		var stored atomic.Int32
		s := serve(t, guard(t), func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			if r.Header.Get("Idempotency-Key") != "7f" {
				return // makes the connection that is used again
			}
			if stored.Add(1) == 1 {
				take(w).Close()
			}
		})
		s.transport.Keyed = keyed
		if _, _, err := s.send(t, t.Context(), "GET", ""); err != nil {
			t.Fatal(err)
		}
		_, _, err := s.send(t, t.Context(), "POST", "pay", "Idempotency-Key", "7f")
		attempts := s.guard.Snapshot().Counts.Started - 1
		if keyed != (err == nil) || uint64(stored.Load()) != attempts || keyed != (attempts == 2) {
			t.Errorf("keyed %v: %v; %d attempts were counted and %d arrived", keyed, err, attempts, stored.Load())
		}
	}
}

// O-14: a server that dies of a request, on every connection that is kept, gets
// it as often as attempts are counted, whoever made the connections.
func TestHitsAreAttempts(t *testing.T) {
	const kept = 26
	for name, base := range map[string]http.RoundTripper{
		"its own":   nil,
		"another's": &http.Transport{MaxIdleConnsPerHost: kept},
		"wrapped":   tripper((&http.Transport{MaxIdleConnsPerHost: kept}).RoundTrip),
	} {
		var here, hits atomic.Int32
		all := make(chan struct{})
		s := serve(t, guard(t, slots(kept)), func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Kill") != "" {
				hits.Add(1)
				take(w).Close()
				return
			}
			if here.Add(1) == kept {
				close(all)
			}
			<-all
		})
		s.transport.Base = base
		var done sync.WaitGroup
		for range kept {
			done.Go(func() {
				if _, _, err := s.send(t, t.Context(), "GET", ""); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		_, _, err := s.send(t, t.Context(), "GET", "", "Kill", "1")
		attempts := s.guard.Snapshot().Counts.Started - kept
		if err == nil || attempts != 2 || uint64(hits.Load()) > attempts {
			t.Errorf("%s: %d attempts were counted and %d arrived (%v)", name, attempts, hits.Load(), err)
		}
		if n := s.outcomes(t)[policy.Failure]; n != attempts {
			t.Errorf("%s: %d failures were counted, want %d", name, n, attempts)
		}
	}
}

// What ran out of time may have been done: a change is not sent again, a read
// is. Either way the caller learns that it was time, as net/http says it.
func TestATimeoutIsRepeatedWhereItMayBe(t *testing.T) {
	for method, want := range map[string]int32{"GET": 2, "POST": 1} {
		s := serve(t, guard(t, exchange(500*ms)), func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		body := ""
		if method == "POST" {
			body = "pay"
		}
		_, _, err := s.send(t, t.Context(), method, body)
		var said *url.Error
		if !errors.Is(err, policy.Timeout) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &said) || !said.Timeout() {
			t.Errorf("%s: %v", method, err)
		}
		until(t, "every attempt has arrived", func() bool { return s.hits.Load() >= want })
		s.CloseIdleConnections()
		s.server.CloseClientConnections()
		s.outcomes(t)
		if got := s.hits.Load(); got != want {
			t.Errorf("%s was sent %d times, want %d", method, got, want)
		}
	}
}

// A body with GetBody is had again for every attempt, and its first copy closed.
func TestGetBodyIsUsed(t *testing.T) {
	var got []string
	s := serve(t, guard(t), func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if got = append(got, string(text)); len(got) == 1 {
			w.WriteHeader(502)
		}
	})
	first, again := &hidden{Reader: strings.NewReader("hello")}, &atomic.Int32{}
	r, _ := http.NewRequest("PUT", s.server.URL, first)
	r.ContentLength = 5
	r.GetBody = func() (io.ReadCloser, error) {
		again.Add(1)
		return io.NopCloser(strings.NewReader("hello")), nil
	}
	answer, err := s.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if len(got) != 2 || got[0] != "hello" || got[1] != "hello" || first.closed.Load() != 1 || again.Load() != 2 {
		t.Errorf("got %q, had again %d times, the first closed %d times", got, again.Load(), first.closed.Load())
	}
	broken := errors.New("the file is gone")
	r.GetBody = func() (io.ReadCloser, error) { return nil, broken }
	if _, err := s.Do(r); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
