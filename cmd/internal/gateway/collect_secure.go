package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan/cmd/internal/gateway/accept"
)

var (
	descAwaited   = prometheus.NewDesc("kalan_handshakes_awaited", "Connections whose TLS handshake has not begun: their hello is still to come.", nil, nil)
	descShaking   = prometheus.NewDesc("kalan_handshakes_running", "TLS handshakes that are under way.", nil, nil)
	descMostShake = prometheus.NewDesc("kalan_handshakes_limit", "TLS handshakes that may be under way at a time.", nil, nil)
	descShaken    = prometheus.NewDesc("kalan_handshakes_total", "TLS handshakes that no limit refused, by their end: complete, resumed (complete, and a session of before), timeout, certificate (the client's was not good), plain (HTTP without TLS), left, failed.", []string{"end"}, nil)
	descNotShaken = prometheus.NewDesc("kalan_handshakes_refused_total", "TLS handshakes over a limit: refused, or only counted where accept observes.", []string{"limit"}, nil)
	descExpires   = prometheus.NewDesc("kalan_certificate_left_seconds", "Time until the listener's certificate expires; negative when it has.", nil, nil)
	descRenewed   = prometheus.NewDesc("kalan_certificate_changes_total", "Changes of the certificate's files: taken over (good), or not (bad).", []string{"files"}, nil)
)

// newHandshakeTimes returns the histogram of how long handshakes take.
func newHandshakeTimes() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "kalan_handshake_duration_seconds", Help: "Time from the hello to the end of a TLS handshake, the client's way there and back in it.", Buckets: durations,
	})
}

// Describe sends what Collect will.
func (s *secrecy) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descAwaited, descShaking, descMostShake, descShaken, descNotShaken, descExpires, descRenewed} {
		out <- d
	}
	s.took.Describe(out)
}

// Collect reads what concerns TLS.
func (s *secrecy) Collect(out chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	count := func(desc *prometheus.Desc, n uint64, label string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), label)
	}
	gauge(descAwaited, float64(s.awaited.Load()))
	gauge(descShaking, float64(s.handshakes.Running()))
	gauge(descMostShake, float64(s.handshakes.Most()))
	for how, word := range endings {
		count(descShaken, s.ended[how].Load(), word)
	}
	for _, limit := range []accept.Limit{accept.Running, accept.Rate} {
		count(descNotShaken, s.handshakes.Refused(limit), limit.String())
	}
	gauge(descExpires, time.Until(s.keeper.Expires()).Seconds())
	count(descRenewed, s.keeper.Renewed(), "good")
	count(descRenewed, s.keeper.Wrong(), "bad")
	s.took.Collect(out)
}
