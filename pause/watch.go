package pause

import (
	"context"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// The runtime's distributions that a watch shows, in the order of Snapshot.
var distributions = [...]string{
	"/sched/pauses/total/gc:seconds",
	"/sched/pauses/total/other:seconds",
	"/sched/latencies:seconds",
}

// A Watch measures the pauses of this process. It is made by New; Run has to
// run for the heartbeat to be heard. It is safe for concurrent use.
type Watch struct {
	config Config
	epoch  time.Time

	mu      sync.Mutex
	heart   Heart
	samples [len(distributions)]metrics.Sample
	older   counts // what the runtime had counted one to two windows ago
	newer   counts // and less than one window ago
	turned  policy.Instant
}

type counts [len(distributions)][]uint64

// A Snapshot is what a watch has seen.
type Snapshot struct {
	// Pauses are those that the heartbeat has seen since Run began.
	Pauses Pauses
	// GC and Other are the pauses in which the runtime stopped all goroutines,
	// for the garbage collector and for other reasons.
	GC, Other Summary
	// Scheduling is how long goroutines that could run had to wait for a
	// processor. A p99 of milliseconds means that the process has too little.
	Scheduling Summary
}

// New returns a watch. The error lists everything that is wrong with config.
func New(config Config) (*Watch, error) {
	if err := field.Error("pause", "", config.Validate()); err != nil {
		return nil, err
	}
	w := &Watch{config: config.WithDefaults(), epoch: time.Now()}
	for i, name := range distributions {
		w.samples[i].Name = name
	}
	w.heart = NewHeart(w.now(), w.config)
	w.newer = w.read()
	w.older = w.newer
	return w, nil
}

// Run beats until ctx ends, and returns why it ended. It calls seen, if that is
// not nil, with every pause, on the same goroutine and before anything else
// that this watch does; seen must not block.
func (w *Watch) Run(ctx context.Context, seen func(time.Duration)) error {
	ticker := time.NewTicker(w.config.Every)
	defer ticker.Stop()
	w.begin()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			if late := w.beat(); late > 0 && seen != nil {
				seen(late)
			}
		}
	}
}

// begin forgets the time between New and Run.
func (w *Watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heart.last = w.now()
}

func (w *Watch) beat() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if now.Sub(w.turned) >= w.config.Window {
		w.turned, w.older, w.newer = now, w.newer, w.read()
	}
	return w.heart.Beat(now)
}

// Snapshot returns what was seen: by the heartbeat since Run began, by the
// runtime for one to two windows.
func (w *Watch) Snapshot() Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read()
	var of [len(distributions)]Summary
	for i := range of {
		of[i] = summarize(histogram(&w.samples[i]), w.older[i])
	}
	return Snapshot{Pauses: w.heart.Pauses(), GC: of[0], Other: of[1], Scheduling: of[2]}
}

// read asks the runtime, and returns what it has counted so far.
func (w *Watch) read() (c counts) {
	metrics.Read(w.samples[:])
	for i := range w.samples {
		if h := histogram(&w.samples[i]); h != nil {
			c[i] = slices.Clone(h.Counts)
		}
	}
	return c
}

// histogram returns the sample's value, nil from a runtime that does not know
// it.
func histogram(s *metrics.Sample) *metrics.Float64Histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return s.Value.Float64Histogram()
}

func (w *Watch) now() policy.Instant { return policy.Instant(time.Since(w.epoch)) }
