package nearest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWord(t *testing.T) {
	known := []string{"breaker", "retry", "slow", "slow_rate", "burst", "attempts", "rate", "room", "bridge-a", "bridge-b"}
	for word, want := range map[string]string{
		"slwo":         "slow",
		"burts":        "burst",
		"breakr":       "breaker",
		"brake":        "breaker",
		"SLOW":         "slow",
		"retries":      "retry",
		"rate_limt":    "rate",
		"max_attempts": "attempts",
		"bridge-c":     "bridge-a",
		"bridge_b":     "bridge-b",
		"listen":       "",
		"":             "",
		"x":            "",
	} {
		got, ok := Word(word, known)
		if got != want || ok != (want != "") {
			t.Errorf("Word(%q) = %q, %v; want %q", word, got, ok, want)
		}
	}
}

func TestWordIsBoundedOnHostileLengths(t *testing.T) {
	long := strings.Repeat("slow", 1<<18)
	if got, ok := Word(long, []string{"room"}); ok {
		t.Errorf("a word of a million letters is like %q", got)
	}
}

func TestDistanceIsAMetricOfItsArguments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c_]{0,8}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		switch {
		case d != distance(b, a):
			t.Fatalf("%q and %q: %d one way, %d the other", a, b, d, distance(b, a))
		case (d == 0) != (a == b):
			t.Fatalf("%q and %q: %d", a, b, d)
		case d > max(len(a), len(b)), d < max(len(a), len(b))-min(len(a), len(b)):
			t.Fatalf("%q and %q: %d is outside what lengths allow", a, b, d)
		}
	})
}
