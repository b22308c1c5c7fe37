package gateway

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// adminHandler serves probes and metrics, on a listener of their own: nothing
// that callers do keeps a probe waiting (O-36).
//
//	/livez     200 as long as the process runs: a dependency's failure is no reason to restart (F24)
//	/readyz    200, and 503 from the first signal on
//	/metrics   for Prometheus
//	/status    every guard as JSON, for whoever looks by hand
func (g *Gateway) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", g.ready)
	mux.HandleFunc("GET /status", g.status)
	mux.Handle("GET /metrics", promhttp.HandlerFor(g.metrics.registry, promhttp.HandlerOpts{
		ErrorLog: nil, Timeout: adminWithin / 2, MaxRequestsInFlight: 4,
	}))
	return withoutBody(mux)
}

// withoutBody answers a request that has a body without waiting for it, and
// ends the connection. Nothing here asks for one; net/http would wait for what
// is announced, without end.
func withoutBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			w.Header()["Connection"] = closing
			if l, ok := w.(canLimitReads); ok {
				l.SetReadDeadline(time.Now().Add(linger))
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (g *Gateway) ready(w http.ResponseWriter, _ *http.Request) {
	if !g.drain.Ready() {
		say(w, http.StatusServiceUnavailable, "leaving")
		return
	}
	say(w, http.StatusOK, "ready")
}

func say(w http.ResponseWriter, status int, word string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, word)
}
