package span

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// saturated is the exact result, moved into the range of a duration.
func saturated(exact *big.Int) time.Duration {
	switch {
	case exact.Cmp(big.NewInt(math.MaxInt64)) > 0:
		return Max
	case exact.Cmp(big.NewInt(math.MinInt64)) < 0:
		return Min
	}
	return time.Duration(exact.Int64())
}

func TestArithmeticIsExactOrAtTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		x, y := big.NewInt(a), big.NewInt(b)
		for name, pair := range map[string][2]time.Duration{
			"add": {Add(time.Duration(a), time.Duration(b)), saturated(new(big.Int).Add(x, y))},
			"sub": {Sub(time.Duration(a), time.Duration(b)), saturated(new(big.Int).Sub(x, y))},
			"mul": {Mul(time.Duration(a), b), saturated(new(big.Int).Mul(x, y))},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s(%d, %d) = %d, want %d", name, a, b, pair[0], pair[1])
			}
		}
	})
}

// Above 2^53 a float64 has no room for every nanosecond.
func TestAPartIsNeverLongerThanTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, f := time.Duration(rapid.Int64().Draw(t, "d")), rapid.Float64Range(-1, 1).Draw(t, "f")
		if got := Scale(d, f); magnitude(int64(got)) > magnitude(int64(d)) {
			t.Errorf("%d times %v is %d", d, f, got)
		}
	})
	if d := time.Duration(36028797018963973); Scale(d, 1) > d || Scale(-d, 1) < -d || Scale(d, -1) < -d || Scale(-d, -1) > d {
		t.Errorf("%d times 1 is %d", d, Scale(d, 1))
	}
}

func TestTheEndsOfTheRange(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{
		{"max+1", Add(Max, 1), Max},
		{"min-1", Add(Min, -1), Min},
		{"0-min", Sub(0, Min), Max},
		{"min-max", Sub(Min, Max), Min},
		{"min*-1", Mul(Min, -1), Max},
		{"min*1", Mul(Min, 1), Min},
		{"-1*min", Mul(-1, math.MinInt64), Max},
		{"max*2", Mul(Max, 2), Max},
		{"max*-2", Mul(Max, -2), Min},
		{"max*1.0", Scale(Max, 1), Max},
		{"1s*inf", Scale(time.Second, math.Inf(1)), Max},
		{"1s*-inf", Scale(time.Second, math.Inf(-1)), Min},
		{"0*inf", Scale(0, math.Inf(1)), 0},
		{"1s*nan", Scale(time.Second, math.NaN()), 0},
		{"1ns*.9", Scale(1, .9), 0},
		{"clamp below", Clamp(-1, 0, 5), 0},
		{"clamp above", Clamp(9, 0, 5), 5},
	} {
		if c.got != c.want {
			t.Errorf("%s = %d, want %d", c.name, c.got, c.want)
		}
	}
}

// O-39: a number without a unit is no duration, and neither is anything else
// that somebody would have to guess at.
func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "250ms": 250 * time.Millisecond, "1m30s": 90 * time.Second, "600ns": 600, "0": 0, "0s": 0,
	} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("Parse(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"600", "", "-5s", "+5s", "1min", "inf", "1e3s", "NaN", " 5s", "5s ", "5 s", "s", ".", "9999999999h"} {
		got, err := Parse(text)
		if err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, got)
		} else if !strings.Contains(err.Error(), "write") {
			t.Errorf("Parse(%q) says %q, and not what to write instead", text, err)
		}
	}
}

func TestRangeReadsWhatItWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "low")
		want := Range{time.Duration(low), time.Duration(rapid.Int64Range(low, math.MaxInt64).Draw(t, "high"))}
		text, _ := want.MarshalText()
		var got Range
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("%q reads as %v, %v", text, got, err)
		}
		if u := rapid.Float64Range(0, 1).Draw(t, "u"); got.Pick(u) < got.Min || got.Pick(u) > got.Max {
			t.Errorf("%v at %v is %v", got, u, got.Pick(u))
		}
	})
}

func TestRangeRefuses(t *testing.T) {
	for _, text := range []string{"", "5s-2s", "2-5s", "2s-5", "-2s", "2s-", "1s-2s-3s"} {
		var r Range
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q reads as %v", text, r)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"250ms", "600", "-5s", "1e3s", "9223372036854775807ns", "1h1h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := Parse(text); d < 0 || err != nil && d != 0 {
			t.Errorf("Parse(%q) = %v, %v", text, d, err)
		}
	})
}
