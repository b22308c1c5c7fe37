package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanprom"
)

// A collector reads what the gateway knows beside its guards when somebody
// asks, so that counting costs the requests nothing.
type collector struct{ *Gateway }

var (
	descReady    = prometheus.NewDesc("kalan_ready", "1 while readiness says yes.", nil, nil)
	descInFlight = prometheus.NewDesc("kalan_requests_in_flight", "Requests whose callers wait.", nil, nil)
	descBusy     = prometheus.NewDesc("kalan_workers_busy", "Workers that are busy; 0 without a cap.", nil, nil)
	descQueue    = prometheus.NewDesc("kalan_workers_waiting", "Requests that wait for a worker.", nil, nil)
)

// collectGuards shows the upstreams' guards as any other program shows its own.
func (g *Gateway) collectGuards() prometheus.Collector {
	return kalanprom.NewFor("upstream", g.guards)
}

func (g *Gateway) guards() []*kalan.Guard {
	all := make([]*kalan.Guard, len(g.upstreams))
	for i, u := range g.upstreams {
		all[i] = u.guard
	}
	return all
}

// Describe sends what Collect will.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descReady, descInFlight, descBusy, descQueue} {
		out <- d
	}
	for _, d := range entranceDescs {
		out <- d
	}
}

// Collect reads everything once.
func (c collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	ready := 0.
	if c.drain.Ready() {
		ready = 1
	}
	gauge(descReady, ready)
	gauge(descInFlight, float64(c.inflight.Load()))
	gauge(descBusy, float64(len(c.workers.busy)))
	gauge(descQueue, float64(c.workers.waiting.Load()))
	c.collectEntrance(out)
}
