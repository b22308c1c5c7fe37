package gateway

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy/retry"
)

// remaining reads the time that an upstream was told.
func remaining(t testing.TB, r http.Header) int {
	ms, err := strconv.Atoi(r.Get("X-Remaining-Ms"))
	if err != nil {
		t.Errorf("X-Remaining-Ms: %q", r["X-Remaining-Ms"])
	}
	return ms
}

func TestRemainingTimeIsSentOn(t *testing.T) {
	seen := make(chan http.Header, 1)
	for name, c := range map[string]struct {
		promise, exchange time.Duration
		headers           []string
		most, least       int
	}{
		"the caller's":            {50 * time.Second, 30 * time.Second, []string{"X-Remaining-Ms: 20000"}, 19_995, 10_000},
		"the route's promise":     {20 * time.Second, 30 * time.Second, []string{"X-Remaining-Ms: 90000"}, 19_995, 10_000},
		"the attempt's own limit": {50 * time.Second, 3 * time.Second, []string{"X-Remaining-Ms: 90000"}, 3000, 3000},
		"what Envoy expects":      {50 * time.Second, 30 * time.Second, []string{"X-Remaining-Ms: 90000", "X-Envoy-Expected-Rq-Timeout-Ms: 20000"}, 19_995, 10_000},
		"nobody's but the file's": {0, 3 * time.Second, nil, 995, 1},
		"no limit but one's own":  {-1, 3 * time.Second, nil, 3000, 3000},
	} {
		file := fileFor(backend(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header }))
		file.Routes[0].Promise, file.Upstreams[0].Exchange = c.promise, c.exchange
		open(t, file).do(t, "GET", "/", "", c.headers...)
		got := receive(t, name, seen)
		if ms := remaining(t, got); ms > c.most || ms < c.least {
			t.Errorf("%s: %d ms, want from %d to %d", name, ms, c.least, c.most)
		}
		if expected := got.Get("X-Envoy-Expected-Rq-Timeout-Ms"); expected != "" && expected != got.Get("X-Remaining-Ms") {
			t.Errorf("%s: Envoy is told %s", name, expected)
		}
	}
}

func TestRemainingTimeMayHaveAnotherNameOrNone(t *testing.T) {
	seen := make(chan http.Header, 1)
	file := fileFor(backend(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header }))
	file.Deadline.Header = "x-deadline-ms"
	open(t, file).do(t, "GET", "/", "", "X-Deadline-Ms: 25000", "X-Remaining-Ms: soon")
	if got := receive(t, "another name", seen); got.Get("X-Remaining-Ms") != "soon" || len(got.Get("X-Deadline-Ms")) != 5 {
		t.Errorf("another name: %v", got)
	}
	file.Deadline.Header = settings.NoHeader
	open(t, file).do(t, "GET", "/", "", "X-Remaining-Ms: soon")
	if got := receive(t, "no name", seen); got.Get("X-Remaining-Ms") != "soon" {
		t.Errorf("no name: %v", got)
	}
}

func TestRemainingTimeShrinksWithEachAttempt(t *testing.T) {
	seen := make(chan http.Header, 2)
	file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	file.Upstreams[0].Retry = retry.Config{Attempts: 2, Base: 50 * time.Millisecond, Jitter: retry.Constant}
	open(t, file).do(t, "GET", "/", "", "X-Remaining-Ms: 20000")
	first, second := remaining(t, receive(t, "the first", seen)), remaining(t, receive(t, "the second", seen))
	if first > 19_995 || second > first-50 {
		t.Errorf("%d ms, then %d ms", first, second)
	}
}

