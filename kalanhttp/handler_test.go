package kalanhttp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
)

// A house is a real server behind a handler.
type house struct {
	*httptest.Server
	handler *kalanhttp.Handler
	guard   *kalan.Guard
}

func admit(t testing.TB, g *kalan.Guard, next http.HandlerFunc) *house {
	t.Helper()
	h := &house{handler: &kalanhttp.Handler{Guard: g, Next: next}, guard: g}
	h.Server = httptest.NewServer(h.handler)
	t.Cleanup(func() {
		h.Client().CloseIdleConnections()
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

func (h *house) get(t testing.TB, headers ...string) (*http.Response, string) {
	t.Helper()
	r := request(t, h.URL+"/")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := h.Client().Do(r)
	if err != nil {
		t.Error(err)
		return &http.Response{}, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer, string(text)
}

// later is get, beside the test.
func (h *house) later(t testing.TB, headers ...string) <-chan int {
	status := make(chan int, 1)
	go func() {
		answer, _ := h.get(t, headers...)
		status <- answer.StatusCode
	}()
	return status
}

func (h *house) idle(t testing.TB) {
	t.Helper()
	until(t, "every slot is back", func() bool { s := h.guard.Snapshot(); return s.InFlight == 0 && s.Waiting == 0 })
}

// blocked is a handler that says when it has begun and waits for the gate.
func blocked(began chan<- struct{}, gate <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		began <- struct{}{}
		<-gate
		io.WriteString(w, "done")
	}
}

func TestRemainingTimeIsRead(t *testing.T) {
	var left time.Duration
	var limited bool
	var hits atomic.Int32
	h := admit(t, admission(t, exchange(0)), func(_ http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		var d time.Time
		d, limited = r.Context().Deadline()
		left = time.Until(d)
	})
	for name, c := range map[string]struct {
		headers []string
		status  int
		left    time.Duration // 0: no deadline
	}{
		"nothing said":    {nil, 200, 0},
		"45 s":            {[]string{"X-Remaining-Ms", "45000"}, 200, 45 * time.Second},
		"Envoy's":         {[]string{"X-Envoy-Expected-Rq-Timeout-Ms", "30000", "X-Remaining-Ms", "45000"}, 200, 30 * time.Second},
		"for ever":        {[]string{"X-Remaining-Ms", "99999999999999999999"}, 200, 0},
		"none":            {[]string{"X-Remaining-Ms", "0"}, 504, 0},
		"a word":          {[]string{"X-Remaining-Ms", "soon"}, 400, 0},
		"a negative one":  {[]string{"X-Remaining-Ms", "-5"}, 400, 0},
		"twice":           {[]string{"X-Remaining-Ms", "5", "X-Remaining-Ms", "5"}, 400, 0},
		"Envoy's, broken": {[]string{"X-Envoy-Expected-Rq-Timeout-Ms", "1s"}, 400, 0},
	} {
		before := hits.Load()
		limited = false
		answer, text := h.get(t, c.headers...)
		if answer.StatusCode != c.status || (hits.Load() > before) != (c.status == 200) {
			t.Errorf("%s: %d after %d hits: %s", name, answer.StatusCode, hits.Load()-before, text)
		}
		if c.status == 200 && (limited != (c.left > 0) || limited && (left > c.left || left < c.left-10*time.Second)) {
			t.Errorf("%s: %v left, limited: %v", name, left, limited)
		}
		if kind := answer.Header.Get("Content-Type"); c.status != 200 && kind != "application/problem+json" {
			t.Errorf("%s: %q %s", name, kind, text)
		}
	}
	h.handler.Promise = 20 * time.Second
	if h.get(t, "X-Remaining-Ms", "45000"); !limited || left > 20*time.Second {
		t.Errorf("a promise of 20 s leaves %v", left)
	}
}

// F8: the guard's own limit is the handler's too.
func TestExchangeIsTheHandlersLimit(t *testing.T) {
	h := admit(t, admission(t, exchange(100*ms)), func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		io.WriteString(w, r.Context().Err().Error())
	})
	if _, text := h.get(t); text != context.DeadlineExceeded.Error() {
		t.Errorf("the handler's context ended with %q", text)
	}
	h.idle(t)
}

// F12, F15: what finds no slot waits a little and is refused, with a time to
// come back in whole seconds.
func TestAFullServerRefuses(t *testing.T) {
	began, gate := make(chan struct{}, 9), make(chan struct{})
	h := admit(t, admission(t, slots(1), checkout(30*ms)), blocked(began, gate))
	first := h.later(t)
	receive(t, "the first request", began)
	answer, text := h.get(t)
	var body struct {
		Type, Reason, Guard string
		Status, RetryAfter  int
	}
	json.Unmarshal([]byte(text), &body)
	after, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if answer.StatusCode != 503 || body.Reason != "waited" || body.Guard != "bridge" || body.Status != 503 || err != nil || after < 2 || after > 5 {
		t.Errorf("%d, Retry-After %q: %s", answer.StatusCode, answer.Header.Get("Retry-After"), text)
	}
	close(gate)
	if status := receive(t, "the first answer", first); status != 200 {
		t.Errorf("the first got %d", status)
	}
	h.idle(t)
}

func TestRefusalsByReason(t *testing.T) {
	rate := admit(t, admission(t, func(c *kalan.Config) { c.Rate = 1 }), func(http.ResponseWriter, *http.Request) {})
	rate.get(t)
	if answer, text := rate.get(t); answer.StatusCode != 429 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("too many: %d %s", answer.StatusCode, text)
	}
	full := admit(t, admission(t, func(c *kalan.Config) { c.Checkout = -1 }, slots(1)), func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	r, cancel := context.WithCancel(t.Context())
	q, _ := http.NewRequestWithContext(r, "GET", full.URL, nil)
	answer, err := full.Client().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	if answer, text := full.get(t); answer.StatusCode != 503 || !strings.Contains(text, `"full"`) {
		t.Errorf("full: %d %s", answer.StatusCode, text)
	}
	cancel()
	answer.Body.Close()
	full.idle(t)
}

// What waited too long for a slot is not begun: its caller has left (F13).
func TestNothingIsBegunForACallerThatLeft(t *testing.T) {
	began, gate := make(chan struct{}, 9), make(chan struct{})
	h := admit(t, admission(t, slots(1), checkout(10*time.Second)), blocked(began, gate))
	first := h.later(t)
	receive(t, "the first request", began)
	late := h.later(t, "X-Remaining-Ms", "50")
	if status := receive(t, "the late one", late); status != 504 {
		t.Errorf("answered %d", status)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		r, _ := http.NewRequestWithContext(ctx, "GET", h.URL, nil)
		_, err := h.Client().Do(r)
		gone <- err
	}()
	until(t, "it waits", func() bool { return h.guard.Snapshot().Waiting == 1 })
	cancel()
	receive(t, "its error", gone)
	until(t, "it has left the room", func() bool { return h.guard.Snapshot().Waiting == 0 })
	close(gate)
	receive(t, "the first answer", first)
	h.idle(t)
	if n := len(began); n != 0 {
		t.Errorf("%d were begun", n)
	}
	if refused := h.guard.Snapshot().Counts.Refused; refused[policy.Gone] != 1 || refused[policy.Expired] != 1 {
		t.Errorf("refused %v", refused)
	}
}

func TestAPanicFreesTheSlot(t *testing.T) {
	h := admit(t, admission(t, slots(1)), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for range 3 {
		if _, err := h.Client().Get(h.URL); err == nil {
			t.Error("the panic was answered")
		}
		h.idle(t)
	}
	if got := h.guard.Snapshot().Counts.Outcomes; got[policy.Ignored] != 3 {
		t.Errorf("counted %v", got)
	}
}

// What the program says of a request may panic too.
func TestAPanicInAQuestionFreesTheSlot(t *testing.T) {
	for name, ask := range map[string]func(*kalanhttp.Handler){
		"Stream":   func(h *kalanhttp.Handler) { h.Stream = func(*http.Request) bool { panic(http.ErrAbortHandler) } },
		"Priority": func(h *kalanhttp.Handler) { h.Priority = func(*http.Request) uint8 { panic(http.ErrAbortHandler) } },
		"Trust":    func(h *kalanhttp.Handler) { h.Trust = func(*http.Request) bool { panic(http.ErrAbortHandler) } },
		"Tenant": func(h *kalanhttp.Handler) {
			h.Tenant = func(*http.Request) (string, uint8) { panic(http.ErrAbortHandler) }
		},
	} {
		h := &kalanhttp.Handler{Guard: admission(t, slots(1)), Next: status(200)}
		ask(h)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("X-Retry-Owner", "edge")
			h.ServeHTTP(httptest.NewRecorder(), r)
		}()
		if n := h.Guard.Snapshot().InFlight; n != 0 {
			t.Errorf("%s: %d in flight", name, n)
		}
	}
}

// 5xx are failures: how quickly they came says nothing of how long work takes.
func TestOutcomes(t *testing.T) {
	h := admit(t, admission(t), status(200, 404, 500, 503))
	for range 4 {
		h.get(t)
	}
	h.idle(t)
	if got := h.guard.Snapshot().Counts.Outcomes; got != count(policy.Success, policy.Success, policy.Failure, policy.Failure) {
		t.Errorf("counted %v", got)
	}
	if answer, _ := h.get(t); answer.StatusCode != 503 || h.guard.Snapshot().Breaker.State != 0 {
		t.Error("a server has a breaker on itself")
	}
}

// O-18: each hop has what is left of the caller's time, and the marks of who
// asked travel on.
func TestWhatIsAskedTravelsOn(t *testing.T) {
	var seen http.Header
	var backend time.Duration
	last := admit(t, admission(t, exchange(0)), func(_ http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		d, _ := r.Context().Deadline()
		backend = time.Until(d)
	})
	last.handler.Trust = func(*http.Request) bool { return true } // or it would not show the mark
	client := &http.Client{Transport: &kalanhttp.Transport{Guard: guard(t, exchange(time.Minute)), Connect: 10 * time.Second}}
	defer client.CloseIdleConnections()
	var ask kalan.Ask
	var mark string
	first := admit(t, admission(t, exchange(0)), func(_ http.ResponseWriter, r *http.Request) {
		ask, mark = kalanhttp.AskOf(r.Context()), r.Header.Get("X-Retry-Owner")
		timer := time.NewTimer(100 * ms) // its own work
		<-timer.C
		r, _ = http.NewRequestWithContext(r.Context(), "GET", last.URL, nil)
		if answer, err := client.Do(r); err == nil {
			answer.Body.Close()
		}
	})
	first.handler.Tenant = func(r *http.Request) (string, uint8) { return r.Header.Get("X-Api-Key"), 3 }
	first.handler.Priority = func(*http.Request) uint8 { return 2 }
	first.get(t, "X-Remaining-Ms", "20000", "X-Api-Key", "gold", "X-Retry-Owner", "stranger")
	if backend > 19900*ms || backend <= 0 {
		t.Errorf("the second hop has %v of 20 s, of which the first used 100", backend)
	}
	if ask.Level != 2 || ask.Weight != 3 || ask.Flow == 0 || ask.Once || seen.Get("X-Retry-Owner") != "kalan" {
		t.Errorf("asked %+v, sent %v", ask, seen)
	}
	if mark != "" {
		t.Errorf("the handler sees the mark %q of a stranger, and may forward it", mark)
	}
	first.handler.Trust = func(*http.Request) bool { return true }
	first.get(t, "X-Retry-Owner", "edge")
	if !ask.Once || seen.Get("X-Retry-Owner") != "edge" {
		t.Errorf("a trusted caller owns the retries: asked %+v, sent %v", ask, seen)
	}
}

func TestAskTravelsInAContext(t *testing.T) {
	ask := kalan.Ask{Level: 2, Flow: 7, Weight: 3, Once: true}
	if got := kalanhttp.AskOf(kalanhttp.WithAsk(t.Context(), ask)); got != ask {
		t.Errorf("%+v", got)
	}
	if got := kalanhttp.AskOf(t.Context()); got != (kalan.Ask{}) {
		t.Errorf("%+v of nobody", got)
	}
	s := serve(t, guard(t), status(503))
	s.send(t, kalanhttp.WithAsk(t.Context(), ask), "GET", "")
	if s.hits.Load() != 1 {
		t.Errorf("another layer owns the retries, and there were %d attempts", s.hits.Load())
	}
}

// Critical requests are served when bulk ones are displaced (F29).
func TestPriority(t *testing.T) {
	began, gate := make(chan struct{}, 9), make(chan struct{})
	h := admit(t, admission(t, slots(1), checkout(5*time.Second), func(c *kalan.Config) { c.Room.Waiting = 1 }), blocked(began, gate))
	h.handler.Priority = func(r *http.Request) uint8 {
		if r.Header.Get("X-Order") != "" {
			return 0
		}
		return 2
	}
	first := h.later(t)
	receive(t, "the first request", began)
	bulk := h.later(t)
	until(t, "the bulk request waits", func() bool { return h.guard.Snapshot().Waiting == 1 })
	order := h.later(t, "X-Order", "1")
	if status := receive(t, "the bulk request", bulk); status != 503 {
		t.Errorf("the bulk request was answered %d", status)
	}
	close(gate)
	receive(t, "the first answer", first)
	if status := receive(t, "the order", order); status != 200 {
		t.Errorf("the order was answered %d", status)
	}
	h.idle(t)
}
