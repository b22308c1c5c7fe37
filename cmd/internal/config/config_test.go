package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
)

// smallest is a configuration with nothing wrong, to be spoilt.
const smallest = "upstreams:\n  bridge: {addresses: [\"http://127.0.0.1:9101\"]}\nroutes:\n  - {match: /, upstream: bridge}\n"

func problems(t *testing.T, text string) string {
	t.Helper()
	_, warnings, err := Read("kalan.yaml", []byte(text))
	var found strict.Problems
	if err != nil && !errors.As(err, &found) {
		t.Fatal(err)
	}
	all := append(found, warnings...)
	all.Sort()
	return all.Error()
}

// All that is wrong is said in one run.
func TestBadInput(t *testing.T) {
	file := filepath.Join("testdata", "bad.yaml")
	_, warnings, err := Load(file)
	if err == nil {
		t.Fatal("nothing is wrong with it")
	}
	golden.File(t, "testdata/bad.txt", fmt.Sprintf("%v\n", err))
	if len(warnings) > 0 {
		t.Errorf("warnings %v", warnings)
	}
}

// O-38: a limit under a key that does not exist was passed over, and a default
// a hundred times as large used.
func TestAMisspeltLimitIsRefused(t *testing.T) {
	text := strings.Replace(smallest, "upstream: bridge}", "upstream: bridge, burts: 5}", 1) +
		"rate_limt: {requests: 60, per: 1m}\nroutes: []\n"
	want := `kalan.yaml:4:34: routes[0].burts: unknown key; did you mean accept.burst or accept.per_address.burst or accept.handshakes.burst?
kalan.yaml:5:1: rate_limt: unknown key; did you mean accept.rate or accept.per_address.rate or accept.handshakes.rate?
kalan.yaml:6:1: routes: duplicate key; it stands on line 3 already: did you mean another key? Keep one of the two`
	if got := problems(t, text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// O-39: a number without a unit was read as nanoseconds.
func TestADurationNeedsAUnit(t *testing.T) {
	with := func(value string) string {
		return strings.Replace(smallest, "bridge: {", "bridge: {exchange: "+value+", ", 1)
	}
	for _, value := range []string{"600", "'600'", "''", "'-5s'", "'1min'", "'inf'", "'1e3s'"} {
		if got := problems(t, with(value)); !strings.HasPrefix(got, "kalan.yaml:2:22: upstreams.bridge.exchange: ") || strings.Contains(got, "\n") {
			t.Errorf("exchange: %s gave\n%s", value, got)
		}
	}
	for _, value := range []string{"'10s'", "'250ms'", "'1m30s'"} {
		if _, _, err := Read("f", []byte(with(value))); err != nil {
			t.Errorf("exchange: %s gave\n%v", value, err)
		}
	}
	want := "kalan.yaml:2:22: warning: upstreams.bridge.exchange: 600ns is less than a millisecond; is the unit right?"
	if got := problems(t, with("'600ns'")); !strings.Contains(got, want) || strings.Count(got, "\n") > 1 {
		t.Errorf("600ns gave\n%s", got)
	}
	if file, _, err := Read("f", []byte(with("'600ns'"))); err != nil || file.Upstreams[0].Exchange != 600 {
		t.Errorf("a suspicious value is a warning, not %v", err)
	}
}

func TestTheSmallestFileHasTheDocumentedDefaults(t *testing.T) {
	file, warnings, err := Read("kalan.yaml", []byte(smallest))
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	u := file.Upstreams[0]
	for what, ok := range map[string]bool{
		"listeners": file.Listen == ":8080" && file.Admin == "127.0.0.1:9901",
		"drain":     file.Drain == settings.Drain{Delay: 5 * time.Second, Finish: 20 * time.Second} && file.Grace == 30*time.Second,
		"deadline":  file.Deadline == settings.Deadline{Header: "X-Remaining-Ms", Default: time.Second, Margin: 5 * time.Millisecond},
		"times":     u.Connect == 200*time.Millisecond && u.Exchange == 800*time.Millisecond && u.Checkout == 50*time.Millisecond,
		"limit":     u.Limit == limit.Config{}.WithDefaults(),
		"room":      u.Room.Waiting == 1000 && u.Room.RetryAfter.String() == "2s-5s",
		"breaker": u.Breaker.Window == time.Minute && u.Breaker.Calls == 20 && u.Breaker.FailureRate == .5 && u.Breaker.Slow == 400*time.Millisecond &&
			u.Breaker.SlowRate == .5 && u.Breaker.Open == 10*time.Second && u.Breaker.Probes == 5 && u.Breaker.HalfOpen == 30*time.Second,
		"retry":    u.Retry.Attempts == 2 && u.Retry.Base == 100*time.Millisecond && u.Retry.Factor == 2 && u.Retry.Cap == time.Second,
		"budget":   u.Budget.Ratio == .1 && u.Budget.Floor == 3 && u.Budget.Window == 10*time.Second,
		"failures": fmt.Sprint(u.Failures) == "{[502 503 504] [connect timeout reset]}",
		"route":    file.Routes[0].Promise == time.Second,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, file)
		}
	}
}

