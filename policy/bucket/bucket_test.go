package bucket

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

func TestScripts(t *testing.T) {
	golden.Scripts(t, "testdata/*.txt", func(t testing.TB) golden.Player {
		p := &player{t: t}
		return p.tell
	})
}

type player struct {
	t      testing.TB
	bucket *Bucket
	mark   Mark
}

func (p *player) tell(now policy.Instant, verb string, args []string) string {
	switch verb {
	case "bucket":
		p.bucket = New(p.config(args))
		return ""
	case "configure":
		p.bucket.Configure(now, p.config(args))
	case "take":
		var ok bool
		if p.mark, ok = p.bucket.Take(now, p.number(args[0])); !ok {
			return "refused, again at " + p.bucket.RetryAt(now, p.number(args[0])).String()
		}
	case "reserve":
		wait, err := time.ParseDuration(args[1])
		if err != nil {
			p.t.Fatal(err)
		}
		var at policy.Instant
		var ok bool
		if p.mark, at, ok = p.bucket.Reserve(now, p.number(args[0]), now.Add(wait)); !ok {
			return "refused, again at " + at.String()
		}
		return "at " + at.String()
	case "undo":
		p.bucket.Undo(now, &p.mark)
	case "look":
	default:
		p.t.Fatalf("unknown verb %q", verb)
	}
	return strconv.FormatFloat(p.bucket.Snapshot(now).Left, 'f', 2, 64) + " left"
}

func (p *player) config(args []string) (c Config) {
	for _, arg := range args {
		switch key, value, _ := strings.Cut(arg, "="); key {
		case "rate":
			c.Rate = float64(p.number(value))
		case "burst":
			c.Burst = p.number(value)
		case "observe":
			c.Observe = true
		default:
			p.t.Fatalf("unknown word %q", arg)
		}
	}
	return c
}

func (p *player) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// Whatever is asked: in no stretch are more calls allowed than the burst and
// what the rate gives in it, what is left stays within the burst, a refused
// call is allowed at the instant that was named, and one nanosecond before it
// is not.
func TestRateIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Rate: rapid.Float64Range(0.001, 1e6).Draw(t, "rate"), Burst: rapid.IntRange(1, 50).Draw(t, "burst")}
		b := New(c)
		type grant struct {
			at policy.Instant
			n  int
		}
		var grants []grant
		var now policy.Instant
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Float64Range(0, 3).Draw(t, "intervals") / c.Rate * 1e9))
			n := rapid.IntRange(0, c.Burst+1).Draw(t, "n")
			want := b.RetryAt(now, n)
			m, ok := b.Take(now, n)
			if ok != (want == now) {
				t.Fatalf("%d at %v: %v, but possible at %v", n, now, ok, want)
			}
			if rapid.IntRange(0, 4).Draw(t, "undo") == 0 {
				b.Undo(now, &m)
				b.Undo(now, &m)
			} else if ok {
				grants = append(grants, grant{now, n})
			}
			if left := b.Snapshot(now).Left; left < 0 || left > float64(c.Burst) {
				t.Fatalf("%v left of %d", left, c.Burst)
			}
			if at := b.RetryAt(now, n); at != policy.Never && at > now {
				early, late := *b, *b
				if _, ok := early.Take(at-1, n); ok {
					t.Fatalf("%d allowed before %v", n, at)
				}
				if _, ok := late.Take(at, n); !ok {
					t.Fatalf("%d refused at %v", n, at)
				}
			}
		}
		for i := range grants {
			sum := 0
			for _, g := range grants[i:] {
				sum += g.n
				most := float64(c.Burst) + g.at.Sub(grants[i].at).Seconds()*c.Rate*(1+1e-9) + 1e-6
				if float64(sum) > most {
					t.Fatalf("%d allowed in %v", sum, g.at.Sub(grants[i].at))
				}
			}
		}
	})
}

// O-11.
func TestRateZeroIsNotUnlimited(t *testing.T) {
	b := New(Config{Burst: 1})
	if !b.Allow(0) {
		t.Error("the burst is refused")
	}
	for i := range 1000 {
		if b.Allow(policy.Instant(i)) {
			t.Fatal("allowed beyond the burst")
		}
	}
	day := policy.Instant(24 * time.Hour)
	if b.Allow(day) {
		t.Error("allowed a day later")
	}
	if _, at, ok := b.Reserve(day, 1, policy.Never); ok || at != policy.Never {
		t.Errorf("reserved for %v", at)
	}
	for _, none := range []Config{{}, {Burst: -1}, {Rate: 5, Burst: -1}} {
		if b := New(none); b.Allow(0) || b.RetryAt(day, 1) != policy.Never {
			t.Errorf("%+v allows a call", none)
		}
	}
}

