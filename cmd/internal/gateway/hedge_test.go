package gateway

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/travel"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
)

// A pair is an upstream of two addresses. Whatever comes to the slow one, which
// is the first to be asked, hangs until the test lets go or its caller does.
type pair struct {
	slow, fast chan seen // who came
	finish     chan struct{}
	cut        atomic.Int32 // answers of the slow one that nobody waited for
	addresses  []string
}

// seen is a request as an address has it.
type seen struct{ body, attempt string }

func newPair(t *testing.T) *pair {
	p := &pair{slow: make(chan seen, 10), fast: make(chan seen, 10), finish: make(chan struct{})}
	note := func(r *http.Request, came chan seen) {
		body, _ := io.ReadAll(r.Body)
		came <- seen{string(body), r.Header.Get(travel.Attempt)}
	}
	slow := backend(t, func(w http.ResponseWriter, r *http.Request) {
		note(r, p.slow)
		select {
		case <-p.finish:
		case <-r.Context().Done():
			p.cut.Add(1)
		}
		io.WriteString(w, "slow")
	})
	p.addresses = []string{slow, backend(t, func(w http.ResponseWriter, r *http.Request) {
		note(r, p.fast)
		io.WriteString(w, "fast")
	})}
	t.Cleanup(p.letGo)
	return p
}

// letGo has the slow address answer.
func (p *pair) letGo() {
	select {
	case <-p.finish:
	default:
		close(p.finish)
	}
}

// hedging asks the second address when the first has not answered for so long.
var hedging = retry.Config{Attempts: 2, Hedge: retry.Hedge{After: 20 * time.Millisecond}}

// The second address answers while the first hangs. The first keeps its slot
// until it has really ended: by itself, or because it is told and heeds it.
func TestAHedgeAnswersForASlowAddress(t *testing.T) {
	for name, cancels := range map[string]bool{"an upstream that works on": false, "an upstream that cancels": true} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			file := fileFor(p.addresses...)
			u := &file.Upstreams[0]
			u.Retry, u.Exchange, u.Limit, u.Cancels = hedging, patience, limit.Fixed(10), cancels
			file.Routes[0].Promise = patience
			h := open(t, file)
			a := h.do(t, "GET", "/", "")
			first, second := receive(t, "the first attempt", p.slow), receive(t, "the hedge", p.fast)
			if a.StatusCode != 200 || a.body != "fast" || first.attempt != "1" || second.attempt != "2" {
				t.Errorf("%d %q; attempt %s was hedged by %s", a.StatusCode, a.body, first.attempt, second.attempt)
			}
			if !cancels {
				until(t, "the answer's slot comes free", func() bool { return h.upstreams[0].guard.Snapshot().InFlight <= 1 })
				if n := h.upstreams[0].guard.Snapshot().InFlight; n != 1 || p.cut.Load() != 0 {
					t.Errorf("%d slots are taken while the slow address works, %d were cut", n, p.cut.Load())
				}
				p.letGo()
			}
			until(t, "the loser's slot comes free", h.idle)
			if cancels {
				until(t, "the slow address is told", func() bool { return p.cut.Load() == 1 })
			}
			s := h.upstreams[0].guard.Snapshot()
			if s.Counts.Started != 2 || s.Counts.Retries != 1 || outcomes(h)["failure"] != 0 || s.Budget.Running != 0 {
				t.Errorf("%+v, budget %+v: two attempts, neither of which failed", s.Counts, s.Budget)
			}
		})
	}
}

// What may run twice is hedged, with its body; what may not is not, and waits.
func TestOnlyWhatMayRunTwiceIsHedged(t *testing.T) {
	small, large := strings.Repeat("s", mostKept), strings.Repeat("l", mostKept+1)
	key := "Idempotency-Key: 7"
	for name, c := range map[string]struct {
		method, body, allows string
		headers              []string
		hedged               bool
	}{
		"a GET":                              {method: "GET", hedged: true},
		"a PUT":                              {method: "PUT", body: small, hedged: true},
		"a PUT beyond what is kept":          {method: "PUT", body: large},
		"a POST":                             {method: "POST", body: "pay"},
		"a POST with a key":                  {method: "POST", body: "pay", headers: []string{key}},
		"a POST with a key that counts":      {method: "POST", body: "pay", allows: "accepted", headers: []string{key}, hedged: true},
		"a GET that another layer repeats":   {method: "GET", headers: []string{travel.RetryOwner + ": edge"}},
		"a PUT whose body is to be asked of": {method: "PUT", body: "pay", headers: []string{"Expect: 100-continue"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			file := trusting("")
			u := &file.Upstreams[0]
			u.Addresses, u.Retry, u.Exchange, u.Limit = p.addresses, hedging, patience, limit.Fixed(10)
			file.Routes[0].Promise, file.Routes[0].IdempotencyKey = patience, c.allows
			h := open(t, file)
			if !c.hedged {
				time.AfterFunc(10*20*time.Millisecond, p.letGo) // long after a hedge was due
			}
			a := h.do(t, c.method, "/", c.body, c.headers...)
			if first := receive(t, "the first attempt", p.slow); first.body != c.body {
				t.Errorf("the first attempt has %d of %d bytes", len(first.body), len(c.body))
			}
			want := map[bool]string{true: "fast", false: "slow"}[c.hedged]
			if a.StatusCode != 200 || a.body != want {
				t.Errorf("%d %.100q, want the %s answer", a.StatusCode, a.body, want)
			}
			if !c.hedged {
				if len(p.fast) != 0 {
					t.Error("it was hedged")
				}
				return
			}
			if second := receive(t, "the hedge", p.fast); second.body != c.body {
				t.Errorf("the hedge has %d of %d bytes", len(second.body), len(c.body))
			}
		})
	}
}

// Hedges and retries spend one budget: a slow upstream is not asked twice for
// everything.
func TestHedgesSpendTheBudgetOfRetries(t *testing.T) {
	p := newPair(t)
	file := fileFor(p.addresses[0])
	u := &file.Upstreams[0]
	u.Retry, u.Exchange, u.Limit = hedging, patience, limit.Fixed(10)
	u.Budget = budget.Config{Ratio: .5, Floor: -1, Window: time.Hour} // one for two calls
	file.Routes[0].Promise = patience
	h := open(t, file)
	answer := make(chan answered, 2)
	ask := func() { answer <- h.do(t, "GET", "/", "") }
	go ask()
	for _, want := range []string{"1", "2"} {
		if s := receive(t, "an attempt", p.slow); s.attempt != want {
			t.Errorf("attempt %s came, want %s", s.attempt, want)
		}
	}
	go ask()
	if s := receive(t, "the second call", p.slow); s.attempt != "1" {
		t.Errorf("attempt %s came", s.attempt)
	}
	until(t, "its hedge is denied", func() bool { return h.upstreams[0].guard.Snapshot().Budget.Denied == 1 })
	p.letGo()
	for range 2 {
		if a := receive(t, "an answer", answer); a.StatusCode != 200 || a.body != "slow" {
			t.Errorf("%d %s", a.StatusCode, a.body)
		}
	}
	until(t, "every slot comes free", h.idle)
	if s := h.upstreams[0].guard.Snapshot(); s.Counts.Started != 3 || s.Counts.Retries != 1 {
		t.Errorf("%+v; want one hedge for two calls", s.Counts)
	}
}
