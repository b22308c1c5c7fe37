package gateway

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/throttle"
)

// TestAnUpstreamThatRefusesIsThrottled: of an upstream that answers 503 fewer and
// fewer requests are asked for; the others are told the reason and when to come
// back, and its breaker, which has heard of answers, stays closed.
func TestAnUpstreamThatRefusesIsThrottled(t *testing.T) {
	var asked atomic.Int64
	file := fileFor(backend(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	u := &file.Upstreams[0]
	u.Throttle, u.Retry, u.Breaker.Calls = &throttle.Config{Floor: -1}, retry.Config{Attempts: 1}, 2
	h := open(t, file)
	throttled := 0
	for range 40 { // all of them are sent once in 40!
		got := h.do(t, "GET", "/", "")
		if got.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		if got.Header.Get("Content-Type") != "application/problem+json" {
			continue // the upstream's own
		}
		throttled++
		if after, _ := strconv.Atoi(got.Header.Get("Retry-After")); got.problem(t).Reason != "throttled" || after < 1 || after > 10 {
			t.Fatalf("%s, back in %d s", got.body, after)
		}
	}
	if sent := int(asked.Load()); throttled == 0 || sent+throttled != 40 {
		t.Errorf("%d asked for and %d throttled, want 40 together", sent, throttled)
	}
}