func TestBadConfigurations(t *testing.T) {
	for _, c := range []Config{
		{Rate: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)}, {Rate: math.Inf(-1)}, {Rate: 2e9},
		{Rate: 1, Burst: maxBurst + 1}, {Rate: 1e-9, Burst: 1 << 20},
	} {
		if c.Validate().Err() == nil {
			t.Errorf("%+v is accepted", c)
		}
		b := New(c) // and yet harmless
		allowed := 0
		for i := range 1000 {
			if b.Allow(policy.Instant(i)) {
				allowed++
			}
		}
		if c.Rate < 0 && allowed > 0 {
			t.Errorf("%+v allows %d calls", c, allowed)
		}
	}
	for _, c := range []Config{{}, {Rate: 1e9}, {Rate: 1e-3, Burst: 1}, {Rate: 500, Burst: 200}, {Burst: -1}} {
		if err := c.Validate().Err(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if again := c.WithDefaults().WithDefaults(); again != c.WithDefaults() {
			t.Errorf("%+v has no stable defaults", c)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	b := New(Config{Rate: 1e6, Burst: 10})
	var now policy.Instant
	if n := testing.AllocsPerRun(1000, func() {
		now++
		m, _ := b.Take(now, 1)
		b.Undo(now, &m)
		b.Allow(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Any verbs at any instants: no panic, and never more left than the burst.
func FuzzBucket(f *testing.F) {
	f.Add(5.0, 3, int64(0), int64(1e9), 1)
	f.Add(0.0, 1, int64(math.MaxInt64), int64(-1), -5)
	f.Fuzz(func(t *testing.T, rate float64, burst int, at, then int64, n int) {
		b := New(Config{Rate: rate, Burst: burst})
		for _, now := range []policy.Instant{policy.Instant(at), policy.Instant(then), policy.Never} {
			b.Allow(now)
			m, when, ok := b.Reserve(now, n, now.Add(time.Second))
			if ok && when.Sub(max(now, policy.Instant(at), policy.Instant(then))) > time.Second {
				t.Fatalf("reserved for %v at %v", when, now)
			}
			b.Undo(now, &m)
			if s := b.Snapshot(now); !(s.Left <= float64(s.Burst)) || s.Burst < 0 {
				t.Fatalf("%+v", s)
			}
			b.Configure(now, Config{Rate: rate / 2, Burst: burst / 2})
		}
	})
}

func BenchmarkAllow(b *testing.B) {
	for _, rate := range []float64{1, 1e9} {
		b.Run(fmt.Sprint("rate=", rate), func(b *testing.B) {
			bucket := New(Config{Rate: rate, Burst: 10})
			var now policy.Instant
			for b.Loop() {
				now += 10
				bucket.Allow(now)
			}
		})
	}
}

// Whoever reserves and whoever gives back: never more calls in any stretch than
// the burst and what the rate gives since.
func TestReservedAndGivenBackIsNeverMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := New(Config{Rate: 10, Burst: rapid.IntRange(1, 5).Draw(t, "burst")})
		type turn struct {
			mark Mark
			at   policy.Instant
		}
		var turns []turn
		var now policy.Instant
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 150).Draw(t, "ms")) * time.Millisecond)
			if i := rapid.IntRange(-2, len(turns)-1).Draw(t, "leaves"); i >= 0 && turns[i].at > now {
				b.Undo(now, &turns[i].mark)
				turns = slices.Delete(turns, i, i+1)
			} else if m, at, ok := b.Reserve(now, 1, now.Add(time.Second)); ok {
				turns = append(turns, turn{m, at})
			}
		}
		slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
		for i, first := range turns {
			for j, last := range turns[i:] {
				if most := float64(b.rule.burst) + 10*last.at.Sub(first.at).Seconds() + 1e-6; float64(j+1) > most {
					t.Fatalf("%d calls from %v to %v", j+1, first.at, last.at)
				}
			}
		}
	})
}
