package sim_test

import (
	"strings"
	"testing"

	"github.com/kalan-go/kalan/sim"
)

func TestClaimsAreReadAsTheyAreWritten(t *testing.T) {
	for _, text := range []string{
		"stable", "not metastable", "slow drain", "recovers", "collapsed", "suffers",
		"goodput >= 0.95 capacity", "goodput of orders >= 0.99 offered", "goodput >= 39 from 1m0s to 1m20s", "attempts <= 600",
		"amplification <= 1.1", "amplification of gateway>bridge-a < 1.1", "recovery < 5s", "p99.9 of orders <= 200ms",
		"refused of bulk <= 0.2", "failed == 0", "wasted <= 0.05", "wasted of c <= 0", "visits of store <= 1.4", "work of c <= 0.5", "queue of server <= 300",
	} {
		var c sim.Claim
		if err := c.UnmarshalText([]byte(text)); err != nil || c.String() != text {
			t.Errorf("%q is read as %q, %v", text, c, err)
		}
	}
}

func TestBadClaimsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "write a verdict",
		"not":                                    "write a verdict",
		"not goodput":                            "write a verdict",
		"better":                                 "write a verdict",
		"goodput":                                "after the figure comes a comparison",
		"goodput = 3":                            "after the figure comes a comparison",
		"goodput >=":                             "after the figure comes a comparison",
		"goodput of":                             "after the figure comes a comparison",
		"goodput >= many":                        `"many" is not a number`,
		"goodput >= NaN":                         "not a number to compare with",
		"goodput >= -1":                          "not a number to compare with",
		"goodput >= 1e99":                        "not a number to compare with",
		"goodput >= 5s":                          `"5s" is not a number`,
		"recovery < 5":                           "write a duration such as 5s",
		"p99 < 5":                                "write a duration such as 5s",
		"recovery < 5 parsecs":                   "write a duration such as 5s",
		"recovery < -5s":                         "sign",
		"wasted <= 0.1 capacity":                 "only goodput and attempts compare with capacity",
		"goodput >= 1 twice":                     "follows",
		"goodput >= 1 from 3s":                   "follows",
		"goodput >= 1 from 3s to 2s":             "ends before it begins",
		"goodput >= 1 from x to 2s":              "duration",
		"wasted <= 1 from 1s to 2s":              "known for the whole run alone",
		"p99 < 1s from 1s to 2s":                 "known for the whole run alone",
		"amplification of a>b < 1 from 1s to 2s": "known for the whole run alone",
	} {
		var c sim.Claim
		if err := c.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzClaim(f *testing.F) {
	for _, text := range []string{"stable", "not metastable", "goodput of a >= 0.95 capacity from 1s to 2s", "p99 < 3ms", "amplification of a>b <= 1.1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c, again sim.Claim
		if c.UnmarshalText([]byte(text)) != nil {
			return
		}
		if err := again.UnmarshalText([]byte(c.String())); err != nil || again.String() != c.String() {
			t.Fatalf("%q is written as %q, which is read as %q, %v", text, c, again, err)
		}
	})
}

// Each metric is what it says, on a system that is easily counted: 100 requests a
// second at even distances, 10 ms of one worker each; half of them twice.
func TestClaimsAreCheckedAgainstWhatHappened(t *testing.T) {
	s := sim.Scenario{
		Name: "claims", Replications: 2, Duration: 20 * second, Warmup: -1,
		Services: []sim.Service{
			{Name: "front", Script: []sim.Step{{Action: sim.Action{Call: target("back")}}}, Client: &sim.Client{}},
			{Name: "back", Workers: 2, Work: mustLaw(t, "10ms")},
		},
		Loads: []sim.Load{{Name: "a", To: target("front"), Rate: 60, Even: true}, {Name: "b", To: target("back"), Rate: 40, Even: true}},
	}
	yes := []string{
		"stable", "not metastable", "recovery < 1s", "goodput >= 99.9", "goodput of a >= 59.9", "goodput of b <= 40", "goodput >= 0.999 offered",
		"goodput >= 0.49 capacity", "goodput <= 0.51 capacity", "attempts == 100", "attempts of b <= 1 offered", "amplification == 1",
		"amplification of front>back == 1", "p50 < 11ms", "p99 of a >= 9.9ms", "refused == 0", "failed of b == 0", "wasted <= 0", "wasted of back == 0",
		"visits of back == 1", "visits of front <= 0.61", "work of back >= 0.99", "queue of back <= 1", "goodput of a >= 59 from 5s to 10s", "attempts <= 101 from 5s to 10s",
	}
	no := []string{
		"metastable", "not stable", "recovery > 1s", "goodput < 99", "p50 > 11ms", "wasted > 0", "visits of back > 1", "queue of back > 2", "goodput of b > 41 from 5s to 10s",
	}
	for _, text := range append(append([]string{}, yes...), no...) {
		var c sim.Claim
		if err := c.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		s.Expect = append(s.Expect, c)
	}
	r := play(t, s, sim.Options{})
	for i, c := range r.Arms[0].Checks {
		if c.OK != (i < len(yes)) {
			t.Errorf("%v is %v: it is %s", c.Claim, c.OK, c.Got)
		}
	}
	if failed := r.Failed(); len(failed) != len(no) || !strings.HasPrefix(failed[0], "claims: expected metastable, and it is stable in 2 of 2") {
		t.Errorf("failed: %q", failed)
	}
}
