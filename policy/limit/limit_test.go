package limit

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

func TestScripts(t *testing.T) {
	golden.Scripts(t, "testdata/fixed*.txt", func(t testing.TB) golden.Player {
		p := &player{t: t, tokens: map[string]Token{}}
		return p.tell
	})
}

type player struct {
	t      testing.TB
	limit  *Limit
	tokens map[string]Token
}

func (p *player) tell(now policy.Instant, verb string, args []string) string {
	switch verb {
	case "limit":
		var c Config
		if err := c.UnmarshalText([]byte(args[0])); err != nil {
			return err.Error()
		}
		p.limit = New(c)
	case "take":
		if !p.limit.Free() {
			return "none free"
		}
		p.tokens[args[0]] = p.limit.Take(now)
	case "probe":
		p.tokens[args[0]] = p.limit.Take(now)
	case "undo", "give":
		token := p.tokens[args[0]]
		if verb == "undo" {
			p.limit.Undo(now, &token)
		} else {
			p.limit.Give(now, &token, Sample{Outcome: policy.Success})
		}
		p.tokens[args[0]] = token
	default:
		p.t.Fatalf("unknown verb %q", verb)
	}
	return fmt.Sprintf("%d of %d", p.limit.InFlight(), p.limit.Max())
}

var allKinds = []Kind{Adaptive, Constant, Unlimited, AIMD, Vegas, Gradient2}

// What is taken is given back exactly once, whatever order and how often, and
// whatever is told of the calls: the limit stays between one and its maximum,
// and everything that can be read is a number.
func TestSlotsBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New(Config{
			Kind:    rapid.SampledFrom(allKinds).Draw(t, "kind"),
			Max:     rapid.IntRange(0, 50).Draw(t, "max"),
			Observe: rapid.Bool().Draw(t, "observe"),
		})
		tokens := make([]Token, 16)
		held := map[int]bool{}
		var now policy.Instant
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			i := rapid.IntRange(0, len(tokens)-1).Draw(t, "token")
			now = now.Add(time.Duration(rapid.Int64Range(-10, 1e8).Draw(t, "pass")))
			switch rapid.IntRange(0, 4).Draw(t, "verb") {
			case 0, 1:
				if !held[i] && l.Free() {
					tokens[i], held[i] = l.Take(now), true
				}
			case 2:
				l.Give(now, &tokens[i], sample(t))
				delete(held, i)
			case 3:
				l.Undo(now, &tokens[i])
				delete(held, i)
			case 4:
				l.Refused(now, policy.Expired)
			}
			if l.InFlight() != len(held) || l.InFlight() > l.Max() && !l.config.Observe && l.config.Kind == Constant {
				t.Fatalf("%d in flight of %d, want %d", l.InFlight(), l.Max(), len(held))
			}
			sane(t, l, now)
		}
	})
}

func sample(t *rapid.T) Sample {
	return Sample{
		Outcome:   rapid.SampledFrom([]policy.Outcome{policy.Success, policy.Success, policy.Failure, policy.Ignored, policy.Cut}).Draw(t, "outcome"),
		Late:      rapid.IntRange(0, 3).Draw(t, "late") == 0,
		Refused:   rapid.IntRange(0, 9).Draw(t, "refused") == 0,
		Remaining: time.Duration(rapid.Int64().Draw(t, "remaining")),
	}
}

func sane(t interface{ Fatalf(string, ...any) }, l *Limit, now policy.Instant) {
	s := l.Snapshot(now)
	if s.Max < 1 || s.Max > l.config.Max || s.InFlight < 0 {
		t.Fatalf("%+v", s)
	}
	if s.Mean < 0 || s.Deviation < 0 || s.P50 > s.P99 || s.Base < 0 || !(s.Useful >= 0) || math.IsInf(s.Useful, 0) {
		t.Fatalf("%+v", s)
	}
	if p := l.Predict(now, 1); p < 0 || p > l.Predict(now, 1000) {
		t.Fatalf("one call takes %v, one among a thousand %v", p, l.Predict(now, 1000))
	}
}

