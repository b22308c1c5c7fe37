package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
)

// probe asks the admin listener, on a connection of its own.
func (h *house) probe(t testing.TB, path string) (int, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	a, err := c.Get("http://" + h.AdminAddr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, read(t, a)
}

// counts waits until all the lines are among the metrics, and returns these: a
// client may have its answer before the gateway has counted it.
func (h *house) counts(t testing.TB, lines ...string) (text string) {
	t.Helper()
	missing := lines
	defer func() {
		for _, line := range missing {
			name, _, _ := strings.Cut(line, "{")
			t.Logf("%s is missing among\n%s", line, strings.Join(regexp.MustCompile(`(?m)^`+strings.Fields(name)[0]+`[{ ].*$`).FindAllString(text, -1), "\n"))
		}
	}()
	until(t, "the metrics", func() bool {
		_, text = h.probe(t, "/metrics")
		missing = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(text, "\n"+line+"\n") })
		return len(missing) == 0
	})
	return text
}

// fresh sends one request on a connection of its own.
func (h *house) fresh() (int, error) {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	a, err := c.Get(h.url("/"))
	if err != nil {
		return 0, err
	}
	a.Body.Close()
	return a.StatusCode, nil
}

// TestTheListenerStaysOpenUntilTheBalancerHasNoticed is O-34, with a delay of
// two seconds for its ten.
func TestTheListenerStaysOpenUntilTheBalancerHasNoticed(t *testing.T) {
	t.Parallel()
	const delay = 2 * time.Second
	file := fileFor(backend(t, answers("ok")))
	file.Drain = settings.Drain{Delay: delay, Finish: 5 * time.Second}
	h := open(t, file)
	if status, _ := h.probe(t, "/readyz"); status != 200 {
		t.Errorf("before the signal: %d", status)
	}
	begin := time.Now()
	h.signals <- syscall.SIGTERM
	until(t, "readiness says no", func() bool { status, _ := h.probe(t, "/readyz"); return status == 503 })
	if took := time.Since(begin); took > delay {
		t.Errorf("readiness said no after %v", took)
	}
	served, ticker := 0, time.NewTicker(delay/100)
	defer ticker.Stop()
	var closed time.Duration
	for closed == 0 {
		<-ticker.C
		before := time.Since(begin)
		status, err := h.fresh()
		switch after := time.Since(begin); {
		case err == nil && status == 200:
			served++
		case after > delay-delay/50:
			closed = before
		default:
			t.Fatalf("at %v of %v: %d, %v", after, delay, status, err)
		}
		if before < delay/2 {
			if status, _ := h.probe(t, "/livez"); status != 200 {
				t.Errorf("liveness: %d", status)
			}
		}
	}
	if closed > delay+patience || served < 5 {
		t.Errorf("closed after %v, %d requests were served", closed, served)
	}
	if status := receive(t, "it leaves", h.status); status != 0 {
		t.Errorf("status %d", status)
	}
}

// TestWorkInFlightIsFinished: and connections are told that they end.
func TestWorkInFlightIsFinished(t *testing.T) {
	arrived, finish := make(chan struct{}), make(chan struct{})
	file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(arrived)
			<-finish
		}
		io.WriteString(w, "done")
	}))
	file.Routes[0].Promise, file.Upstreams[0].Exchange = patience, patience
	h := open(t, file)
	answer := make(chan answered, 1)
	go func() { answer <- h.do(t, "GET", "/slow", "") }()
	receive(t, "the request", arrived)
	h.signals <- syscall.SIGTERM
	until(t, "the listener closes", func() bool {
		c, err := net.Dial("tcp", h.Addr().String())
		if err == nil {
			c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	if status, _ := h.probe(t, "/livez"); status != 200 {
		t.Errorf("liveness: %d", status)
	}
	close(finish)
	if a := receive(t, "the answer", answer); a.body != "done" || !a.Close {
		t.Errorf("%q, the connection ends: %v", a.body, a.Close)
	}
	if status := receive(t, "it leaves", h.status); status != 0 {
		t.Errorf("status %d", status)
	}
}

func TestConnectionsAreToldDuringTheDelay(t *testing.T) {
	file := fileFor(backend(t, answers("ok")))
	file.Drain.Delay = 2 * patience
	h := open(t, file)
	if a := h.do(t, "GET", "/", ""); a.Close {
		t.Error("a connection ends before the signal")
	}
	h.signals <- syscall.SIGTERM
	until(t, "readiness says no", func() bool { status, _ := h.probe(t, "/readyz"); return status == 503 })
	if a := h.do(t, "GET", "/", ""); !a.Close || a.body != "ok" {
		t.Errorf("%q, the connection ends: %v", a.body, a.Close)
	}
	// A caller has its answer a moment before the gateway is done with it.
	until(t, "nothing is in flight", func() bool { return h.inflight.Load() == 0 })
	if status := h.press(t); status != 0 {
		t.Errorf("status %d", status)
	}
}

// press is somebody who presses Ctrl-C until the gateway is gone.
func (h *house) press(t testing.TB) (status int) {
	t.Helper()
	until(t, "it leaves", func() bool {
		select {
		case h.signals <- syscall.SIGTERM:
		default:
		}
		select {
		case status = <-h.status:
			return true
		default:
			return false
		}
	})
	return status
}

// TestOneSignalMayComeTwice: within a millisecond, and that is not somebody who
// presses again.
func TestOneSignalMayComeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals, began := make(chan os.Signal, 2), time.Now()
		for _, after := range []time.Duration{0, time.Millisecond, apart - 1, apart} {
			time.AfterFunc(after, func() { signals <- syscall.SIGTERM })
		}
		if s := secondSignal(t.Context(), signals); s != syscall.SIGTERM || time.Since(began) != apart {
			t.Errorf("%v after %v, want the one after %v", s, time.Since(began), apart)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		signals <- syscall.SIGTERM
		if s := secondSignal(ctx, signals); s != nil {
			t.Errorf("the first one once more was %v", s)
		}
	})
}

