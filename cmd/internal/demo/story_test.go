package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
)

// told is an account of two bridges over ten seconds, of which the first hangs
// after the second. fate says what becomes of a caller.
func told(fate func(bridge int, at time.Duration) (openloop.Outcome, time.Duration)) *account {
	a := newAccount([]string{"a", "b"})
	a.start, a.hangs, a.length = time.Now(), 2*time.Second, 10*time.Second
	for bridge := range a.bridges {
		for n := range 200 {
			at := time.Duration(n) * 50 * time.Millisecond
			outcome, took := fate(bridge, at)
			a.hear(bridge, openloop.Result{Shot: openloop.Shot{Number: n, At: a.start.Add(at)}, Outcome: outcome, Took: took})
		}
	}
	return a
}

// defended is what the documentation promises.
func defended(bridge int, at time.Duration) (openloop.Outcome, time.Duration) {
	switch {
	case bridge == 1 || at < 2*time.Second:
		return openloop.InTime, 20 * time.Millisecond
	case at < 2500*time.Millisecond:
		return openloop.Failed, 800 * time.Millisecond
	case at <= 4*time.Second:
		return openloop.Refused, 52 * time.Millisecond
	}
	return openloop.Refused, time.Millisecond
}

func opensAfter(a *account, d time.Duration) *account {
	a.sawOpen(0, a.start.Add(d))
	a.sawOpen(0, a.start.Add(d+5*time.Second)) // the first time counts
	return a
}

func TestTheStoryAsPromisedHolds(t *testing.T) {
	var out bytes.Buffer
	if broken := verdict(&out, with(opensAfter(told(defended), 4*time.Second))); len(broken) > 0 {
		t.Errorf("broken: %v", broken)
	}
	if got := strings.Count(out.String(), "held"); got != 4 {
		t.Errorf("%d claims held, want 4:\n%s", got, &out)
	}
}

func TestEachBrokenPromiseIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		fate  func(int, time.Duration) (openloop.Outcome, time.Duration)
		opens time.Duration
		says  string
	}{
		"neighbour suffers": {func(bridge int, at time.Duration) (openloop.Outcome, time.Duration) {
			if bridge == 1 && at < 150*time.Millisecond {
				return openloop.Late, time.Second
			}
			return defended(bridge, at)
		}, 4 * time.Second, "b answers at least 99 % in time: 98.5 %"},
		"opens late":     {defended, 6 * time.Second, "breaker opens within 3s of the hang: it took 4s"},
		"opens before":   {defended, time.Second, "breaker opens within 3s of the hang: it took -1s"},
		"never opens":    {defended, 0, "it never did"},
		"refuses slowly": {slower(70*time.Millisecond, time.Millisecond), 4 * time.Second, "until then its callers are refused within 60ms of asking"},
		"open and slow":  {slower(50*time.Millisecond, 6*time.Millisecond), 4 * time.Second, "and after that within 5ms"},
		"nobody is refused": {func(int, time.Duration) (openloop.Outcome, time.Duration) {
			return openloop.InTime, time.Millisecond
		}, 4 * time.Second, "0 were"},
	} {
		t.Run(name, func(t *testing.T) {
			a := told(c.fate)
			if c.opens > 0 {
				opensAfter(a, c.opens)
			}
			var out bytes.Buffer
			err := judge(verdict(&out, with(a)), 0)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v does not say %q", err, c.says)
			}
		})
	}
}

// slower is the promised story with other times for refusals.
func slower(before, after time.Duration) func(int, time.Duration) (openloop.Outcome, time.Duration) {
	return func(bridge int, at time.Duration) (openloop.Outcome, time.Duration) {
		outcome, took := defended(bridge, at)
		switch {
		case outcome != openloop.Refused:
			return outcome, took
		case at <= 4*time.Second:
			return outcome, before
		}
		return outcome, after
	}
}

func TestWithoutDefencesEveryoneFalls(t *testing.T) {
	down := func(_ int, at time.Duration) (openloop.Outcome, time.Duration) {
		if at < 5*time.Second {
			return openloop.InTime, 20 * time.Millisecond
		}
		return openloop.Late, time.Second
	}
	a := told(down)
	if after, fell := a.fall(1); !fell || after != 3*time.Second {
		t.Errorf("b fell %v after the hang, %v; want 3s", after, fell)
	}
	if broken := verdict(&bytes.Buffer{}, without(a)); len(broken) > 0 {
		t.Errorf("broken: %v", broken)
	}
	if broken := verdict(&bytes.Buffer{}, without(told(defended))); len(broken) != 1 {
		t.Errorf("b answers to the end and %v is broken", broken)
	}
}

func TestTheReportSaysWhatBecameOfEveryCaller(t *testing.T) {
	a := opensAfter(told(defended), 4*time.Second)
	var out bytes.Buffer
	heading(&out, a)
	progress(&out, a, 0)
	progress(&out, a, 2)
	table(&out, a)
	for _, want := range []string{
		"######   20/20", "......    0/20", "<- a hangs",
		"breaker opened", "2.0 s after the hang", "52ms, 52ms", "1ms, 1ms",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}
