package accept

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

func shaking(observe bool) *Handshakes {
	return NewHandshakes(way(func(a *settings.Accept) {
		a.Handshakes, a.Observe = settings.Handshakes{Rate: 10, Burst: 3, Running: 4}, observe
	}))
}

// What one limit refuses spends nothing of the other.
func TestHandshakesAreBounded(t *testing.T) {
	h := shaking(false)
	begin := func(at time.Duration, over Limit, ok bool) {
		t.Helper()
		if got, may := h.Begin(policy.Instant(at)); got != over || may != ok {
			t.Errorf("at %v: over %v, %v; want %v, %v", at, got, may, over, ok)
		}
	}
	for range 3 {
		begin(0, 0, true)
	}
	begin(0, Rate, false)
	begin(100*time.Millisecond, 0, true)
	begin(200*time.Millisecond, Running, false) // and leaves the token of this tenth
	h.End()
	begin(200*time.Millisecond, 0, true)
	h.End()
	begin(200*time.Millisecond, Rate, false)
	if h.Running() != 3 || h.Most() != 4 || h.Begun() != 5 || h.Refused(Rate) != 2 || h.Refused(Running) != 1 {
		t.Errorf("running %d of %d, begun %d, refused %d and %d", h.Running(), h.Most(), h.Begun(), h.Refused(Rate), h.Refused(Running))
	}
}

// The places hold also when only observing: without them there is no bound.
func TestObservedHandshakesAreCounted(t *testing.T) {
	h := shaking(true)
	for i := range 6 {
		if over, ok := h.Begin(0); ok != (i < 4) || !ok && over != Running {
			t.Errorf("the %d.: over %v, %v", i+1, over, ok)
		}
	}
	if h.Refused(Rate) != 1 || h.Refused(Running) != 2 {
		t.Errorf("refused %d and %d", h.Refused(Rate), h.Refused(Running))
	}
}
