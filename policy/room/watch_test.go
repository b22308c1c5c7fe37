package room

import (
	"testing"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
	"pgregory.net/rapid"
)

// The watch against a measurement at every tick: the room sheds while the part
// of what it could wait that the oldest has used was above three quarters at
// every instant of the last window.
func TestWindowMinimum(t *testing.T) {
	const tick, window = policy.Instant(ms), 10 * ms
	rapid.Check(t, func(t *rapid.T) {
		r := New(Config{Window: window})
		var since policy.Instant // when it was last found below
		for now := policy.Instant(0); now < 300*tick; now += tick {
			since = measured(r, now, since)
			for range rapid.IntRange(0, 2).Draw(t, "verbs") {
				disturb(t, r, now)
				since = measured(r, now, since)
			}
			over := now.Sub(since) - window
			if over.Abs() <= ms { // the mark lies between two ticks
				continue
			}
			if got := r.Snapshot(now).Sheds; got != (over > 0) {
				t.Fatalf("at %v: sheds %v, and it was last below at %v", now, got, since)
			}
		}
	})
}

// measured returns now if the oldest has used no more than three quarters of
// what it could wait, and since otherwise.
func measured(r *Room, now, since policy.Instant) policy.Instant {
	if r.age.head < 0 {
		return now
	}
	w := &r.waiters[r.age.head]
	if float64(now.Sub(w.since)) <= tooLong*float64(w.item.could(w.since)) {
		return now
	}
	return since
}

func disturb(t *rapid.T, r *Room, now policy.Instant) {
	id := rapid.Int32Range(0, 5).Draw(t, "id")
	switch rapid.IntRange(0, 4).Draw(t, "verb") {
	case 0, 1, 2:
		r.Offer(now, id, Item{
			Until:    policy.Never,
			Deadline: now.Add(span.Mul(ms, rapid.Int64Range(20, 60).Draw(t, "left"))),
			Need:     span.Mul(ms, rapid.Int64Range(0, 10).Draw(t, "need")),
		})
	case 3:
		r.Leave(now, id)
	case 4:
		r.Next(now)
	}
}
