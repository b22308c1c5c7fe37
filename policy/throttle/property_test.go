package throttle

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

// A walk does anything to a throttle in any order, beside an oracle that counts
// from a list of everything that was ever heard.
type walk struct {
	*rapid.T
	th    *Throttle
	c     Config
	at    policy.Instant // what the throttle is told
	now   policy.Instant
	heard []entry
	marks []Mark
	of    []uint8 // the marks' levels
}

type entry struct {
	at       policy.Instant
	level    uint8
	accepted bool
}

func TestAnyWalk(t *testing.T) { rapid.Check(t, anyWalk) }

func FuzzAnyWalk(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyWalk)) }

func anyWalk(t *rapid.T) {
	c := Config{
		K:       rapid.SampledFrom([]float64{0, 1.1, 3}).Draw(t, "k"),
		Window:  rapid.SampledFrom([]time.Duration{0, 160 * time.Millisecond}).Draw(t, "window"),
		Floor:   rapid.SampledFrom([]int{-1, 0, 2}).Draw(t, "floor"),
		Observe: rapid.IntRange(0, 9).Draw(t, "observe") == 0,
	}
	w := &walk{T: t, th: New(c), c: c.WithDefaults()}
	verbs := []func(){w.admit, w.admit, w.admit, w.settle, w.settle, w.undo, w.stale, w.look, w.forget}
	for range 150 {
		step := rapid.SampledFrom([]time.Duration{0, 0, 0, 1, 3 * time.Millisecond, 700 * time.Millisecond, time.Minute, -time.Second}).Draw(t, "step")
		if w.at = w.now.Add(step); step < 0 {
			w.th.RetryAfter(w.now, 0, 0) // it has seen the present, and is told the past
		}
		w.now = max(w.now, w.at)
		verbs[rapid.IntRange(0, len(verbs)-1).Draw(t, "verb")]()
		w.check()
	}
}

// counts are what the oracle finds in the window.
func (w *walk) counts(level uint8) (requests, accepts float64) {
	width := policy.Instant(w.c.Window / slices)
	for _, e := range w.heard {
		if e.level == level && w.now/width-e.at/width < slices {
			requests++
			if e.accepted {
				accepts++
			}
		}
	}
	return requests, accepts
}

func (w *walk) over(level uint8) (over, of float64) {
	requests, accepts := w.counts(level)
	return requests - float64(max(w.c.Floor, 0)) - w.c.K*accepts, requests + 1
}

func (w *walk) share(level uint8) float64 {
	over, of := w.over(level)
	return max(over/of, 0)
}

func (w *walk) admit() {
	level := rapid.SampledFrom([]uint8{0, 0, 0, 1, Levels - 1, Levels, 255}).Draw(w.T, "level")
	of := min(level, Levels-1)
	seed := rapid.Uint64().Draw(w.T, "seed")
	over, out := w.over(of)
	refused := over > 0 && policy.Draw(seed)*out < over
	m, ok := w.th.Admit(w.at, level, seed)
	if want := !refused || w.c.Observe; ok != want || m.Held() != want {
		w.Fatalf("at %v: admitted %v, want %v with %v of %v too many", w.now, ok, want, over, out)
	}
	if ok {
		w.marks, w.of = append(w.marks, m), append(w.of, of)
	} else {
		w.heard = append(w.heard, entry{w.now, of, false})
	}
}

func (w *walk) which() (int, bool) {
	if len(w.marks) == 0 {
		return 0, false
	}
	return rapid.IntRange(0, len(w.marks)-1).Draw(w.T, "which"), true
}

func (w *walk) settle() {
	i, any := w.which()
	if !any {
		return
	}
	o := policy.Outcome(rapid.IntRange(0, 3).Draw(w.T, "outcome"))
	refused := rapid.IntRange(0, 3).Draw(w.T, "refused") == 0
	if w.marks[i].Held() && (o != policy.Cut || refused) {
		w.heard = append(w.heard, entry{w.now, w.of[i], o != policy.Failure && !refused})
	}
	w.th.Settle(w.at, &w.marks[i], o, refused)
}

// undo leaves nothing of a request behind.
func (w *walk) undo() {
	if i, any := w.which(); any {
		before := *w.th
		w.th.Undo(w.at, &w.marks[i])
		if *w.th != before {
			w.Fatalf("an undone request left something behind")
		}
	}
}

