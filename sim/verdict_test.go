package sim

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim/random"
)

// A story is a course in seconds: 100 requests each, a trigger from second 20
// to 30, a minute in all.
func story(good, backlog func(second int) float64) *course {
	c := &course{bin: 100 * time.Millisecond, from: 50, begins: 200, ends: 300}
	for b := range 600 {
		c.offered = append(c.offered, 10)
		c.good = append(c.good, good(b/10)/10)
		c.backlog = append(c.backlog, backlog(b/10))
	}
	return c
}

func TestVerdicts(t *testing.T) {
	none := func(int) float64 { return 0 }
	grows := func(s int) float64 { return float64(10 * max(s-20, 0)) }
	shrinks := func(s int) float64 { return float64(1000 - 10*s) }
	bound := func(s int) float64 { return 450 }
	between := func(low, from, to int, then float64) func(int) float64 {
		return func(s int) float64 {
			if s >= from && s < to {
				return float64(low)
			}
			if s >= to {
				return then
			}
			return 100
		}
	}
	for name, test := range map[string]struct {
		c     *course
		want  Verdict
		after time.Duration
	}{
		"nothing happens":           {story(between(100, 0, 0, 100), none), Stable, 0},
		"five per cent less":        {story(between(95, 20, 60, 95), none), Stable, 0},
		"back at once":              {story(between(0, 20, 30, 100), none), Recovers, 0},
		"back in twelve seconds":    {story(between(0, 20, 42, 100), none), Recovers, 12 * time.Second},
		"back, and gone again":      {story(func(s int) float64 { return between(0, 20, 30, 100)(s) * float64(s/8%2) }, grows), Metastable, 0},
		"back to half":              {story(between(0, 20, 35, 50), grows), Metastable, 0},
		"never back":                {story(between(0, 20, 60, 0), grows), Metastable, 0},
		"never back behind a bound": {story(between(0, 20, 60, 0), bound), Metastable, 0},
		"less at the end, after more": {story(between(0, 20, 60, 0), func(s int) float64 {
			return map[bool]float64{true: 100, false: 1000 - 5*float64(max(s-50, 0))}[s < 45]
		}), Metastable, 0},
		"not yet back":            {story(between(0, 20, 60, 0), shrinks), SlowDrain, 0},
		"down before the trigger": {story(between(30, 0, 60, 0), none), Collapsed, 0},
		"a second of bad luck, later on": {story(func(s int) float64 {
			if s == 45 {
				return 80
			}
			return between(0, 20, 30, 100)(s)
		}, none), Recovers, 0},
	} {
		if v, after := test.c.judge(); v != test.want || (after-test.after).Abs() > 200*time.Millisecond {
			t.Errorf("%s: %v after %v, want %v after %v", name, v, after, test.want, test.after)
		}
	}
}

// A run suffers under a trigger that does not end, and under load that grows and
// needs none.
func TestVerdictsWithoutAnEnd(t *testing.T) {
	half := func(s int) float64 { return map[bool]float64{true: 100, false: 60}[s < 20] }
	c := story(half, func(int) float64 { return 0 })
	c.ends = len(c.good)
	if v, _ := c.judge(); v != Suffers {
		t.Errorf("a trigger that does not end: %v", v)
	}
	c.begins = len(c.good)
	if v, _ := c.judge(); v != Suffers {
		t.Errorf("no trigger: %v", v)
	}
}

// What is answered is compared with what could have been: at twice the capacity
// half of the requests is all.
func TestOverloadIsNoCollapse(t *testing.T) {
	c := story(func(int) float64 { return 49 }, func(int) float64 { return 0 })
	if v, _ := c.judge(); v != Collapsed {
		t.Errorf("49 of 100: %v", v)
	}
	c.capacity = 50
	if v, _ := c.judge(); v != Stable {
		t.Errorf("49 of the 50 that can be answered: %v", v)
	}
}

// What lies within chance is no fall, and keeps nobody from having recovered:
// services that come at random under more load than can be answered, and errors
// that do.
func TestNoiseIsNoFall(t *testing.T) {
	server := Target{Service: "server"}
	for name, change := range map[string]func(*Scenario){
		"more load than can be answered": func(s *Scenario) {
			s.Services[0].Workers, s.Services[0].Queue.Places, s.Loads[0].Rate = 2, 5, 300
		},
		"errors at random":      func(s *Scenario) { s.Services[0].Errors, s.Loads[0].Rate = .3, 100 },
		"few, and errors often": func(s *Scenario) { s.Services[0].Errors, s.Loads[0].Rate = .4, 20 },
	} {
		s := Scenario{
			Name: "noise", Duration: time.Minute, Replications: 40,
			Services: []Service{{Name: "server", Work: random.Exponential(10 * time.Millisecond)}},
			Loads:    []Load{{Name: "callers", To: server}},
		}
		change(&s)
		for want, triggers := range map[Verdict][]Trigger{
			Stable:   nil,
			Recovers: {{Name: "errors", What: Errors, Of: server, At: 15 * time.Second, For: 3 * time.Second}},
		} {
			s.Triggers = triggers
			r, err := Run(s, Options{})
			if err != nil || r.Arms[0].Verdicts[want] != s.Replications {
				t.Errorf("%s: %v, want %v in all (%v)", name, r.Arms[0].Outcome(), want, err)
			}
		}
	}
}

// And chance hides no fall that lasts.
func TestNoiseHidesNoFallThatLasts(t *testing.T) {
	after := func(share float64) func(int) float64 {
		return func(s int) float64 {
			switch {
			case s < 20:
				return 49
			case s < 30:
				return 0
			}
			return 49 * share
		}
	}
	for share, want := range map[float64]Verdict{1: Recovers, .95: Recovers, .75: Metastable, .6: Metastable} {
		c := story(after(share), func(int) float64 { return 0 })
		c.capacity = 50
		if v, _ := c.judge(); v != want {
			t.Errorf("%v of the 49 that were answered before: %v, want %v", share, v, want)
		}
	}
}