func FuzzLimit(f *testing.F) {
	f.Add(uint8(0), []byte{0, 1, 0, 2, 9, 130, 7, 1, 0, 0, 0, 8, 8, 8})
	f.Add(uint8(4), []byte("some calls, all of them strange"))
	f.Fuzz(func(t *testing.T, kind uint8, script []byte) {
		l := New(Config{Kind: allKinds[int(kind)%len(allKinds)]})
		var tokens []Token
		var now policy.Instant
		for _, b := range script {
			now = now.Add(time.Duration(b>>3) << (b >> 3)) // from no time to minutes
			if b&1 == 0 && l.Free() {
				tokens = append(tokens, l.Take(now))
			} else if len(tokens) > 0 {
				l.Give(now, &tokens[0], Sample{
					Outcome: policy.Outcome(b >> 1 & 3), Late: b&8 != 0, Refused: b == 255,
					Remaining: time.Duration(b) << (b >> 2),
				})
				tokens = tokens[1:]
			}
			sane(t, l, now)
		}
		for i := range tokens {
			l.Give(policy.Never, &tokens[i], Sample{})
		}
		if l.InFlight() != 0 {
			t.Fatalf("%d in flight at the end", l.InFlight())
		}
	})
}

func TestTextForm(t *testing.T) {
	for _, text := range []string{"1", "25", "adaptive", "none", "aimd", "vegas", "gradient2"} {
		var c Config
		if err := c.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := c.MarshalText(); string(got) != text {
			t.Errorf("%q came back as %q", text, got)
		}
		if err := c.Validate().Err(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if c = c.WithDefaults(); c != c.WithDefaults() {
			t.Errorf("%q has no stable defaults", text)
		}
	}
	for _, text := range []string{"", "0", "-1", "2.5", "NaN", "Inf", "1e3", " 25", "constant", "99999999999999999999"} {
		var c Config
		if err := c.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, c)
		}
	}
	for _, c := range []Config{Fixed(-1), Fixed(0), {Max: -1}, {Kind: 77}, {Max: 1 << 40}} {
		if c.Validate().Err() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// A quantile is right to the width of a cell.
func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b histogram
		took := rapid.SliceOfN(rapid.Int64Range(1<<finest, int64(20*time.Minute)), 1, 300).Draw(t, "took")
		for i, d := range took {
			h := &a
			if i%2 == 0 {
				h = &b
			}
			h.add(cellOf(time.Duration(d)))
		}
		slices.Sort(took)
		for _, q := range []float64{0, .5, .99} {
			want := float64(took[int(q*float64(len(took)))])
			if got := float64(quantile(q, &a, &b)); math.Abs(got-want) > want/14 {
				t.Fatalf("quantile %v is %v, want %v", q, got, want)
			}
		}
	})
}

// Calls that take always the same time take the smoothed deviation down to
// nothing, and not to the numbers below the smallest normal one, with which a
// processor reckons ten times as slowly.
func TestEqualTimesLeaveNoSubnormal(t *testing.T) {
	for _, kind := range allKinds {
		l := New(Config{Kind: kind})
		var now policy.Instant
		for range 200_000 {
			token := l.Take(now)
			now = now.Add(time.Millisecond)
			l.Give(now, &token, Sample{Outcome: policy.Success})
		}
		const smallest = 0x1p-1022
		if d := l.seen.deviation; d != 0 && d < smallest {
			t.Errorf("%v: deviation %v", kind, d)
		}
		if s := l.Snapshot(now); s.Mean != time.Millisecond || s.Deviation != 0 {
			t.Errorf("%v: %v ± %v", kind, s.Mean, s.Deviation)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	for _, kind := range allKinds {
		l := New(Config{Kind: kind})
		var now policy.Instant
		if n := testing.AllocsPerRun(5000, func() {
			now = now.Add(time.Millisecond)
			l.Predict(now, 1)
			token := l.Take(now)
			l.Give(now.Add(time.Millisecond), &token, Sample{Outcome: policy.Success})
		}); n != 0 {
			t.Errorf("%v: %v allocations a call", kind, n)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	for _, kind := range allKinds {
		b.Run(kind.String(), func(b *testing.B) {
			l := New(Config{Kind: kind})
			var ring [8]Token
			var now policy.Instant
			for i := 0; b.Loop(); i++ {
				now = now.Add(time.Millisecond)
				l.Give(now, &ring[i%8], Sample{Outcome: policy.Success})
				if l.Free() {
					ring[i%8] = l.Take(now)
				}
			}
		})
	}
}
