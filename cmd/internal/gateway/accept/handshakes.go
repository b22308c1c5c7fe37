package accept

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

// Handshakes bounds those of a listener with TLS: so many a second, and so many
// at a time. One begins when its hello has come. Before that it has cost nothing
// but a place among the open connections, so that whoever connects and says
// half a hello takes nobody's place here. Who says a whole one and then nothing
// takes one until somebody wants it who may be quicker. It is safe for concurrent
// use.
type Handshakes struct {
	rate    *shared
	most    int
	patient time.Duration
	observe bool

	mu      sync.Mutex // guards what follows
	running list.List  // of *Place, the oldest first

	begun   atomic.Uint64
	refused [Limits]atomic.Uint64
}

// A Place is that of a handshake under way.
type Place struct {
	of    *Handshakes
	began policy.Instant
	cut   func()
	at    *list.Element // nil: given back
}

// patience is the part of its time that a handshake has its place for itself. One
// takes two or three times the way to the caller, which is much less; where
// everybody comes at once, none is cut that still waits for the processor.
const patience = 5

// NewHandshakes returns the bounds of a configuration with its defaults.
func NewHandshakes(way settings.Accept) *Handshakes {
	h := way.Handshakes
	return &Handshakes{
		rate: newShared(h.Rate, h.Burst, way.RetryAfter), most: h.Running, patient: h.Within / patience, observe: way.Observe,
	}
}

// Begin reports whether a handshake may begin now, and takes its place. One that
// may not is told nothing: there is nothing to tell it in. When another gets the
// place before it ends, cut is called, once.
func (h *Handshakes) Begin(now policy.Instant, cut func()) (p *Place, over Limit, ok bool) {
	p = &Place{of: h, began: now, cut: cut}
	h.mu.Lock()
	slow, free := h.free(now)
	switch {
	case !free:
		over = Running
	case !h.rate.allow(now):
		over = Rate
	}
	if over == Running || over == Rate && !h.observe {
		h.mu.Unlock()
		h.refused[over].Add(1)
		return nil, over, false
	}
	if slow != nil {
		slow.leave()
	}
	p.at = h.running.PushBack(p)
	h.mu.Unlock()
	if slow != nil {
		slow.cut()
	}
	if over == Rate {
		h.refused[Rate].Add(1)
	}
	h.begun.Add(1)
	return p, 0, true
}

// free reports whether there is a place, and which one has to be left for it.
func (h *Handshakes) free(now policy.Instant) (slow *Place, ok bool) {
	if h.running.Len() < h.most {
		return nil, true
	}
	if first := h.running.Front(); first != nil {
		slow = first.Value.(*Place)
	}
	return slow, slow != nil && now.Sub(slow.began) >= h.patient
}

// leave is called with the lock held.
func (p *Place) leave() {
	if p.at != nil {
		p.of.running.Remove(p.at)
		p.at = nil
	}
}

// End gives the place back.
func (p *Place) End() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.leave()
}

// Running returns how many are under way, and Most how many may be.
func (h *Handshakes) Running() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return int64(h.running.Len())
}

// Most returns how many may be under way at a time.
func (h *Handshakes) Most() int64 { return int64(h.most) }

// Begun returns how many have begun.
func (h *Handshakes) Begun() uint64 { return h.begun.Load() }

// Refused returns how many were over a limit; when only observing, Refused(Rate)
// is how many would have been.
func (h *Handshakes) Refused(l Limit) uint64 { return h.refused[l].Load() }