// TestWorkThatDoesNotFinishIsCut: by the limit, or by a second signal, and
// said in the status.
func TestWorkThatDoesNotFinishIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		finish time.Duration
		leave  func(testing.TB, *house) int
	}{
		"the limit": {300 * time.Millisecond, func(t testing.TB, h *house) int {
			h.signals <- syscall.SIGTERM
			return receive(t, "it leaves", h.status)
		}},
		"a second signal": {2 * patience, func(t testing.TB, h *house) int { return h.press(t) }},
	} {
		t.Run(name, func(t *testing.T) {
			var once sync.Once
			arrived := make(chan struct{})
			file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
				once.Do(func() { close(arrived) })
				<-r.Context().Done()
			}))
			file.Drain.Finish = c.finish
			file.Upstreams[0].Exchange, file.Routes[0].Promise, file.Upstreams[0].Cancels = time.Minute, time.Minute, true
			h := open(t, file)
			failed := make(chan error, 1)
			go func() {
				_, err := h.client.Get(h.url("/"))
				failed <- err
			}()
			receive(t, "the request", arrived)
			if status := c.leave(t, h); status != 1 {
				t.Errorf("status %d", status)
			}
			if err := receive(t, "the client sees it", failed); err == nil {
				t.Error("the request was answered")
			}
		})
	}
}

// TestSignalsReachTheProcess: Run listens to the real ones.
func TestSignalsReachTheProcess(t *testing.T) {
	log := &journal{}
	g, err := New(fileFor(closedAddress(t)), logTo(log))
	if err != nil {
		t.Fatal(err)
	}
	status := make(chan int, 1)
	go func() { status <- g.Run(t.Context()) }()
	until(t, "it serves", func() bool {
		c, err := net.Dial("tcp", g.Addr().String())
		if err != nil {
			return false
		}
		defer c.Close()
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		all, _ := io.ReadAll(c)
		return strings.HasPrefix(string(all), "HTTP/1.1 502 ")
	})
	syscall.Kill(os.Getpid(), syscall.SIGHUP)
	until(t, "a hangup is told of", func() bool { return strings.Contains(log.String(), "hangup") })
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	if got := receive(t, "it leaves", status); got != 0 {
		t.Errorf("status %d", got)
	}
}

func TestATakenAddressIsSaidBeforeAnythingIsServed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file := fileFor("http://127.0.0.1:1")
	file.Admin = l.Addr().String()
	if _, err := New(file, logTo(&journal{})); !errors.Is(err, syscall.EADDRINUSE) || !strings.HasPrefix(err.Error(), "admin: ") {
		t.Errorf("%v", err)
	}
}

// TestProbesAnswerUnderLoad is O-36: with every slot and worker taken.
func TestProbesAnswerUnderLoad(t *testing.T) {
	h, release := twoBridges(t, 2, settings.DefencesOff)
	defer close(release)
	var served atomic.Int32
	for range 10 {
		go func() {
			if a, err := h.client.Get(h.url("/sick/")); err == nil {
				a.Body.Close()
				served.Add(1)
			}
		}()
	}
	until(t, "everything is taken", func() bool { return h.workers.waiting.Load() == 8 })
	before := h.upstreams[0].guard.Snapshot().Counts.Calls
	took := make([]time.Duration, 60)
	for i := range took {
		begin := time.Now()
		if status, _ := h.probe(t, "/livez"); status != 200 {
			t.Errorf("%d after %v", status, time.Since(begin))
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	if median := took[30]; median > 500*time.Millisecond { // a machine may stand still during some of them
		t.Errorf("half of the probes took %v and more", median)
	}
	if s := h.upstreams[0].guard.Snapshot(); s.InFlight != 2 || s.Counts.Calls != before || h.workers.waiting.Load() != 8 {
		t.Errorf("the probes changed something: %d in flight, %d calls", s.InFlight, s.Counts.Calls)
	}
}

func TestTheCollectorIsTunedUnlessTheEnvironmentSays(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "100")
	tune(logTo(&journal{}))
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GOGC of the environment became %d", got)
	}
	os.Unsetenv("GOGC")
	tune(logTo(&journal{}))
	if got := debug.SetGCPercent(100); got != lazily {
		t.Errorf("GOGC is %d", got)
	}
}

// wallClock is how code gets at a time that somebody can set.
var wallClock = regexp.MustCompile(`\.(Unix|UnixMilli|UnixMicro|UnixNano|Local|UTC|Date)\(|\.(Round|Truncate)\(0\)|time\.(Date|Parse|Unix)\b`)

// TestNothingGoesByTheWallClock is the third part of O-12: what is measured
// here is measured between two readings of time.Now that keep their monotonic
// part, so that a step of the wall clock changes no wait.
func TestNothingGoesByTheWallClock(t *testing.T) {
	files, _ := filepath.Glob("*.go")
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := wallClock.Find(text); found != nil {
			t.Errorf("%s uses %s: a wait that goes by the wall clock ends when somebody sets it (O-12)", name, found)
		}
	}
	for _, bad := range []string{"t.Unix()", "time.Now().Round(0)", "time.Date("} {
		if !wallClock.MatchString(bad) {
			t.Errorf("the rule does not see %s", bad)
		}
	}
}
