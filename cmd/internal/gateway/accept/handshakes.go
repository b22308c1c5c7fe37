package accept

import (
	"sync/atomic"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

// Handshakes bounds those of a listener with TLS: so many a second, and so many
// at a time. One begins when its hello has come. Before that it has cost nothing
// but a place among the open connections, so that whoever connects and says
// half a hello takes nobody's place here. It is safe for concurrent use.
type Handshakes struct {
	rate    *shared
	most    int64
	observe bool
	running atomic.Int64
	begun   atomic.Uint64
	refused [Limits]atomic.Uint64
}

// NewHandshakes returns the bounds of a configuration with its defaults.
func NewHandshakes(way settings.Accept) *Handshakes {
	h := way.Handshakes
	return &Handshakes{rate: newShared(h.Rate, h.Burst, way.RetryAfter), most: int64(h.Running), observe: way.Observe}
}

// Begin reports whether a handshake may begin now, and takes its place. One that
// may not is told nothing: there is nothing to tell it in.
func (h *Handshakes) Begin(now policy.Instant) (over Limit, ok bool) {
	if h.running.Add(1) > h.most {
		return h.refuse(Running)
	}
	if !h.rate.allow(now) {
		if !h.observe {
			return h.refuse(Rate)
		}
		h.refused[Rate].Add(1)
	}
	h.begun.Add(1)
	return 0, true
}

func (h *Handshakes) refuse(over Limit) (Limit, bool) {
	h.running.Add(-1)
	h.refused[over].Add(1)
	return over, false
}

// End gives back the place of one that has begun.
func (h *Handshakes) End() { h.running.Add(-1) }

// Running returns how many are under way, and Most how many may be.
func (h *Handshakes) Running() int64 { return h.running.Load() }

// Most returns how many may be under way at a time.
func (h *Handshakes) Most() int64 { return h.most }

// Begun returns how many have begun.
func (h *Handshakes) Begun() uint64 { return h.begun.Load() }

// Refused returns how many were over a limit; when only observing, Refused(Rate)
// is how many would have been.
func (h *Handshakes) Refused(l Limit) uint64 { return h.refused[l].Load() }
