package kalanotel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// Observe records the moves of a guard's breaker, for kalan.Watch. All other
// decisions are seen where they are made.
func (r *Recorder) Observe(g *kalan.Guard, events []policy.Event, _ uint64) {
	for _, e := range events {
		if e.Kind == policy.Moved {
			r.moved(g, breaker.State(e.Count), g.Epoch().Add(time.Duration(e.At)))
		}
	}
}

// moved begins a span when the breaker leaves closed, tells it of every move,
// and ends it when the breaker is closed again.
func (r *Recorder) moved(g *kalan.Guard, to breaker.State, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	span := r.breakers[g]
	if span == nil {
		if to == breaker.Closed {
			return // its beginning was missed
		}
		r.makeRoom()
		_, span = r.tracer.Start(context.Background(), "breaker "+g.Name(), trace.WithNewRoot(),
			trace.WithTimestamp(at), trace.WithAttributes(guardKey.String(g.Name())))
		span.SetStatus(codes.Error, "calls are refused")
		r.breakers[g] = span
	}
	span.AddEvent("kalan.breaker.moved", trace.WithTimestamp(at), trace.WithAttributes(stateKey.String(to.String())))
	if to == breaker.Closed {
		span.End(trace.WithTimestamp(at))
		delete(r.breakers, g)
	}
}

// mostOpen bounds the spans that are open: guards that come and go
// (kalanhttp.Hosts) may go while their breakers are not closed, and nobody tells.
const mostOpen = 4096

// makeRoom ends a span when there are too many; the lock is held.
func (r *Recorder) makeRoom() {
	for g, span := range r.breakers {
		if len(r.breakers) < mostOpen {
			return
		}
		span.End()
		delete(r.breakers, g)
	}
}

// End ends the spans of breakers that are not closed, so that they are
// exported: call it when Watch has returned and before the tracer provider is
// shut down.
func (r *Recorder) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for g, span := range r.breakers {
		span.End()
		delete(r.breakers, g)
	}
}
