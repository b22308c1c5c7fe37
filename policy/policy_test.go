package policy

import (
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/kalan-go/kalan/policy/span"
)

func TestInstantsSaturate(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want Instant
	}{
		{"never stays never", Never.Add(-time.Hour), Never},
		{"the end is never", Instant(math.MaxInt64 - 1).Add(time.Hour), Never},
		{"the beginning stays", Instant(math.MinInt64).Add(-1), math.MinInt64},
		{"plain", Instant(3).Add(4), 7},
		{"plain difference", Instant(Instant(7).Sub(4)), 3},
		{"never away", Instant(Never.Sub(1)), Instant(span.Max)},
		{"never from never", Instant(Never.Sub(Never)), 0},
		{"before the beginning", Instant(Instant(math.MinInt64).Sub(1)), Instant(span.Min)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, int64(c.got), int64(c.want))
		}
	}
}

// The labels are metric labels, problem types and words of scenario files: they
// are one lower-case word each, and no two are the same.
func TestReasonsAreALabelAndASentence(t *testing.T) {
	seen := make(map[string]Reason)
	for r := range Reason(Reasons) {
		label := r.String()
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("reason %d has the label %q", uint8(r), label)
		}
		if other, taken := seen[label]; taken {
			t.Errorf("reasons %d and %d are both %q", uint8(r), uint8(other), label)
		}
		seen[label] = r
		if r.Error() == "" || r.Error() == label && r != None {
			t.Errorf("%s says only %q", label, r.Error())
		}
	}
	if beyond := Reason(Reasons); beyond.String() == "" || beyond.Error() == "" {
		t.Error("a reason beyond the list has no text")
	}
}

func TestOnlyProblemsAreErrors(t *testing.T) {
	warned := Problems{{Path: "slow", Text: "is near the timeout", Warning: true}}
	if err := warned.Err(); err != nil {
		t.Errorf("a warning is the error %v", err)
	}
	both := append(warned, Problem{Path: "calls", Text: "is negative"}, Problem{Text: "is nonsense as a whole"})
	if got, want := both.Err().Error(), "calls: is negative\nis nonsense as a whole"; got != want {
		t.Errorf("errors are %q, want %q", got, want)
	}
	moved := both.Under("breaker")
	if moved[1].Path != "breaker.calls" || moved[2].Path != "breaker" {
		t.Errorf("moved to %q and %q", moved[1].Path, moved[2].Path)
	}
	if both[1].Path != "calls" {
		t.Error("moving changed the original")
	}
}

// A ring of a thousand events is 32 KB, as its comment says.
func TestAnEventIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Event{}); size != 32 {
		t.Errorf("%d bytes", size)
	}
}