func TestAnExplicitNoneIsNoDefault(t *testing.T) {
	file, _, err := Read("kalan.yaml", []byte(smallest+"drain: {delay: 0, finish: 0s}\ndeadline: {default: 0, margin: 0}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if file.Drain.Delay != -1 || file.Drain.Finish != -1 || file.Deadline.Default != -1 || file.Deadline.Margin != -1 || file.Routes[0].Promise != -1 {
		t.Errorf("got %+v", file)
	}
}

func TestAZeroThatADefaultWouldReplaceIsRefused(t *testing.T) {
	text := strings.Replace(smallest, "bridge: {", "bridge: {exchange: 0, rate: 0, room: {waiting: 0}, breaker: {failure_rate: 0, mode: auto}, retry: {attempts: 0, hedge: off}, ", 1)
	want := `kalan.yaml:2:22: upstreams.bridge.exchange: 0 is not possible here and would mean the default, 800ms; write that or another value, or remove the key
kalan.yaml:2:78: upstreams.bridge.breaker.failure_rate: 0 is not possible here and would mean the default, 0.5; write that or another value, or remove the key
kalan.yaml:2:112: upstreams.bridge.retry.attempts: 0 is not possible here and would mean the default, 2; write that or another value, or remove the key`
	if got := problems(t, text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The configuration of the documentation holds every block.
func TestTheDocumentedFileIsRead(t *testing.T) {
	file, _, err := Load(filepath.Join("testdata", "documented.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if hedge := file.Upstreams[1].Retry.Hedge; hedge.Quantile != .95 {
		t.Errorf("hedged at %+v", hedge)
	}
}

// What is too short for an exchange is said where it was written, and of a
// default at the exchange that outgrew it; of what nobody wrote, nothing.
func TestAnExchangeThatOutgrowsTheBreakerIsWarnedOf(t *testing.T) {
	for keys, want := range map[string]string{
		"exchange: 800ms, breaker: {open: 500ms}": "kalan.yaml:2:45: warning: upstreams.bridge.breaker.open: 500ms is less than exchange, 800ms: a probe that hangs may still hold the slot that is kept for probes when the next are due; write at least 800ms",
		"exchange: 20s":                       "kalan.yaml:2:22: warning: upstreams.bridge.exchange: breaker.open: 10s is less than exchange, 20s: a probe that hangs may still hold the slot that is kept for probes when the next are due; write at least 20s",
		"exchange: 40s, breaker: {open: 40s}": "kalan.yaml:2:22: warning: upstreams.bridge.exchange: breaker.half_open: 30s is less than exchange, 40s: a probe counts as failed before it can time out; write at least 40s",
		"exchange: 20s, cancels: true":        "",
		"exchange: 10s":                       "",
	} {
		text := "upstreams:\n  bridge: {" + keys + ", addresses: [\"http://127.0.0.1:9101\"]}\nroutes:\n  - {match: /, upstream: bridge}\n"
		if got := problems(t, text); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", keys, got, want)
		}
	}
}

func TestExamplesAreRead(t *testing.T) {
	for _, name := range []string{"minimal/kalan.yaml", "trading/kalan.yaml"} {
		if _, warnings, err := Load(filepath.Join("..", "..", "..", "examples", name)); err != nil || warnings != nil {
			t.Errorf("%v %v", err, warnings)
		}
	}
}

// Bare means that every defence that can be off is off.
func TestTheBareExampleHasNoDefences(t *testing.T) {
	file, warnings, err := Load(filepath.Join("..", "..", "..", "examples", "trading", "bare.yaml"))
	if err != nil || len(warnings) != 1 || warnings[0].Path != "defences" {
		t.Fatal(err, warnings)
	}
	if file.Workers != 200 || file.Deadline.Header != settings.NoHeader || file.Deadline.Default > 0 || len(file.Upstreams) != 4 {
		t.Errorf("got %+v", file)
	}
	for i, u := range file.Upstreams {
		if u.Limit.Kind != limit.Unlimited || u.Breaker.Mode != breaker.Disabled || u.Retry.Attempts != 1 || u.Exchange != time.Minute || file.Routes[i].Promise > 0 {
			t.Errorf("%s is defended: %+v", u.Name, u)
		}
	}
}

// What is written and not in force is still checked, and warned of.
func TestDefencesThatAreOffAreStillChecked(t *testing.T) {
	text := strings.Replace(smallest, "bridge: {", "bridge: {exchange: 0, breaker: {slow: 800ms}, ", 1) + "defences: off\n"
	if got := problems(t, text); !strings.Contains(got, "upstreams.bridge.breaker.slow: 800ms is not below exchange") || !strings.Contains(got, "warning: defences: ") {
		t.Errorf("got\n%s", got)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, []byte("# "+strings.Repeat("x", 2<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "there is no such file",
		dir:                             "directory",
		large:                           "is the most that is read",
	} {
		if _, _, err := Load(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s gave %v", name, err)
		}
	}
}
