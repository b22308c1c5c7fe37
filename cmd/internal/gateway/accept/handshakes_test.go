package accept

import (
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

func shaking(observe bool) *Handshakes {
	return NewHandshakes(way(func(a *settings.Accept) {
		a.Handshakes, a.Observe = settings.Handshakes{Rate: 10, Burst: 3, Running: 4, Within: 5 * time.Second}, observe
	}))
}

// What one limit refuses spends nothing of the other.
func TestHandshakesAreBounded(t *testing.T) {
	h := shaking(false)
	var places []*Place
	end := func() {
		places[0].End()
		places[0].End() // once more is nothing
		places = places[1:]
	}
	begin := func(at time.Duration, over Limit, ok bool) {
		t.Helper()
		place, got, may := h.Begin(policy.Instant(at), nil)
		if got != over || may != ok {
			t.Errorf("at %v: over %v, %v; want %v, %v", at, got, may, over, ok)
		}
		if may {
			places = append(places, place)
		}
	}
	for range 3 {
		begin(0, 0, true)
	}
	begin(0, Rate, false)
	begin(100*time.Millisecond, 0, true)
	begin(200*time.Millisecond, Running, false) // and leaves the token of this tenth
	end()
	begin(200*time.Millisecond, 0, true)
	end()
	begin(200*time.Millisecond, Rate, false)
	if h.Running() != 3 || h.Most() != 4 || h.Begun() != 5 || h.Refused(Rate) != 2 || h.Refused(Running) != 1 {
		t.Errorf("running %d of %d, begun %d, refused %d and %d", h.Running(), h.Most(), h.Begun(), h.Refused(Rate), h.Refused(Running))
	}
}

// Whoever says a hello and then nothing keeps nobody out for long, and whoever is
// on its way is left alone where everybody comes at once.
func TestPlacesAreNotHeldBySilence(t *testing.T) {
	h := NewHandshakes(way(func(a *settings.Accept) {
		a.Handshakes = settings.Handshakes{Running: 3, Within: 5 * time.Second}
	}))
	var cut []int
	begin := func(i int, at time.Duration) (*Place, bool) {
		p, _, ok := h.Begin(policy.Instant(at), func() { cut = append(cut, i) })
		return p, ok
	}
	var places []*Place
	for i := range 3 {
		p, _ := begin(i, time.Duration(i)*100*time.Millisecond)
		places = append(places, p)
	}
	if _, ok := begin(3, 999*time.Millisecond); ok || len(cut) > 0 {
		t.Errorf("after a second but one: %v, cut %v", ok, cut)
	}
	if _, ok := begin(4, time.Second); !ok || !slices.Equal(cut, []int{0}) {
		t.Errorf("after a second: %v, cut %v", ok, cut)
	}
	places[0].End() // it ends because it was cut, and has no place to give back
	if _, ok := begin(5, time.Second); ok || h.Running() != 3 {
		t.Errorf("%v, %d running", ok, h.Running())
	}
	places[1].End()
	if _, ok := begin(6, time.Second); !ok || len(cut) != 1 {
		t.Errorf("%v, cut %v", ok, cut)
	}
	if _, ok := begin(7, 1200*time.Millisecond); !ok || !slices.Equal(cut, []int{0, 2}) {
		t.Errorf("%v, cut %v", ok, cut)
	}
}

// The places hold also when only observing: without them there is no bound.
func TestObservedHandshakesAreCounted(t *testing.T) {
	h := shaking(true)
	for i := range 6 {
		if _, over, ok := h.Begin(0, nil); ok != (i < 4) || !ok && over != Running {
			t.Errorf("the %d.: over %v, %v", i+1, over, ok)
		}
	}
	if h.Refused(Rate) != 1 || h.Refused(Running) != 2 {
		t.Errorf("refused %d and %d", h.Refused(Rate), h.Refused(Running))
	}
}
