package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim/random"
)

// cutOff is a story of which only the first seconds were played.
func cutOff(c *course, seconds int) *course {
	n := 10 * seconds
	c.offered, c.good, c.backlog = c.offered[:n], c.good[:n], c.backlog[:n]
	return c
}

// What a run cannot know it does not say: each story as it looks when it ends
// too soon, and how many seconds would do.
func TestARunThatEndsTooSoonIsUndecided(t *testing.T) {
	down := func(from, to int) func(int) float64 {
		return func(s int) float64 {
			if s >= from && s < to {
				return 0
			}
			return 100
		}
	}
	full := func(from, to int) func(int) float64 {
		return func(s int) float64 {
			if s >= from && s < to {
				return 1000
			}
			return 10
		}
	}
	late := func(c *course) *course { c.late = true; return c }
	open := func(c *course) *course { c.ends = len(c.good); return c }
	for name, test := range map[string]struct {
		c     *course
		want  Verdict
		needs int // seconds
	}{
		"back in the last five seconds":         {story(down(20, 55), full(20, 55)), Undecided, 65},
		"back ten seconds before the end":       {story(down(20, 50), full(20, 50)), Recovers, 0},
		"back, but for the backlog":             {story(down(20, 55), full(20, 60)), Metastable, 0},
		"five seconds after the trigger":        {cutOff(story(down(20, 30), full(20, 30)), 35), Undecided, 40},
		"five seconds, and still down":          {cutOff(story(down(20, 60), full(20, 60)), 35), Undecided, 45},
		"ten seconds after the trigger":         {cutOff(story(down(20, 30), full(20, 30)), 40), Recovers, 0},
		"ten seconds, and still down":           {cutOff(story(down(20, 60), full(20, 60)), 40), Metastable, 0},
		"nothing fell, five seconds after it":   {cutOff(story(down(0, 0), full(0, 0)), 35), Undecided, 40},
		"recovered, and down again for ever":    {story(func(s int) float64 { return down(20, 32)(s) * down(45, 60)(s) / 100 }, full(45, 60)), Metastable, 0},
		"a trigger in the last second":          {late(cutOff(story(down(20, 30), full(20, 30)), 30)), Undecided, 40},
		"under a trigger, for five seconds":     {open(cutOff(story(down(0, 0), full(0, 0)), 25)), Undecided, 30},
		"under a trigger, for a long time":      {open(story(down(0, 0), full(0, 0))), Stable, 0},
		"under a trigger, down for two seconds": {open(cutOff(story(down(20, 60), full(20, 60)), 22)), Suffers, 0},
	} {
		v, _ := test.c.judge()
		if v != test.want || v == Undecided && (test.c.needs+9)/10 != test.needs {
			t.Errorf("%s: %v, needs %d bins; want %v, %d s", name, v, test.c.needs, test.want, test.needs)
		}
	}
}

// Nobody asks after the trigger: no length of the run would tell.
func TestSilenceIsUndecided(t *testing.T) {
	c := story(func(int) float64 { return 100 }, func(int) float64 { return 0 })
	for b := range c.offered {
		if b >= 250 {
			c.offered[b], c.good[b] = 0, 0
		}
	}
	c.from = 250
	if v, _ := c.judge(); v != Undecided || c.needs != 0 {
		t.Errorf("%v, needs %d", v, c.needs)
	}
}

// Load that grows slowly through what can be answered needs no trigger: what it
// ends as counts, not what it was on average.
func TestASlowRampIsNotStable(t *testing.T) {
	for name, test := range map[string]struct {
		good func(second int) float64
		want Verdict
	}{
		"all of it":                        {func(int) float64 { return 100 }, Stable},
		"down in the last quarter":         {func(s int) float64 { return map[bool]float64{true: 100, false: 0}[s < 45] }, Collapsed},
		"seven tenths in the last quarter": {func(s int) float64 { return map[bool]float64{true: 100, false: 70}[s < 45] }, Suffers},
		"down, and back":                   {func(s int) float64 { return map[bool]float64{true: 100, false: 0}[s < 25 || s > 35] }, Stable},
		"a second before the end":          {func(s int) float64 { return map[bool]float64{true: 100, false: 0}[s < 59] }, Stable},
	} {
		c := story(test.good, func(int) float64 { return 0 })
		c.begins, c.ends = len(c.good), 0
		if v, _ := c.judge(); v != test.want {
			t.Errorf("%s: %v, want %v", name, v, test.want)
		}
	}
}

// ramp is a queue without a bound whose load grows past what it can answer.
func ramp() Scenario {
	server := Target{Service: "server"}
	return Scenario{
		Name: "ramp", Duration: 2 * time.Minute, Replications: 3,
		Services: []Service{{Name: "server", Workers: 1, Work: random.Exponential(10 * time.Millisecond)}},
		Loads: []Load{{Name: "callers", To: server, Deadline: 500 * time.Millisecond,
			Profile: []Point{{Rate: 50, Ramp: true}, {At: 2 * time.Minute, Rate: 150}}}},
	}
}

func TestARampThroughTheCapacityCollapses(t *testing.T) {
	r, err := Run(ramp(), Options{})
	if err != nil || r.Arms[0].Verdict != Collapsed {
		t.Errorf("%v, %v", r.Arms[0].Outcome(), err)
	}
	s := ramp()
	s.Services[0].Queue = Queue{Order: Newest}
	if r, err = Run(s, Options{}); err != nil || r.Arms[0].Verdict != Stable {
		t.Errorf("newest first: %v, %v", r.Arms[0].Outcome(), err)
	}
}

