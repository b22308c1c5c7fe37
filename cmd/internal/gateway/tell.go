package gateway

import (
	"log/slog"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// tell writes down what the breakers do, until stop is closed. It looks once a
// second, so that a move that no request causes is told too (F18).
func (g *Gateway) tell(stop <-chan struct{}) {
	ticker := time.NewTicker(lookAtBreakers)
	defer ticker.Stop()
	seen := make([]uint64, len(g.upstreams))
	var events []policy.Event
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		for i, u := range g.upstreams {
			events, seen[i] = u.guard.Events(seen[i], events[:0])
			for _, e := range events {
				u.tell(g.log, e)
			}
		}
	}
}

// tell writes down one decision that concerns all callers.
func (u *upstream) tell(log *slog.Logger, e policy.Event) {
	switch e.Kind {
	case policy.Moved:
		write := log.Info
		if breaker.State(e.Count) == breaker.Open {
			write = log.Warn
		}
		write("breaker moved", "upstream", u.name, "to", breaker.State(e.Count).String(), "at", u.guard.Epoch().Add(time.Duration(e.At)))
	case policy.Resized:
		log.Debug("limit moved", "upstream", u.name, "slots", e.Count)
	}
}
