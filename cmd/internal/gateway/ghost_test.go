package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
)

// idle reports whether the first upstream's slots are free.
func (h *house) idle() bool { return h.upstreams[0].guard.Snapshot().InFlight == 0 }

// TestASlotIsTheUpstreamsUntilItHasFinished: the caller leaves, the exchange
// runs on without it.
func TestASlotIsTheUpstreamsUntilItHasFinished(t *testing.T) {
	for name, c := range map[string]struct {
		cancels bool
		outcome string
	}{
		"an upstream that works on": {false, "success"},
		"an upstream that cancels":  {true, "cut"},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, finish := make(chan struct{}), make(chan struct{})
			var left atomic.Bool
			file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
				close(arrived)
				select {
				case <-finish:
				case <-r.Context().Done():
					left.Store(true)
				}
				io.WriteString(w, "done")
			}))
			file.Upstreams[0].Cancels = c.cancels
			file.Upstreams[0].Exchange = patience
			h := open(t, file)
			ctx, leave := context.WithCancel(t.Context())
			r, _ := http.NewRequestWithContext(ctx, "GET", h.url("/"), nil)
			answer := make(chan error, 1)
			go func() {
				_, err := h.client.Do(r)
				answer <- err
			}()
			receive(t, "the request", arrived)
			leave()
			receive(t, "the caller has left", answer)
			until(t, "the gateway notices", func() bool { return h.inflight.Load() == 0 })
			if !c.cancels && (h.idle() || left.Load()) {
				t.Error("the exchange ended with its caller")
			}
			if c.cancels {
				until(t, "the upstream is told", left.Load)
			}
			close(finish)
			until(t, "the slot comes free", h.idle)
			if got := outcomes(h); got[c.outcome] != 1 || got["failure"] != 0 {
				t.Errorf("the guard heard %v", got)
			}
			until(t, "it is logged", func() bool { return len(h.log.requests(t)) == 1 })
			if line := h.log.requests(t)[0]; line["status"] != 499. || line["reason"] != "gone" {
				t.Errorf("%v", line)
			}
		})
	}
}

