package sim

import (
	"strconv"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/random"
)

// The bounds of what a scenario may say.
const (
	longest      = 30 * 24 * time.Hour
	mostRuns     = 10_000
	mostEntities = 1_000
	mostCount    = 1_000_000
	mostRate     = 1e7
	longestTitle = 200
)

// Validate returns everything that is wrong with the scenario: with itself, and
// with each of its arms.
func (s Scenario) Validate() policy.Problems {
	var c field.Check
	if s.Kind != "" && s.Kind != Kind {
		c.Refuse("kind", "%q is not this simulator; write %s", s.Kind, Kind)
	}
	switch {
	case s.Name == "":
		c.Refuse("name", "is missing; write a name for the report")
	case len(s.Name) > longestTitle || !printable(s.Name):
		c.Refuse("name", "%.80q cannot be shown; write at most %d letters and spaces", s.Name, longestTitle)
	}
	c.Add(s.validateRun())
	c.Add(s.validateSystem())
	c.Add(s.validateArms())
	if c.Problems().Err() == nil {
		c.Add(s.validateSearches())
	}
	if c.Problems().Err() == nil {
		c.Add(s.withDefaults().checkCost())
	}
	return c.Problems()
}

// validateRun checks what says how the scenario is played.
func (s *Scenario) validateRun() policy.Problems {
	var c field.Check
	length(&c, "duration", s.Duration, 1)
	if s.Replications != 0 {
		c.Count("replications", s.Replications, mostRuns)
	}
	if s.Warmup >= s.Duration && s.Duration > 0 {
		c.Refuse("warmup", "%v leaves nothing of the %v to be counted; write less", s.Warmup, s.Duration)
	}
	return c.Problems()
}

// validateSystem checks services, loads, triggers and expectations against each
// other.
func (s *Scenario) validateSystem() policy.Problems {
	var c field.Check
	some(&c, "services", len(s.Services))
	some(&c, "loads", len(s.Loads))
	for i := range s.Services {
		c.Add(s.Services[i].validate(s).Under(keys.Join("services", s.Services[i].Name)))
	}
	for i := range s.Loads {
		c.Add(s.Loads[i].validate(s).Under(keys.Join("loads", s.Loads[i].Name)))
	}
	for i := range s.Triggers {
		c.Add(s.Triggers[i].validate(s).Under(keys.Join("triggers", s.Triggers[i].Name)))
	}
	s.checkCircles(&c)
	if c.Problems().Err() == nil {
		s.checkSize(&c)
	}
	sound := c.Problems().Err() == nil
	for i, claim := range s.Expect {
		c.Add(claim.validate(s, sound).Under(keys.Item("expect", i)))
	}
	return c.Problems()
}

// validateArms checks every arm as it will be played. What was wrong already is
// not said again.
func (s *Scenario) validateArms() policy.Problems {
	var c field.Check
	if len(s.Arms) > mostEntities {
		c.Refuse("arms", "has %d entries; write at most %d", len(s.Arms), mostEntities)
	}
	known := map[policy.Problem]bool{}
	for _, p := range s.validateSystem() {
		known[p] = true
	}
	for _, a := range s.Arms {
		under := keys.Join("arms", a.Name)
		if len(a.Name) > longestTitle || !printable(a.Name) {
			c.Refuse(under, "%.80q cannot be shown; write at most %d letters and spaces", a.Name, longestTitle)
		}
		merged := s.with(a)
		merged.Expect = nil
		found := merged.validateSystem()
		for _, p := range found {
			if !known[p] {
				c.Add(policy.Problems{p}.Under(under))
			}
		}
		for i, claim := range a.Expect {
			c.Add(claim.validate(&merged, found.Err() == nil).Under(keys.Item(keys.Join(under, "expect"), i)))
		}
	}
	return c.Problems()
}

// checkCircles refuses services that call each other in a circle: a request
// would never end.
func (s *Scenario) checkCircles(c *field.Check) {
	done := map[Target]bool{}
	var visit func(t Target, open []Target) bool
	visit = func(t Target, open []Target) bool {
		for _, o := range open {
			if o == t {
				c.Refuse(keys.Join("services", open[0].Service), "its script leads back to %v, so that a request would never end; take out one of the calls", t)
				return false
			}
		}
		if done[t] {
			return true
		}
		done[t] = true
		for _, to := range s.calls(t) {
			if !visit(to, append(open, t)) {
				return false
			}
		}
		return true
	}
	for i := range s.Services {
		for _, t := range s.Services[i].targets() {
			if !visit(t, nil) {
				return
			}
		}
	}
}

// targets returns the service and its routes.
func (s *Service) targets() []Target {
	all := []Target{{Service: s.Name}}
	for i := range s.Routes {
		all = append(all, Target{s.Name, s.Routes[i].Name})
	}
	return all
}

// calls returns every target that a target's script may call.
func (s *Scenario) calls(t Target) []Target {
	v := s.find(t.Service)
	if v == nil { // which has been said
		return nil
	}
	steps := v.Script
	for i := range v.Routes {
		if v.Routes[i].Name == t.Route {
			steps = v.Routes[i].Script
		}
	}
	var all []Target
	for i := range steps {
		all = append(all, steps[i].targets()...)
		for j := range steps[i].Miss {
			all = append(all, steps[i].Miss[j].targets()...)
		}
	}
	return all
}

// exists refuses a target that is not there.
func (s *Scenario) exists(c *field.Check, path string, t Target) {
	v := s.find(t.Service)
	switch {
	case t == (Target{}):
		c.Refuse(path, "is missing; write the name of a service")
	case v == nil:
		c.Refuse(path, "there is no service %.60q; %s", t.Service, oneOf(s.Services, func(v *Service) string { return v.Name }))
	case t.Route != "" && !v.hasRoute(t.Route):
		c.Refuse(path, "%s has no route %.60q; %s", t.Service, t.Route, oneOf(v.Routes, func(r *Route) string { return r.Name }))
	}
}

func (s *Service) hasRoute(name string) bool {
	for i := range s.Routes {
		if s.Routes[i].Name == name {
			return true
		}
	}
	return false
}

func some(c *field.Check, path string, n int) {
	switch {
	case n == 0:
		c.Refuse(path, "is empty; write at least one, by name")
	case n > mostEntities:
		c.Refuse(path, "has %d entries; write at most %d", n, mostEntities)
	}
}

// length refuses a duration that nothing takes.
func length(c *field.Check, path string, d, least time.Duration) {
	switch {
	case d < least && d == 0:
		c.Refuse(path, "is missing; write a duration such as 60s")
	case d < 0:
		c.Duration(path, d)
	case d > longest:
		c.Refuse(path, "%v is longer than any run; write at most %v", d, longest)
	}
}

// count refuses a number that is not between 0 and most.
func count(c *field.Check, path string, n, most int) {
	if n < 0 || n > most {
		c.Refuse(path, "%d is out of range; write a number from 0 to %d", n, most)
	}
}

func law(c *field.Check, path string, l random.Law) {
	if l.Mean() > longest {
		c.Refuse(path, "takes %v on average, longer than any run; write less", l.Mean())
	}
}

// oneOf says which names there are to choose from.
func oneOf[T any](all []T, name func(*T) string) string {
	if len(all) == 0 {
		return "there are none"
	}
	text := "write one of "
	for i := range min(len(all), 20) {
		if i > 0 {
			text += ", "
		}
		if printable(name(&all[i])) {
			text += name(&all[i])
		} else {
			text += strconv.Quote(name(&all[i]))
		}
	}
	return text
}
