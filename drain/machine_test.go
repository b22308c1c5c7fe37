package drain

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
		m := NewMachine(Config{})
		return func(now policy.Instant, verb string, _ []string) string {
			switch verb {
			case "enter":
				if !m.Enter(now) {
					return "refused"
				}
			case "exit":
				m.Exit(now)
			case "leave":
				m.Leave(now)
			case "abort":
				m.Abort(now)
			case "look":
			default:
				t.Fatalf("no verb %q", verb)
			}
			state, until := m.Look(now)
			return fmt.Sprintf("%v until %v, %d in flight, %d cut", state, until, m.InFlight(), m.Cut())
		}
	})
}

// Any verbs at any times: the state never goes back, it never stands longer
// than its time, nothing is taken from finishing on, and what is in flight when
// it closes is what is cut.
func leaving(t *rapid.T) {
	c := Config{
		Delay:  time.Duration(rapid.Int64Range(-1, math.MaxInt64).Draw(t, "delay")),
		Finish: time.Duration(rapid.Int64Range(-1, math.MaxInt64).Draw(t, "finish")),
	}
	m := NewMachine(c)
	inFlight, before, latest := 0, Ready, policy.Instant(0)
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		now := policy.Instant(rapid.OneOf(rapid.Int64Range(0, 60e9), rapid.Int64Min(0)).Draw(t, "now"))
		latest = max(latest, now)
		switch verb := rapid.IntRange(0, 9).Draw(t, "verb"); {
		case verb < 4:
			if m.Enter(now) {
				inFlight++
			} else if state, _ := m.Look(now); state < Finishing {
				t.Fatalf("refused while %v", state)
			}
		case verb < 7 && inFlight > 0:
			m.Exit(now)
			inFlight--
		case verb == 7:
			m.Leave(now)
		case verb == 8 && before > Ready:
			m.Abort(now)
		}
		state, until := m.Look(now)
		if state < before || until <= latest && until != policy.Never || m.InFlight() != inFlight {
			t.Fatalf("%v until %v after %v, at %v; %d in flight, want %d", state, until, before, latest, m.InFlight(), inFlight)
		}
		if state == Closed && before != Closed && m.Cut() != inFlight || state != Closed && m.Cut() != 0 {
			t.Fatalf("%v: %d cut, %d in flight", state, m.Cut(), inFlight)
		}
		before = state
	}
}

func TestLeaving(t *testing.T) { rapid.Check(t, leaving) }

func FuzzMachine(f *testing.F) { f.Fuzz(rapid.MakeFuzz(leaving)) }

func TestTheGraceCoversTheWayOut(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{}, ""},
		{Config{Delay: -1, Finish: -1, Grace: 1}, ""},
		{Config{Delay: 10 * s}, "grace: 30s is not longer than delay and finish together (10s and 20s), so that the process is killed in between; write more than 30s, or shorten them"},
		{Config{Grace: 20 * s, Delay: -1}, "grace: 20s is not longer than delay and finish together (0s and 20s), so that the process is killed in between; write more than 20s, or shorten them"},
		{Config{Delay: math.MaxInt64, Finish: math.MaxInt64, Grace: math.MaxInt64}, "grace: 2562047h47m16.854775807s is not longer than delay and finish together (2562047h47m16.854775807s and 2562047h47m16.854775807s), so that the process is killed in between; write more than 2562047h47m16.854775807s, or shorten them"},
		{Config{Grace: -1}, "grace: -1ns is negative; write a duration such as 5s, or leave it out"},
	} {
		if got := test.config.Validate().Error(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.config, got, test.want)
		}
	}
	if _, err := New(Config{Grace: 1}); err == nil {
		t.Error("New took a configuration that is wrong")
	}
}

func TestStatesHaveNames(t *testing.T) {
	if got := fmt.Sprint(Ready, Leaving, Finishing, Closed, State(9)); got != "ready leaving finishing closed invalid" {
		t.Error(got)
	}
}
