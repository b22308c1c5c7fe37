package gateway

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

// counting is an upstream that counts what reaches it.
func counting(t testing.TB, hits *atomic.Int32, h http.HandlerFunc) string {
	return backend(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		h(w, r)
	})
}

func TestRefusedBeforeTheUpstreamHears(t *testing.T) {
	var hits atomic.Int32
	address := counting(t, &hits, answers("ok"))
	file := fileFor(address)
	file.Routes = []settings.Route{
		{Match: settings.Match{Prefix: "/prices/"}, Upstream: "bridge"},
		{Match: settings.Match{Method: "POST", Prefix: "/orders/"}, Upstream: "bridge", IdempotencyKey: "required"},
	}
	h := open(t, file)
	for name, c := range map[string]struct {
		method, path string
		headers      []string
		status       int
	}{
		"no route":             {"GET", "/admin", nil, 404},
		"another method":       {"GET", "/orders/7", nil, 405},
		"another route's path": {"GET", "/prices/..%2forders/7", nil, 400},
		"above the root":       {"GET", "/prices/../../x", nil, 400},
		"no key":               {"POST", "/orders/7", nil, 400},
		"an empty key":         {"POST", "/orders/7", []string{"Idempotency-Key: "}, 400},
		"two keys":             {"POST", "/orders/7", []string{"Idempotency-Key: a", "Idempotency-Key: b"}, 400},
		"a key that ends here": {"POST", "/orders/7", []string{"Idempotency-Key: a", "Connection: close, IDEMPOTENCY-KEY"}, 400},
		"gRPC":                 {"POST", "/prices/7", []string{"Content-Type: application/grpc+proto"}, 501},
		"an upgrade":           {"GET", "/prices/7", []string{"Connection: Upgrade", "Upgrade: websocket"}, 501},
		"a word for a time":    {"GET", "/prices/7", []string{"X-Remaining-Ms: soon"}, 400},
		"a negative time":      {"GET", "/prices/7", []string{"X-Remaining-Ms: -5"}, 400},
		"a broken time":        {"GET", "/prices/7", []string{"X-Remaining-Ms: 1.5"}, 400},
		"no time said":         {"GET", "/prices/7", []string{"X-Remaining-Ms: "}, 400},
		"two times":            {"GET", "/prices/7", []string{"X-Remaining-Ms: 450", "X-Remaining-Ms: 450"}, 400},
		"two times in one":     {"GET", "/prices/7", []string{"X-Remaining-Ms: 450, 450"}, 400},
		"Envoy's, malformed":   {"GET", "/prices/7", []string{"X-Envoy-Expected-Rq-Timeout-Ms: 1s"}, 400},
		"no time":              {"GET", "/prices/7", []string{"X-Remaining-Ms: 0"}, 504},
		"the margin":           {"GET", "/prices/7", []string{"X-Remaining-Ms: 5"}, 504},
		"no time, says Envoy":  {"GET", "/prices/7", []string{"X-Remaining-Ms: 450", "X-Envoy-Expected-Rq-Timeout-Ms: 0"}, 504},
	} {
		got := h.do(t, c.method, c.path, "", c.headers...)
		if p := got.problem(t); got.StatusCode != c.status || p.Detail == "" && p.Reason == "" {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
		if got.StatusCode == 405 && got.Header.Get("Allow") != "POST" {
			t.Errorf("%s: allowed is %q", name, got.Header.Get("Allow"))
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the upstream was asked %d times", n)
	}
	for _, headers := range [][]string{{"X-Remaining-Ms: 99999999999999999999"}, {"Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c"}, {"Content-Type: application/grpc-web"}} {
		if got := h.do(t, "GET", "/prices/7", "", headers...); got.StatusCode != 200 {
			t.Errorf("%v: %d %s", headers, got.StatusCode, got.body)
		}
	}
}

// TestProblemsAreSpelledOut holds the exact form of a refusal (RFC 9457).
func TestProblemsAreSpelledOut(t *testing.T) {
	file := fileFor(closedAddress(t))
	file.Upstreams[0].Breaker.Calls = 1
	file.Upstreams[0].Breaker.Open = time.Minute
	file.Upstreams[0].Retry.Attempts = 1
	h := open(t, file)
	first := h.do(t, "GET", "/", "")
	if p := first.problem(t); first.StatusCode != 502 || p.Type != "about:blank" || p.Title != "Bad Gateway" || p.Guard != "bridge" || strings.Contains(first.body, "127.0.0.1") {
		t.Errorf("not reachable: %d %s", first.StatusCode, first.body)
	}
	until(t, "the breaker opens", func() bool { return h.do(t, "GET", "/", "").StatusCode == 503 })
	got := h.do(t, "GET", "/", "")
	after, err := strconv.Atoi(got.Header.Get("Retry-After"))
	if got.StatusCode != 503 || err != nil || after < 50 || after > 90 {
		t.Errorf("open: %d, Retry-After %q", got.StatusCode, got.Header.Get("Retry-After"))
	}
	want := map[string]any{"type": "urn:kalan:reason:open", "title": "circuit breaker is open", "status": 503., "reason": "open", "guard": "bridge", "retry_after": float64(after)}
	var body map[string]any
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || !reflect.DeepEqual(body, want) {
		t.Errorf("%s", got.body)
	}
	if got.took > patience {
		t.Errorf("a refusal took %v", got.took)
	}
}

// TestEveryReasonHasAStatus: those that are never answers by themselves too.
func TestEveryReasonHasAStatus(t *testing.T) {
	x := &exchange{}
	for why := range policy.Reasons {
		p := x.refusal("bridge", policy.Reason(why), 0, nil)
		if p.Status < 400 {
			t.Errorf("%v: %d", policy.Reason(why), p.Status)
		}
		if refuses := p.Status == 503 || p.Status == 429; refuses != (p.RetryAfter > 0) {
			t.Errorf("%v: %d, back in %d s", policy.Reason(why), p.Status, p.RetryAfter)
		}
	}
}

// TestAFullUpstreamRefuses drives the guard's own refusals through the gateway.
func TestAFullUpstreamRefuses(t *testing.T) {
	stuck, release := make(chan struct{}, 8), make(chan struct{})
	file := fileFor(backend(t, func(http.ResponseWriter, *http.Request) {
		stuck <- struct{}{}
		<-release
	}))
	defer close(release)
	file.Upstreams[0].Limit = limit.Fixed(1)
	file.Upstreams[0].Checkout = 30 * time.Millisecond
	h := open(t, file)
	go h.client.Get(h.url("/"))
	receive(t, "the first request", stuck)
	got := h.do(t, "GET", "/", "")
	if p := got.problem(t); got.StatusCode != 503 || p.Reason != "waited" || got.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

// TestRefusedBodiesAreNotReadForEver: the answer to a request whose body
// nobody wants comes at once, and a large body ends the connection.
func TestRefusedBodiesAreNotReadForEver(t *testing.T) {
	t.Parallel()
	h := open(t, fileFor(backend(t, answers("ok"))))
	for name, c := range map[string]struct {
		text   string
		closes bool
	}{
		"a large one":    {"POST / HTTP/1.1\r\nHost: a\r\nX-Remaining-Ms: x\r\nContent-Length: 1000000\r\n\r\nhello", true},
		"an endless one": {"POST / HTTP/1.1\r\nHost: a\r\nX-Remaining-Ms: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", true},
		"a stalled one":  {"POST / HTTP/1.1\r\nHost: a\r\nX-Remaining-Ms: x\r\nContent-Length: 9\r\n\r\nhello", true},
		"a small one":    {"POST / HTTP/1.1\r\nHost: a\r\nX-Remaining-Ms: x\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false},
	} {
		begin := time.Now()
		got, _ := h.raw(t, c.text)
		head, rest, _ := strings.Cut(got, "\r\n\r\n")
		if !strings.HasPrefix(head, "HTTP/1.1 400 ") || strings.Contains(head, "Connection: close") != c.closes || time.Since(begin) > patience {
			t.Errorf("%s: %q after %v", name, got, time.Since(begin))
		}
		if !c.closes && !strings.HasSuffix(rest, "\r\n\r\nok") {
			t.Errorf("%s: the connection was not kept: %q", name, got)
		}
	}
}

func TestAPanicIsAnswered(t *testing.T) {
	h := open(t, fileFor(backend(t, answers("ok"))))
	h.routes = nil // makes the handler panic
	got := h.do(t, "GET", "/", "")
	if got.StatusCode != 500 || got.problem(t).Detail == "" || !strings.Contains(h.log.String(), "panic while serving") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestTheProtocolsToComeAreRefused(t *testing.T) {
	h := open(t, fileFor(backend(t, answers("ok"))))
	for _, text := range []string{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"} {
		got, _ := h.raw(t, text)
		if !strings.Contains(got, " 501 Not Implemented\r\n") || !strings.Contains(got, "application/problem+json") {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got, _ := h.raw(t, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
		t.Errorf("%q", got)
	}
}

func TestAnEmptyFileIsRefused(t *testing.T) {
	if _, err := New(settings.File{}, logTo(&journal{})); err == nil || !strings.Contains(err.Error(), "upstreams") {
		t.Errorf("an empty file: %v", err)
	}
}