// TestACallerWhoGoesWhileTheUpstreamPausesStopsIt: nothing is written that could
// tell, and nothing comes that could be written.
func TestACallerWhoGoesWhileTheUpstreamPausesStopsIt(t *testing.T) {
	stopped := make(chan struct{})
	file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "one")
		w.(http.Flusher).Flush()
		<-r.Context().Done() // and no more
		close(stopped)
	}))
	file.Upstreams[0].Cancels = true
	file.Upstreams[0].Exchange, file.Routes[0].Promise = time.Hour, time.Hour
	h := open(t, file)
	a, err := h.client.Get(h.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(a.Body, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	receive(t, "the upstream is told", stopped)
	until(t, "the slot is free", h.idle)
	until(t, "the access log", func() bool { return strings.Contains(h.log.String(), `"outcome":"gone"`) })
	if outcomes(h)["failure"] != 0 {
		t.Errorf("it is counted as %v", outcomes(h))
	}
}

// TestAGhostIsPresumedDead: an upstream that never finishes keeps its slot
// until its bound.
func TestAGhostIsPresumedDead(t *testing.T) {
	if testing.Short() {
		t.Skip("two seconds of real time: left out of -short")
	}
	t.Parallel()
	file := fileFor(backend(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	file.Upstreams[0].Exchange = 2 * time.Second
	h := open(t, file)
	begin := time.Now()
	if got := h.do(t, "GET", "/", "", "X-Remaining-Ms: 100"); got.StatusCode != 504 || h.idle() {
		t.Errorf("%d, idle %v", got.StatusCode, h.idle())
	}
	until(t, "the ghost is given up", h.idle)
	if held := time.Since(begin); held < 1900*time.Millisecond || held > patience {
		t.Errorf("the slot was held for %v", held)
	}
}

// TestCancellationsNeverOpenTheBreaker is O-07 at the gateway: callers that
// leave, before an answer and in the middle of sending.
func TestCancellationsNeverOpenTheBreaker(t *testing.T) {
	finish := make(chan struct{})
	arrived := make(chan struct{}, 200)
	file := fileFor(backend(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		io.Copy(io.Discard, r.Body)
		<-finish
	}))
	file.Upstreams[0].Limit = limit.Fixed(200)
	file.Upstreams[0].Breaker.Calls = 5
	file.Upstreams[0].Breaker.Slow = time.Minute
	file.Upstreams[0].Exchange = 2 * time.Minute
	file.Routes[0].Promise = 2 * time.Minute
	h := open(t, file)
	for i := range 100 {
		c, err := net.Dial("tcp", h.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		text := "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
		if i%2 == 0 {
			text = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nhello" // and no more
		}
		io.WriteString(c, text)
		receive(t, "the upstream is asked", arrived)
		c.Close()
	}
	until(t, "everybody has left", func() bool { return h.inflight.Load() == 0 })
	close(finish)
	until(t, "slots come free", h.idle)
	s := h.upstreams[0].guard.Snapshot()
	if s.Breaker.State != breaker.Closed || outcomes(h)["failure"] != 0 || s.Counts.Started != 100 {
		t.Errorf("%v, outcomes %v of %d", s.Breaker.State, outcomes(h), s.Counts.Started)
	}
	if got := h.do(t, "GET", "/", ""); got.StatusCode != 200 {
		t.Errorf("the next caller gets %d", got.StatusCode)
	}
}

// TestAnUploadCannotOutliveItsCaller: an exchange whose request is still
// arriving is aborted with it, and its slot comes free.
func TestAnUploadCannotOutliveItsCaller(t *testing.T) {
	ended := make(chan error, 1)
	file := fileFor(backend(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	}))
	file.Upstreams[0].Exchange = 30 * time.Second
	h := open(t, file)
	got, _ := h.raw(t, "PUT / HTTP/1.1\r\nHost: a\r\nX-Remaining-Ms: 200\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 504 ") {
		t.Errorf("%q", got)
	}
	if err := receive(t, "the upstream notices", ended); err == nil {
		t.Error("the upstream took the upload for complete")
	}
	until(t, "the slot comes free", h.idle)
	if got := outcomes(h); got["failure"] != 0 {
		t.Errorf("the guard heard %v", got)
	}
}

// TestEveryWayOutFreesTheSlot is O-03 (d): all paths on which a body is
// closed, many times over, and then as many at once as there are slots.
func TestEveryWayOutFreesTheSlot(t *testing.T) {
	t.Parallel()
	ways := map[string]http.HandlerFunc{
		"/whole":    answers("whole"),
		"/empty":    func(http.ResponseWriter, *http.Request) {},
		"/broken":   broken("Content-Length: 100\r\n\r\nchunk"),
		"/chunk":    broken("Transfer-Encoding: chunked\r\n\r\n5\r\nchunk\r\n"),
		"/reset":    reset,
		"/not-http": notHTTP,
		"/503":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"/late":     func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/drip": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "d")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"/large": answers(strings.Repeat("x", 1<<20)),
		"/head":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
	}
	file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) { ways[r.URL.Path](w, r) }))
	quickRetries(&file.Upstreams[0])
	file.Upstreams[0].Limit = limit.Fixed(5)
	file.Upstreams[0].Exchange = 50 * time.Millisecond
	file.Upstreams[0].Breaker.Mode = breaker.Disabled
	h := open(t, file)
	for range 8 {
		for path := range ways {
			for _, method := range []string{"GET", "POST"} {
				r, _ := http.NewRequest(method, h.url(path), nil)
				if a, err := h.client.Do(r); err == nil {
					io.CopyN(io.Discard, a.Body, 1000) // and the rest not always
					a.Body.Close()
				}
			}
		}
	}
	until(t, "slots come free", h.idle)
	s := h.upstreams[0].guard.Snapshot()
	if total := s.Counts.Outcomes[0] + s.Counts.Outcomes[1] + s.Counts.Outcomes[2] + s.Counts.Outcomes[3]; total != s.Counts.Started || s.Waiting != 0 {
		t.Errorf("%d started, %d ended, %d wait", s.Counts.Started, total, s.Waiting)
	}
	for range 5 { // an attempt may find its 50 ms over before it has begun
		until(t, "a slot is given", func() bool { return h.do(t, "GET", "/whole", "").StatusCode == 200 })
	}
}

// TestASlowReaderIsLimited: a client that does not read holds a slot no longer
// than its time.
func TestASlowReaderIsLimited(t *testing.T) {
	t.Parallel()
	file := fileFor(backend(t, answers(strings.Repeat("x", 32<<20))))
	h := open(t, file)
	c, err := net.Dial("tcp", h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nX-Remaining-Ms: 300\r\n\r\n")
	until(t, "the request is there", func() bool { return h.upstreams[0].guard.Snapshot().Counts.Started == 1 })
	until(t, "the request is over", func() bool { return h.inflight.Load() == 0 && h.idle() })
}
