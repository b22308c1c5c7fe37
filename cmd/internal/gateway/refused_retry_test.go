package gateway

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy/limit"
)

// TestARefusedRetryIsAnsweredWithTheAttempt: a caller whose attempt has failed
// learns how, and not that a repetition found the breaker open or no slot.
func TestARefusedRetryIsAnsweredWithTheAttempt(t *testing.T) {
	trips := func(u *settings.Upstream) { u.Breaker.Calls = 2 }
	for name, c := range map[string]struct {
		h      http.HandlerFunc
		change func(*settings.Upstream)
		status int
		says   string // in the answer
		logged string // in the access log
	}{
		"unanswered, no slot": {hangs, func(u *settings.Upstream) { u.Limit, u.Checkout = limit.Fixed(1), -1 }, 504, `"reason":"timeout"`, "places are taken"},
		"unanswered, waited":  {hangs, func(u *settings.Upstream) { u.Limit, u.Checkout = limit.Fixed(1), 10*time.Millisecond }, 504, `"reason":"timeout"`, "no slot came free"},
		"reset, open":         {reset, trips, 502, "broke off", "breaker is open"},
		"503, open":           {unavailable, trips, 503, "the upstream answered 503", "breaker is open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for a second or three
			var hits atomic.Int32
			file := fileFor(counting(t, &hits, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/usual" {
					c.h(w, r)
					return
				}
				select {
				case <-r.Context().Done():
				case <-time.After(time.Second):
				}
			}))
			quickRetries(&file.Upstreams[0])
			file.Routes[0].Promise = 20 * time.Second
			file.Upstreams[0].Exchange = 2 * time.Second
			c.change(&file.Upstreams[0])
			h := open(t, file)
			h.do(t, "GET", "/usual", "") // how long it usually takes: so long a ghost keeps its slot
			until(t, "the guard hears", func() bool { return outcomes(h)["success"] == 1 })
			a := h.do(t, "GET", "/", "")
			if a.problem(t); a.StatusCode != c.status || !strings.Contains(a.body, c.says) || hits.Load() != 2 {
				t.Errorf("%d %s after %d attempts", a.StatusCode, a.body, hits.Load()-1)
			}
			if again := a.Header.Get("Retry-After"); (again != "") != (c.status == 503) {
				t.Errorf("Retry-After %q with %d", again, c.status)
			}
			until(t, "the access log", func() bool { return strings.Contains(h.log.String(), c.logged) })
		})
	}
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func unavailable(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusServiceUnavailable)
}