// stale uses a mark that says nothing.
func (w *walk) stale() {
	before := *w.th
	var m Mark
	w.th.Settle(w.at, &m, policy.Failure, true)
	w.th.Undo(w.at, &m)
	if *w.th != before {
		w.Fatalf("a mark that holds nothing changed something")
	}
}

// look takes a snapshot, asks when to come back, and configures what there is:
// none of it changes what is decided.
func (w *walk) look() {
	draw := rapid.Float64Range(0, .999).Draw(w.T, "draw")
	back, share := w.th.RetryAfter(w.at, 0, draw), w.share(0)
	if least := w.c.Window / slices; back < least || back > max(2*least, time.Duration(share*float64(w.c.Window))+1) {
		w.Fatalf("come back in %v, at a share of %v of %v", back, share, w.c.Window)
	}
	w.th.Configure(w.at, w.c)
}

func (w *walk) forget() {
	if rapid.IntRange(0, 5).Draw(w.T, "forget") == 0 {
		w.th.Forget()
		w.heard = nil
	}
}

func (w *walk) check() {
	before := *w.th
	s := w.th.Snapshot(w.now)
	if *w.th != before {
		w.Fatalf("a snapshot changed something")
	}
	for i, l := range s.Levels {
		requests, accepts := w.counts(uint8(i))
		if float64(l.Requests) != requests || float64(l.Accepts) != accepts || l.Share != w.share(uint8(i)) || l.Share >= 1 {
			w.Fatalf("level %d at %v: %+v, want %v of %v and %v", i, w.now, l, accepts, requests, w.share(uint8(i)))
		}
	}
}

// Nothing is refused of a level of which one in K is accepted, however its
// answers are mixed, as long as each K requests have one.
func TestNothingIsRefusedWhileOneInKIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 6).Draw(t, "k")
		th := New(Config{K: float64(k), Floor: -1})
		var now policy.Instant
		for i := range 500 {
			m, ok := th.Admit(now, 0, uint64(i))
			if !ok {
				t.Fatalf("request %d is refused: %+v", i, th.Snapshot(now).Levels[0])
			}
			th.Settle(now, &m, policy.Success, i%k != 0)
			if i%k == k-1 { // each K leave the window together
				now = now.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "step")))
			}
		}
	})
}

// FuzzThrottle drives a throttle with hostile figures, hostile times, and marks
// that are copied and used twice.
func FuzzThrottle(f *testing.F) {
	f.Add(2.0, int64(1e10), 5, []byte{0, 1, 1, 2, 3, 200, 1, 4, 5, 255})
	f.Add(-1.0, int64(-1), -1, []byte{1, 1, 1, 1, 250, 6, 7, 0, 0, 8, 8})
	f.Fuzz(func(t *testing.T, k float64, window int64, floor int, script []byte) {
		c := Config{K: k, Window: time.Duration(window), Floor: floor}
		th := New(c)
		var now policy.Instant
		var held []Mark
		for i, verb := range script {
			switch verb % 8 {
			case 0, 1:
				if m, ok := th.Admit(now, verb, uint64(i)); ok {
					held = append(held, m)
				}
			case 2, 3:
				if len(held) > 0 {
					m := held[i%len(held)] // a copy: the original stays held
					th.Settle(now, &m, policy.Outcome(verb/8%4), verb > 128)
					th.Settle(now, &m, policy.Failure, true)
				}
			case 4:
				now = now.Add(time.Duration(verb) << (verb % 60))
			case 5:
				now = now.Add(-time.Duration(verb) * time.Millisecond)
			case 6:
				th.Configure(now, Config{K: k / 2, Window: time.Duration(window / 2), Floor: floor / 2})
			case 7:
				th.Configure(now, c)
			}
			for level, l := range th.Snapshot(now).Levels {
				if l.Accepts > l.Requests || l.Requests > 256 {
					t.Fatalf("after verb %d, level %d: %+v", i, level, l)
				}
			}
			if after := th.RetryAfter(now, verb, .5); after <= 0 {
				t.Fatalf("after verb %d: come back in %v", i, after)
			}
		}
	})
}
