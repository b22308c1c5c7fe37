package sim

import (
	"fmt"
	"strings"
)

// assumptions says what the model takes for granted, for whoever reads the
// result and knows the system.
func (s *Scenario) assumptions() []string {
	var all []string
	say := func(text string, args ...any) { all = append(all, fmt.Sprintf(text, args...)) }
	for i := range s.Loads {
		l := &s.Loads[i]
		switch {
		case l.Clients > 0:
			say("%s is a closed loop of %d callers: it sends less when answers are late, and its latency is that of the requests it sent (coordinated omission)", l.Name, l.Clients)
		case l.Even:
			say("%s comes at even distances, whatever becomes of it; latency counts from when it meant to come", l.Name)
		case l.Rate > 0 || len(l.Profile) > 0:
			say("%s comes at random (Poisson), whatever becomes of it; latency counts from when it meant to come", l.Name)
		}
	}
	if names := s.services(func(v *Service) bool { return !v.Cancels }); names != "" {
		say("finishes what its caller has left: %s", names)
	}
	if names := s.services(func(v *Service) bool { return v.Workers == 0 && !v.Sharing }); names != "" {
		say("serves as many at a time as come: %s", names)
	}
	if names := s.services(func(v *Service) bool { return v.Workers > 0 && v.Queue.Places == 0 }); names != "" {
		say("has a queue without a bound: %s", names)
	}
	if names := s.services(func(v *Service) bool { return v.Network.IsZero() }); names != "" {
		say("is reached in no time: %s", names)
	}
	say("how long work takes does not depend on what was asked before, but for caches and crowding")
	say("networks lose nothing; processors, memory and connections are not modelled")
	return all
}

// services lists those for which something is so.
func (s *Scenario) services(is func(*Service) bool) string {
	var names []string
	for i := range s.Services {
		if is(&s.Services[i]) {
			names = append(names, s.Services[i].Name)
		}
	}
	return strings.Join(names, ", ")
}
