package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/kalan-go/kalan/internal/refusal"
	"github.com/kalan-go/kalan/policy"
)

// metrics are what is counted on the way. Everything that a guard knows is
// read from its snapshot when somebody asks (package kalanprom).
type metrics struct {
	registry *prometheus.Registry
	panics   prometheus.Counter
	unrouted meters // of requests that reached no upstream's guard
}

// meters are the handles of one upstream, looked up once: finding them by their
// labels would cost more than the counting.
type meters struct {
	classes [6]prometheus.Counter // by the first digit of the status; 0 for a client that left
	took    prometheus.Observer
	arrival prometheus.Observer // of refusals for which nobody had to wait
	refused prometheus.Observer // of all others
	own     prometheus.Observer
}

// The buckets are seconds. The gateway's own time is counted in microseconds.
var (
	durations = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}
	refusals  = []float64{25e-6, 50e-6, 100e-6, 250e-6, 500e-6, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 10}
	overheads = []float64{25e-6, 50e-6, 100e-6, 250e-6, 500e-6, .001, .0025, .005, .01, .05, .25, 1}
)

// statusClasses are the values of the label: "499" is a client that left.
var statusClasses = [6]string{"499", "1xx", "2xx", "3xx", "4xx", "5xx"}

func newMetrics(g *Gateway) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.panics = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kalan_panics_total", Help: "Panics while serving a request: each is a defect of the gateway.",
	})
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kalan_requests_total", Help: "Requests, by upstream and class of the status that the client got; 499 when it left before.",
	}, []string{"upstream", "status"})
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, append([]string{"upstream"}, labels...))
	}
	took := histogram("kalan_request_duration_seconds", "Time from the request's head to the answer's last byte.", durations)
	refused := histogram("kalan_refusal_duration_seconds", "Time that a refusal took: on arrival, or after a wait for a slot, an attempt or the client.", refusals, "when")
	own := histogram("kalan_own_duration_seconds", "Time that the gateway itself took: not spent on waiting for the upstream, a slot or the client.", overheads)
	m.registry.MustRegister(m.panics, requests, took, refused, own, collector{g}, g.collectGuards(),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	handles := func(upstream string) (h meters) {
		for i, class := range statusClasses {
			h.classes[i] = requests.WithLabelValues(upstream, class)
		}
		h.took, h.own = took.WithLabelValues(upstream), own.WithLabelValues(upstream)
		h.arrival, h.refused = refused.WithLabelValues(upstream, "arrival"), refused.WithLabelValues(upstream, "waited")
		return h
	}
	m.unrouted = handles("none")
	for _, u := range g.upstreams {
		u.meters = handles(u.name)
	}
	return m
}

func (m *meters) count(r *record, took, own time.Duration) {
	class := min(r.status/100, 5)
	if r.status == refusal.ClientGone {
		class = 0
	}
	m.classes[class].Inc()
	switch {
	case r.outcome != "refused" || r.why == policy.Gone:
		m.took.Observe(took.Seconds())
	case r.waited:
		m.refused.Observe(took.Seconds())
	default: // what was spent on reading a small body was the client's
		m.arrival.Observe(max(own, 0).Seconds())
	}
	m.own.Observe(max(own, 0).Seconds())
}
