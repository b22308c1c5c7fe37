package pause

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
)

func TestScenarios(t *testing.T) {
	golden.Scripts(t, "testdata/*.txt", func(t testing.TB) golden.Player {
		var heart Heart
		return func(now policy.Instant, verb string, _ []string) string {
			switch verb {
			case "begin":
				heart = NewHeart(now, Config{})
				return ""
			case "beat":
				return heart.Beat(now).String()
			case "seen":
				p := heart.Pauses()
				return fmt.Sprintf("%d pauses, %v in all, longest %v, last %v until %v", p.Count, p.Total, p.Longest, p.Last, p.Ended)
			}
			t.Fatalf("no verb %q", verb)
			return ""
		}
	})
}

// Beats at any times: no pause is negative or longer than the time that passed,
// and all of them together are not either.
func beats(t *rapid.T) {
	config := Config{
		Every:     time.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "every")),
		Threshold: time.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "threshold")),
	}
	start := policy.Instant(rapid.Int64Min(0).Draw(t, "start"))
	heart, latest := NewHeart(start, config), start
	for range rapid.IntRange(0, 30).Draw(t, "beats") {
		now := policy.Instant(rapid.Int64Min(0).Draw(t, "now"))
		elapsed := max(now, latest).Sub(latest)
		latest = max(now, latest)
		if late := heart.Beat(now); late < 0 || late > elapsed || late > 0 && late <= config.WithDefaults().Threshold {
			t.Fatalf("%v late after %v", late, elapsed)
		}
	}
	if p := heart.Pauses(); p.Total < p.Longest || p.Longest < p.Last || p.Total > latest.Sub(start) || p.Count == 0 && p.Total != 0 {
		t.Fatalf("%+v", p)
	}
}

func TestBeats(t *testing.T) { rapid.Check(t, beats) }

func FuzzHeart(f *testing.F) { f.Fuzz(rapid.MakeFuzz(beats)) }

func TestABeatAllocatesNothing(t *testing.T) {
	heart := NewHeart(0, Config{})
	now := policy.Instant(0)
	if n := testing.AllocsPerRun(100, func() {
		now = now.Add(time.Second)
		heart.Beat(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWrongConfigurationsAreRefusedWhole(t *testing.T) {
	_, err := New(Config{Every: -1, Threshold: -1, Window: math.MinInt64})
	want := `pause:
every: -1ns is negative; write a duration such as 5s, or leave it out
threshold: -1ns is negative; write a duration such as 5s, or leave it out
window: -2562047h47m16.854775808s is negative; write a duration such as 5s, or leave it out`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if w := (Config{Every: time.Hour}).Validate().Error(); w != "window: 1m0s is shorter than one heartbeat of 1h0m0s; write at least 1h0m0s" {
		t.Error(w)
	}
}