// TestTheSecondHopHasWhatTheFirstLeft is O-18 with two gateways: the first
// spends 300 ms, the second has a limit of its own that is larger.
func TestTheSecondHopHasWhatTheFirstLeft(t *testing.T) {
	told, left := make(chan int, 1), make(chan time.Time, 1)
	last := backend(t, func(_ http.ResponseWriter, r *http.Request) {
		told <- remaining(t, r.Header)
		<-r.Context().Done()
		left <- time.Now()
	})
	file := fileFor(last)
	file.Upstreams[0].Cancels = true
	second := open(t, file)

	spent := make(chan struct{})
	file = fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		<-spent // 300 ms of the caller's time go by in the first hop
		out, _ := http.NewRequestWithContext(r.Context(), "GET", second.url("/"), nil)
		out.Header.Set("X-Remaining-Ms", strconv.Itoa(remaining(t, r.Header)-300))
		a, err := second.client.Do(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer a.Body.Close()
		w.WriteHeader(a.StatusCode)
	}))
	first := open(t, file)

	begin := time.Now()
	time.AfterFunc(300*time.Millisecond, func() { close(spent) })
	got := first.do(t, "GET", "/", "", "X-Remaining-Ms: 1500")
	if ms := receive(t, "what the last is told", told); ms > 1200 {
		t.Errorf("the last hop was told %d ms", ms)
	}
	if ended := receive(t, "its caller leaves", left); ended.Sub(begin) > patience {
		t.Errorf("the last hop worked for %v", ended.Sub(begin))
	}
	if got.StatusCode != 504 || got.took < 1400*time.Millisecond || got.took > patience {
		t.Errorf("%d after %v", got.StatusCode, got.took)
	}
}

// TestTheCallerIsAnsweredAtItsDeadline, whatever the upstream does.
func TestTheCallerIsAnsweredAtItsDeadline(t *testing.T) {
	release := make(chan struct{})
	file := fileFor(backend(t, func(http.ResponseWriter, *http.Request) { <-release }))
	defer close(release)
	h := open(t, file)
	for _, method := range []string{"GET", "POST"} {
		got := h.do(t, method, "/", "", "X-Remaining-Ms: 200")
		if p := got.problem(t); got.StatusCode != 504 || p.Reason != "expired" || got.took < 195*time.Millisecond || got.took > patience {
			t.Errorf("%s: %d %s after %v", method, got.StatusCode, got.body, got.took)
		}
	}
	file.Upstreams[0].Exchange, file.Upstreams[0].Retry.Attempts = 200*time.Millisecond, 1
	got := open(t, file).do(t, "GET", "/", "")
	if p := got.problem(t); got.StatusCode != 504 || p.Reason != "timeout" || got.took > patience {
		t.Errorf("the attempt's limit: %d %s after %v", got.StatusCode, got.body, got.took)
	}
}

// TestAStartedBodyIsAbortedAtItsDeadline, never ended cleanly: at the caller's
// deadline, and at the exchange's limit, which is the upstream's failure.
func TestAStartedBodyIsAbortedAtItsDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		framing, remaining string
		exchange           time.Duration
		outcome            string
	}{
		"a known length":      {"Content-Length: 100\r\n\r\nabc", "500", time.Minute, "cut"},
		"an unknown one":      {"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "500", time.Minute, "cut"},
		"the attempt's limit": {"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "50000", 500 * time.Millisecond, "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			file := fileFor(backend(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, _ := w.(http.Hijacker).Hijack()
				defer conn.Close()
				io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+c.framing)
				<-release
			}))
			file.Upstreams[0].Exchange = c.exchange
			h := open(t, file)
			begin := time.Now()
			r, _ := http.NewRequest("GET", h.url("/"), nil)
			r.Header.Set("X-Remaining-Ms", c.remaining)
			a, err := h.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			got, err := io.ReadAll(a.Body)
			if took := time.Since(begin); err == nil || string(got) != "abc" || took < 490*time.Millisecond || took > patience {
				t.Errorf("%q, %v after %v", got, err, took)
			}
			until(t, "the guard hears", func() bool { return outcomes(h)[c.outcome] == 1 })
		})
	}
}

// TestASlowSenderIsLimited: the time of a request includes that of its body.
func TestASlowSenderIsLimited(t *testing.T) {
	t.Parallel()
	h := open(t, fileFor(backend(t, echo)))
	for name, head := range map[string]string{
		"a small body":   "Content-Length: 10\r\n\r\nhello",
		"a large body":   "Content-Length: 1000000\r\n\r\nhello",
		"an unknown one": "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
	} {
		begin := time.Now()
		got, _ := h.raw(t, "POST / HTTP/1.1\r\nHost: a\r\nX-Remaining-Ms: 200\r\n"+head)
		if took := time.Since(begin); !strings.HasPrefix(got, "HTTP/1.1 504 ") || took < 190*time.Millisecond || took > patience {
			t.Errorf("%s: %.100q after %v", name, got, took)
		}
	}
	until(t, "slots come free", func() bool { return h.upstreams[0].guard.Snapshot().InFlight == 0 })
}
