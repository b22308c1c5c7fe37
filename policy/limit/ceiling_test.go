package limit_test

import (
	"testing"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

func TestDependencyThatRefusesCapsTheLimit(t *testing.T) {
	l := limit.New(limit.Config{})
	var tokens [8]limit.Token
	for i := range tokens {
		tokens[i] = l.Take(0)
	}
	for i := 7; i > 4; i-- {
		l.Give(1, &tokens[i], limit.Sample{Outcome: policy.Failure, Refused: true})
	}
	if l.Max() != 5 {
		t.Errorf("limit %d after three of eight were refused", l.Max())
	}
	now := policy.Instant(1)
	for range 100 {
		now = now.Add(20 * ms)
		l.Give(now, &tokens[0], limit.Sample{Outcome: policy.Success})
		tokens[0] = l.Take(now)
	}
	if l.Max() != 6 {
		t.Errorf("limit %d a hundred answers later", l.Max())
	}
}

// Of a dependency that refuses one caller, or one kind of call, whatever the
// number, the others are not held back.
func TestRefusalsOfOneCallerCapNothing(t *testing.T) {
	for _, outcome := range []policy.Outcome{policy.Ignored, policy.Failure} { // 429 and 503
		l := limit.New(limit.Config{})
		var now policy.Instant
		calls, lowest := -1, l.Max() // the very first is refused
		for range 1000 {             // waves of five calls, of which one in eleven is refused
			var wave []limit.Token
			for len(wave) < 5 && l.Free() {
				wave = append(wave, l.Take(now))
			}
			now = now.Add(20 * ms)
			for i := range wave {
				calls++
				s := limit.Sample{Outcome: policy.Success}
				if calls%11 == 0 {
					s = limit.Sample{Outcome: outcome, Refused: true}
				}
				l.Give(now, &wave[i], s)
			}
			lowest = min(lowest, l.Max())
		}
		if lowest < 5 {
			t.Errorf("%v: limit %d with five in flight and one of eleven refused", outcome, lowest)
		}
	}
}

// A dependency that has so many places and refuses the rest is found, when it
// becomes narrower and when it becomes wider.
func TestPlacesOfADependencyAreFound(t *testing.T) {
	l := limit.New(limit.Config{})
	var now policy.Instant
	play := func(places, waves int) (refused int) {
		for range waves {
			var wave []limit.Token
			for len(wave) < 24 && l.Free() {
				wave = append(wave, l.Take(now))
			}
			now = now.Add(20 * ms)
			for i := range wave {
				s := limit.Sample{Outcome: policy.Success}
				if i >= places {
					s = limit.Sample{Outcome: policy.Failure, Refused: true}
					refused++
				}
				l.Give(now, &wave[i], s)
			}
		}
		return refused
	}
	play(24, 100)
	if l.Max() < 24 {
		t.Fatalf("limit %d, and 24 were answered at once", l.Max())
	}
	if refused := play(4, 5); l.Max() != 4 || refused > 3*20 {
		t.Errorf("limit %d of a dependency with 4 places, after %d refusals", l.Max(), refused)
	}
	if refused := play(4, 200); refused > 30 {
		t.Errorf("%d of 800 were refused after that", refused)
	}
	if play(8, 200); l.Max() < 8 {
		t.Errorf("limit %d after it had 8 places again", l.Max())
	}
}