// stall is a server that stands still, and nothing else.
func stall(at, long, duration time.Duration) Scenario {
	server := Target{Service: "server"}
	return Scenario{
		Name: "stall", Duration: duration, Replications: 4,
		Services: []Service{{Name: "server", Workers: 1, Work: random.Exponential(4 * time.Millisecond)}},
		Loads: []Load{{Name: "callers", To: server, Rate: 120,
			Client: &Client{Timeout: time.Second, Retry: &retry.Config{Attempts: 1}}}},
		Triggers: []Trigger{{Name: "stop", What: Stall, Of: server, At: at, For: long}},
	}
}

// An undecided run says how long it would have to be, and when it is that long
// it is not undecided.
func TestUndecidedRunsSayHowLongIsLongEnough(t *testing.T) {
	for name, s := range map[string]Scenario{
		"in the last second":   stall(29*time.Second, time.Second/2, 30*time.Second),
		"in the last moment":   stall(29900*time.Millisecond, 50*time.Millisecond, 30*time.Second),
		"until shortly before": stall(10*time.Second, 15*time.Second, 30*time.Second),
	} {
		r, err := Run(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := &r.Arms[0]
		_, length, said := strings.Cut(a.Doubt, "make its duration at least ")
		if a.Verdict != Undecided || !said || !strings.Contains(a.Doubt, "after the last trigger") {
			t.Fatalf("%s: %v, %q", name, a.Outcome(), a.Doubt)
		}
		for range 3 { // a longer run may show a longer recovery
			if s.Duration, err = time.ParseDuration(length); err != nil {
				t.Fatal(err)
			}
			if r, err = Run(s, Options{}); err != nil {
				t.Fatal(err)
			}
			if _, length, said = strings.Cut(r.Arms[0].Doubt, "make its duration at least "); !said {
				break
			}
		}
		if v := r.Arms[0].Verdict; v != Recovers && v != Stable {
			t.Errorf("%s: %v after %v", name, r.Arms[0].Outcome(), s.Duration)
		}
	}
}

// A claim about verdicts is about every replication.
func TestClaimsOfVerdictsHoldForEveryReplication(t *testing.T) {
	count := func(counts ...any) (r ArmResult) {
		for i := 0; i < len(counts); i += 2 {
			r.Verdicts[counts[i].(Verdict)] = counts[i+1].(int)
		}
		return r
	}
	for text, test := range map[string]struct {
		met, unmet ArmResult
	}{
		"stable":         {count(Stable, 5), count(Stable, 4, Recovers, 1)},
		"not metastable": {count(Stable, 3, SlowDrain, 2), count(Stable, 9, Metastable, 1)},
		"not collapsed":  {count(Metastable, 5), count(Stable, 4, Undecided, 1)},
		"not undecided":  {count(Metastable, 5), count(Stable, 4, Undecided, 1)},
		"undecided":      {count(Undecided, 5), count(Undecided, 4, Recovers, 1)},
		"recovery < 5s":  {count(Stable, 3, Recovers, 2), count(Recovers, 4, Undecided, 1)},
	} {
		var c Claim
		if err := c.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if !test.met.check(c).OK {
			t.Errorf("%s is not met by %v", text, test.met.verdicts())
		}
		if test.unmet.check(c).OK {
			t.Errorf("%s is met by %v", text, test.unmet.verdicts())
		}
	}
}

// Replications that differ are counted, not outvoted.
func TestOutcomesSayWhatTheReplicationsAre(t *testing.T) {
	r := ArmResult{Verdict: Metastable}
	r.Verdicts[Metastable], r.Verdicts[Recovers] = 5, 5
	if got := r.Outcome(); got != "metastable in 5 of 10, recovers in 5 of 10" {
		t.Error(got)
	}
	r.Verdicts[Recovers] = 0
	if got := r.Outcome(); got != "metastable" {
		t.Error(got)
	}
}

// A rollout is over when its last instance is back.
func TestARolloutEndsWithItsLastInstance(t *testing.T) {
	s := Scenario{Duration: time.Hour, Services: []Service{{Name: "server", Instances: 12}}}
	rollout := Trigger{What: Restart, Of: Target{Service: "server"}, At: 30 * time.Second, Every: 12 * time.Second, For: 3 * time.Second,
		Drain: 6 * time.Second, Finish: 20 * time.Second}
	if got := s.end(&rollout); got != 191*time.Second { // 30 + 11 x 12 + 6 + 20 + 3
		t.Error(got)
	}
	rollout.Instances, rollout.Drain, rollout.Finish, rollout.Notice = 2, 0, 0, 5*time.Second
	if got := s.end(&rollout); got != 47*time.Second { // it is listed until five seconds after
		t.Error(got)
	}
}

// Every verdict that is not well says what to do, once however often it was.
func TestWhatIsNotWellHasAdvice(t *testing.T) {
	var r Result
	for v := Stable; v <= Collapsed; v++ {
		for range 2 {
			a := ArmResult{}
			a.Verdicts[v], a.Verdicts[Stable] = a.Verdicts[v]+1, a.Verdicts[Stable]+1
			r.Arms = append(r.Arms, a)
		}
	}
	all := r.Advice()
	for i, v := range []Verdict{Collapsed, Metastable, SlowDrain, Suffers} {
		if len(all) != 4 || !strings.HasPrefix(all[i], v.String()+": ") || len(all[i]) < len(v.String())+20 {
			t.Errorf("%v: %q", v, all)
		}
	}
	r.Arms = r.Arms[:6] // stable, recovers, undecided
	if all := r.Advice(); len(all) > 0 {
		t.Errorf("%q", all)
	}
}
