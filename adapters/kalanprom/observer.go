package kalanprom

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// DefaultBuckets are the bounds of the histogram, in seconds.
var DefaultBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}

// An Observer makes a histogram of how long attempts took. It is a
// kalan.Observer, to be fed by kalan.Watch, and a prometheus.Collector, to be
// registered. Use [NewObserver]. Of guards that come and go the first 4,096 have
// histograms of their own; those of all others are one, whose label is "others".
type Observer struct {
	durations *prometheus.HistogramVec
	missed    *prometheus.CounterVec

	mu      sync.Mutex
	handles map[string]*handles // by the guard's name
}

// mostGuards bounds the names that have a histogram of their own: those of
// guards that come and go (kalanhttp.Hosts) are chosen by strangers (O-24).
const mostGuards = 4096

// handles are one guard's: finding them by their labels would cost more than
// the counting.
type handles struct {
	durations [4]prometheus.Observer // by outcome
	missed    prometheus.Counter
}

// NewObserver returns an observer with these buckets; nil means
// [DefaultBuckets]. The label is "guard".
func NewObserver(buckets []float64) *Observer {
	if buckets == nil {
		buckets = DefaultBuckets
	}
	return &Observer{
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kalan_attempt_duration_seconds", Help: "Time from an attempt's start to its last byte, by what it said of the dependency.", Buckets: buckets,
		}, []string{"guard", "outcome"}),
		missed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kalan_events_missed_total", Help: "Decisions that were lost before they were observed; a larger Trace keeps more.",
		}, []string{"guard"}),
		handles: make(map[string]*handles),
	}
}

// Describe sends what Collect will.
func (o *Observer) Describe(out chan<- *prometheus.Desc) {
	o.durations.Describe(out)
	o.missed.Describe(out)
}

// Collect sends what was observed.
func (o *Observer) Collect(out chan<- prometheus.Metric) {
	o.durations.Collect(out)
	o.missed.Collect(out)
}

// Observe counts the attempts that were settled.
func (o *Observer) Observe(g *kalan.Guard, events []policy.Event, missed uint64) {
	h := o.of(g.Name())
	for i := range events {
		if e := &events[i]; e.Kind == policy.Settled && int(e.Outcome) < len(h.durations) {
			h.durations[e.Outcome].Observe(e.Took.Seconds())
		}
	}
	if missed > 0 {
		h.missed.Add(float64(missed))
	}
}

func (o *Observer) of(guard string) *handles {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.handles[guard]
	if h == nil && len(o.handles) >= mostGuards {
		guard = "others"
		h = o.handles[guard]
	}
	if h == nil {
		h = &handles{missed: o.missed.WithLabelValues(guard)}
		for i := range h.durations {
			h.durations[i] = o.durations.WithLabelValues(guard, policy.Outcome(i).String())
		}
		o.handles[guard] = h
	}
	return h
}
