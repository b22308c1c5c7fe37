package gateway

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy/breaker"
)

// TestMetrics reads what Prometheus would: names, labels that are bounded, and
// the counts of a little traffic.
func TestMetrics(t *testing.T) {
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/500" {
			w.WriteHeader(500)
		}
	})))
	for _, path := range []string{"/", "/a", "/500", "/..", "/b"} {
		h.do(t, "GET", path, "")
	}
	text := h.counts(t,
		`kalan_requests_total{status="2xx",upstream="bridge"} 3`,
		`kalan_requests_total{status="5xx",upstream="bridge"} 1`,
		`kalan_requests_total{status="4xx",upstream="none"} 1`,
		`kalan_request_duration_seconds_count{upstream="bridge"} 4`,
		`kalan_refusal_duration_seconds_count{upstream="none",when="arrival"} 1`,
		`kalan_own_duration_seconds_count{upstream="bridge"} 4`,
		`kalan_calls_total{upstream="bridge"} 4`,
		`kalan_attempts_total{upstream="bridge"} 4`,
		`kalan_outcomes_total{outcome="success",upstream="bridge"} 3`,
		`kalan_outcomes_total{outcome="failure",upstream="bridge"} 1`,
		`kalan_refused_total{reason="open",upstream="bridge"} 0`,
		`kalan_breaker_state{state="closed",upstream="bridge"} 1`,
		`kalan_breaker_state{state="open",upstream="bridge"} 0`,
		`kalan_limit_slots{upstream="bridge"} 10`,
		`kalan_slots_taken{upstream="bridge"} 0`,
		`kalan_panics_total 0`,
		`kalan_ready 1`,
		`kalan_requests_in_flight 0`)
	if strings.Contains(text, "/500") {
		t.Error("a path is in a label")
	}
	name := regexp.MustCompile(`^kalan_[a-z_]+$`)
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 3 && words[1] == "TYPE" && strings.HasPrefix(words[2], "kalan") && !name.MatchString(words[2]) {
			t.Errorf("%s is not a good name", words[2])
		}
	}
}

// TestTheOwnTimeIsNotTheUpstreams: waiting is not counted as the gateway's.
func TestTheOwnTimeIsNotTheUpstreams(t *testing.T) {
	t.Parallel()
	h := open(t, fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(1100 * time.Millisecond)
		defer timer.Stop()
		<-timer.C
	})))
	h.do(t, "GET", "/", "")
	h.counts(t, `kalan_own_duration_seconds_bucket{upstream="bridge",le="1"} 1`, `kalan_request_duration_seconds_bucket{upstream="bridge",le="1"} 0`,
		`kalan_request_duration_seconds_count{upstream="bridge"} 1`)
}

func TestStatus(t *testing.T) {
	h := open(t, fileFor(backend(t, answers("ok"))))
	h.do(t, "GET", "/", "")
	code, text := h.probe(t, "/status")
	var s struct {
		Drain       string
		Connections struct{ Open, Accepted int }
		Upstreams   map[string]struct {
			Breaker struct{ State string }
			Limit   struct{ Slots int }
			Calls   int
			Refused map[string]int
		}
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil || code != 200 {
		t.Fatalf("%d %v", code, err)
	}
	if s.Connections.Open != 1 || s.Connections.Accepted != 1 {
		t.Errorf("%+v", s.Connections)
	}
	if b := s.Upstreams["bridge"]; s.Drain != "ready" || b.Breaker.State != "closed" || b.Limit.Slots != 10 || b.Calls != 1 || len(b.Refused) > 0 {
		t.Errorf("%s", text)
	}
	// Whoever reads it by eye or by script meets one way of writing: no name of
	// a Go field, no number for a word.
	if odd := regexp.MustCompile(`"[a-z_-]*[A-Z][A-Za-z]*":`).FindString(text); odd != "" {
		t.Errorf("%s is no key of ours: %s", odd, text)
	}
	if code, _ := h.probe(t, "/nothing"); code != 404 {
		t.Errorf("/nothing: %d", code)
	}
}

// A body that never comes keeps neither a probe's answer waiting nor its
// connection open: each would be one of the files that the process may open.
func TestAProbeWaitsForNoBody(t *testing.T) {
	t.Parallel()
	h := open(t, fileFor(backend(t, answers("ok"))))
	waiting := make(map[string]net.Conn)
	for _, head := range []string{"GET /livez", "POST /livez", "GET /metrics"} {
		for _, framing := range []string{"Content-Length: 1000\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3e8\r\nabc"} {
			c, err := net.Dial("tcp", h.AdminAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(patience))
			request := head + " HTTP/1.1\r\nHost: x\r\n" + framing
			io.WriteString(c, request)
			waiting[request] = c
		}
	}
	for request, c := range waiting {
		if answer, err := io.ReadAll(c); !strings.HasPrefix(string(answer), "HTTP/1.1 ") || err != nil {
			t.Errorf("%q: %.40q, %v", request, answer, err)
		}
	}
}

// TestMovesOfTheBreakerAreLogged, also those that no request causes.
func TestMovesOfTheBreakerAreLogged(t *testing.T) {
	t.Parallel()
	file := fileFor(closedAddress(t))
	file.Upstreams[0].Breaker = breaker.Config{Calls: 1, Open: 300 * time.Millisecond}
	file.Upstreams[0].Retry.Attempts = 1
	h := open(t, file)
	until(t, "the breaker opens", func() bool { return h.do(t, "GET", "/", "").StatusCode == 503 })
	for _, word := range []string{`"to":"open"`, `"to":"half-open"`} {
		until(t, word+" is logged", func() bool { return strings.Contains(h.log.String(), word) })
	}
}

// Dashboards and alerts are written against names and what they mean: neither
// changes unseen.
func TestNamesOfTheMetrics(t *testing.T) {
	h := open(t, fileFor(backend(t, answers("ok"))))
	_, text := h.probe(t, "/metrics")
	ours := regexp.MustCompile(`(?m)^# (?:HELP|TYPE) kalan_.*\n`)
	golden.File(t, "testdata/metrics.txt", strings.Join(ours.FindAllString(text, -1), ""))
}
