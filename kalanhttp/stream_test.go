package kalanhttp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// events is a server of an event stream that sends when it is told to.
func events(next <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		http.NewResponseController(w).Flush()
		for {
			select {
			case <-next:
				io.WriteString(w, "data: tick\n\n")
				http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}
}

// An event stream outlives the exchange, holds no slot, and ends with its
// caller.
func TestAnEventStreamIsNoExchange(t *testing.T) {
	next := make(chan struct{})
	s := serve(t, guard(t, exchange(500*ms)), events(next))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", s.server.URL, nil)
	answer, err := s.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if s.guard.Snapshot().InFlight != 0 {
		t.Error("the stream holds a slot")
	}
	lines := bufio.NewReader(answer.Body)
	for began := time.Now(); time.Since(began) < 1200*ms; { // beyond the exchange and its bound
		next <- struct{}{}
		if line, err := lines.ReadString('\n'); err != nil || line != "data: tick\n" {
			t.Fatalf("%q, %v after %v", line, err, time.Since(began))
		}
		lines.ReadString('\n')
	}
	cancel()
	if _, err := io.ReadAll(lines); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestStreamsAreCounted(t *testing.T) {
	s := serve(t, guard(t), events(nil))
	s.transport.Streams = 2
	var open []*http.Response
	for range 2 {
		answer, err := s.Get(s.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, answer)
	}
	if _, err := s.Get(s.server.URL); !errors.Is(err, policy.Full) {
		t.Errorf("a third stream: %v", err)
	}
	open[0].Body.Close()
	open[0].Body.Close() // twice counts once
	third, err := s.Get(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(s.server.URL); !errors.Is(err, policy.Full) {
		t.Errorf("a stream too many: %v", err)
	}
	third.Body.Close()
	open[1].Body.Close()
	s.transport.Streams = -1
	if _, err := s.Get(s.server.URL); !errors.Is(err, policy.Full) {
		t.Errorf("no streams: %v", err)
	}
}

// echo switches the protocol and sends back what it gets.
func echo(w http.ResponseWriter, r *http.Request) {
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	defer c.Close()
	io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	io.Copy(c, buffered)
}

// An upgraded connection can be written to, outlives the exchange, and holds no
// slot.
func TestAnUpgrade(t *testing.T) {
	s := serve(t, guard(t, exchange(500*ms)), echo)
	r, _ := http.NewRequest("GET", s.server.URL, nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	answer, err := s.Do(r)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(answer, err)
	}
	both, writes := answer.Body.(io.ReadWriteCloser)
	if !writes || s.guard.Snapshot().InFlight != 0 {
		t.Fatalf("writes: %v, %d in flight", writes, s.guard.Snapshot().InFlight)
	}
	got := make([]byte, 5)
	for began := time.Now(); time.Since(began) < 1200*ms; {
		if _, err := io.WriteString(both, "hello"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(both, got); err != nil || string(got) != "hello" {
			t.Fatalf("%q %v", got, err)
		}
	}
	both.Close()
}
