package kalanhttp_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/kalan-go/kalan/drain"
)

// leave begins to take the server out of service, and returns how many requests
// had to be cut.
func leave(ctx context.Context, d *drain.Drain, steps drain.Steps) <-chan int {
	cut := make(chan int, 1)
	go func() {
		n, _ := d.Run(ctx, steps)
		cut <- n
	}()
	return cut
}

func departure(t *testing.T, c drain.Config) *drain.Drain {
	t.Helper()
	d, err := drain.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// F6: while it leaves a server serves on, and asks for connections to be closed.
func TestALeavingServerServesOn(t *testing.T) {
	h := admit(t, admission(t), status(200))
	h.handler.Drain = departure(t, drain.Config{Delay: time.Hour, Finish: -1, Grace: 2 * time.Hour})
	if answer, _ := h.get(t); answer.StatusCode != 200 || answer.Close {
		t.Errorf("ready: %d, closes: %v", answer.StatusCode, answer.Close)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cut := leave(ctx, h.handler.Drain, drain.Steps{})
	until(t, "it leaves", func() bool { return !h.handler.Drain.Ready() })
	if answer, _ := h.get(t); answer.StatusCode != 200 || !answer.Close {
		t.Errorf("leaving: %d, closes: %v", answer.StatusCode, answer.Close)
	}
	cancel()
	if n := receive(t, "the end", cut); n != 0 {
		t.Errorf("%d requests were cut", n)
	}
}

// F6: then it finishes what is in flight, and refuses what comes. A stream is
// told to end.
func TestAFinishingServerRefusesWhatComes(t *testing.T) {
	began, gate, next := make(chan struct{}, 9), make(chan struct{}), make(chan struct{})
	work, stream := blocked(began, gate), events(next)
	h := admit(t, admission(t), func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "" {
			stream(w, r)
			return
		}
		work(w, r)
	})
	h.handler.Drain = departure(t, drain.Config{Delay: -1, Finish: time.Hour, Grace: 2 * time.Hour})
	first, subscribed := h.later(t), h.later(t, "Accept", "text/event-stream")
	receive(t, "the request", began)
	next <- struct{}{} // the stream has begun
	cut := leave(t.Context(), h.handler.Drain, drain.Steps{Finish: func(context.Context) error { return nil }})
	if status := receive(t, "the end of the stream", subscribed); status != 200 {
		t.Errorf("the stream was answered %d", status)
	}
	answer, _ := h.get(t)
	if answer.StatusCode != 503 || !answer.Close || answer.Header.Get("Retry-After") == "" {
		t.Errorf("finishing: %d, closes: %v, %v", answer.StatusCode, answer.Close, answer.Header)
	}
	close(gate)
	if status := receive(t, "the first answer", first); status != 200 {
		t.Errorf("what was in flight was answered %d", status)
	}
	if n := receive(t, "the end", cut); n != 0 {
		t.Errorf("%d requests were cut", n)
	}
	h.idle(t)
}
