package limit

import (
	"fmt"
	"testing"

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

// What is taken is given back exactly once, whatever order and how often.
func TestSlotsBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New(Fixed(rapid.IntRange(1, 8).Draw(t, "slots")))
		tokens := make([]Token, 16)
		held := map[int]bool{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			i := rapid.IntRange(0, len(tokens)-1).Draw(t, "token")
			now := policy.Instant(rapid.Int64().Draw(t, "now"))
			switch rapid.IntRange(0, 2).Draw(t, "verb") {
			case 0:
				if !held[i] && l.Free() {
					tokens[i], held[i] = l.Take(now), true
				}
			case 1:
				l.Give(now, &tokens[i], Sample{})
				delete(held, i)
			case 2:
				l.Undo(now, &tokens[i])
				delete(held, i)
			}
			if l.InFlight() != len(held) || l.InFlight() > l.Max() {
				t.Fatalf("%d in flight of %d, want %d", l.InFlight(), l.Max(), len(held))
			}
		}
	})
}

func TestTextForm(t *testing.T) {
	for _, text := range []string{"1", "25", "adaptive", "none"} {
		var c Config
		if err := c.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := c.MarshalText(); string(got) != text {
			t.Errorf("%q came back as %q", text, got)
		}
	}
	for _, text := range []string{"", "0", "-1", "2.5", "NaN", "Inf", "1e3", " 25", "unlimited", "99999999999999999999"} {
		var c Config
		if err := c.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, c)
		}
	}
}
