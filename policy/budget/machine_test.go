package budget_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
)

// An oracle counts as the package comment says, from a list of everything that
// was ever taken. It keeps whole slices of the window, as the budget does.
type oracle struct {
	parts  int64 // ratio in hundredths
	floor  int64
	width  time.Duration // 0: for ever
	flying bool          // counts what is under way
	now    policy.Instant
	taken  []entry
	recent []bool
}

type entry struct {
	slice      int64
	extra      bool
	gone, over bool // undone, ended
}

func (o *oracle) slice() int64 {
	if o.width == 0 {
		return 0
	}
	return int64(time.Duration(o.now) / o.width)
}

func (o *oracle) take(extra bool) int {
	o.taken = append(o.taken, entry{slice: o.slice(), extra: extra})
	return len(o.taken) - 1
}

func (o *oracle) counts() (calls, extra, running int64) {
	for _, e := range o.taken {
		inside := o.slice()-e.slice <= 32
		switch {
		case e.gone, o.flying && e.over:
		case !e.extra && inside:
			calls++
		case e.extra:
			if !e.over {
				running++
			}
			if inside || !e.over {
				extra++
			}
		}
	}
	return calls, extra, running
}

func (o *oracle) floorNow() int64 {
	last, good := o.recent[max(len(o.recent)-10, 0):], 0
	for _, ok := range last {
		if ok {
			good++
		}
	}
	if 2*good < len(last) {
		return 0
	}
	return o.floor
}

func (o *oracle) allows() bool {
	calls, extra, _ := o.counts()
	if o.flying {
		calls += extra
	}
	return 100*extra < o.parts*calls+100*o.floorNow()
}

// Whatever is asked, in whatever order, the budget and the oracle agree.
func TestAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		percent := rapid.IntRange(1, 200).Draw(t, "percent")
		floor := rapid.IntRange(-1, 4).Draw(t, "floor")
		window := rapid.SampledFrom([]time.Duration{-1, 64 * time.Millisecond, time.Second}).Draw(t, "window")
		if floor == 0 {
			floor = -1
		}
		flying := rapid.Bool().Draw(t, "in flight")
		b := budget.New(budget.Config{Ratio: float64(percent) / 100, Floor: floor, Window: window, InFlight: flying})
		o := &oracle{parts: int64(percent), floor: max(int64(floor), 0), flying: flying}
		if window > 0 && !flying {
			o.width = window / 32
		}
		var marks []budget.Mark
		var owners []int
		for range rapid.IntRange(1, 200).Draw(t, "verbs") {
			before := o.now
			now := o.now.Add(time.Duration(rapid.IntRange(-20, 60).Draw(t, "step")) * time.Millisecond)
			o.now = max(o.now, now)
			switch rapid.IntRange(0, 5).Draw(t, "verb") {
			case 0:
				marks, owners = append(marks, b.Call(now)), append(owners, o.take(false))
			case 1, 2:
				want := o.allows()
				m, ok := b.Retry(now)
				if ok != want || ok != m.Held() {
					t.Fatalf("at %v: retry %v, want %v (%+v)", now, ok, want, b.Snapshot(now))
				}
				if ok {
					marks, owners = append(marks, m), append(owners, o.take(true))
				}
			case 3, 4:
				if len(marks) == 0 {
					o.now = before
					continue
				}
				i := rapid.IntRange(0, len(marks)-1).Draw(t, "mark")
				fresh := marks[i].Held()
				if rapid.Bool().Draw(t, "undo") {
					b.Undo(now, &marks[i])
					o.taken[owners[i]].gone = o.taken[owners[i]].gone || fresh
				} else {
					if !fresh && !flying || !flying && !o.taken[owners[i]].extra {
						o.now = before // ends nothing: the time is not looked at
					}
					b.End(now, &marks[i])
					o.taken[owners[i]].over = o.taken[owners[i]].over || fresh
				}
			case 5: // is not told the time
				o.now = before
				good := rapid.Bool().Draw(t, "good")
				b.Heard(good)
				o.recent = append(o.recent, good)
			}
			agree(t, b.Snapshot(o.now), o)
		}
	})
}

func agree(t *rapid.T, s budget.Snapshot, o *oracle) {
	calls, extra, running := o.counts()
	if s.Calls != calls || s.Extra+s.Outlived != extra || s.Running != running || (s.Left > 0) != o.allows() {
		t.Fatalf("snapshot %+v; want %d calls, %d extra, %d running, allowed: %v", s, calls, extra, running, o.allows())
	}
}

// FuzzBudget drives a budget with hostile times and with marks that are copied,
// forged by age, and used twice. No count may become negative, and a budget
// without a floor never allows more than its share and one.
func FuzzBudget(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 3, 200, 1, 4, 5, 255})
	f.Add([]byte{1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 250, 2, 2, 2, 3, 3, 3})
	f.Fuzz(func(t *testing.T, script []byte) {
		flying := len(script)%2 == 1
		b := budget.New(budget.Config{Ratio: 0.5, Floor: -1, Window: time.Second, InFlight: flying})
		var now policy.Instant
		var held []budget.Mark
		for i, verb := range script {
			if verb == 255 {
				flying = !flying
				b.Configure(now, budget.Config{Ratio: 0.5, Floor: -1, Window: time.Second, InFlight: flying})
			}
			switch verb % 8 {
			case 0:
				held = append(held, b.Call(now))
			case 1:
				if m, ok := b.Retry(now); ok {
					held = append(held, m)
				}
			case 2, 3:
				if len(held) > 0 {
					m := held[i%len(held)] // a copy: the original stays held
					b.Undo(now, &m)
					b.Undo(now, &m)
				}
			case 4:
				if len(held) > 0 {
					b.End(now, &held[i%len(held)])
				}
			case 5:
				now = now.Add(time.Duration(verb) << (verb % 60))
			case 6:
				now = now.Add(-time.Duration(verb) * time.Millisecond)
			case 7:
				b.Heard(verb > 128)
			}
			s := b.Snapshot(now)
			if s.Calls < 0 || s.Extra < 0 || s.Running < 0 || s.Outlived < 0 || s.Left < 0 || s.Denied < 0 {
				t.Fatalf("after verb %d: %+v", i, s)
			}
		}
	})
}

// The figures of an outage: at 50 to 200 calls a second, each retried as soon as
// it has failed, ten per cent more arrive than without retries.
func TestOutageAmplification(t *testing.T) {
	for _, rate := range []int{50, 100, 200} {
		b := budget.New(budget.Config{})
		calls, extra := 0, 0
		for i := range 120 * rate {
			now := policy.Instant(i) * (second / policy.Instant(rate))
			first := b.Call(now)
			b.Heard(false)
			b.End(now, &first)
			calls++
			if m, ok := b.Retry(now); ok {
				extra++
				b.Heard(false)
				b.End(now, &m)
			}
		}
		if x := 1 + float64(extra)/float64(calls); x < 1.095 || x > 1.105 {
			t.Errorf("%d a second: amplification %.3f, want 1.10", rate, x)
		}
	}
}
