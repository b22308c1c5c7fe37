package sim

import (
	"fmt"
	"strings"
)

// assumptions says what the model takes for granted, for whoever reads the
// result and knows the system. What only some of the arms take for granted is
// said with their names.
func (s *Scenario) assumptions() []string {
	if len(s.Arms) == 0 {
		return s.taken()
	}
	var texts []string
	in := map[string][]string{}
	for _, a := range s.Arms {
		merged := s.with(a)
		for _, text := range merged.taken() {
			if in[text] == nil {
				texts = append(texts, text)
			}
			in[text] = append(in[text], a.Name)
		}
	}
	for i, text := range texts {
		if arms := in[text]; len(arms) < len(s.Arms) {
			texts[i] = fmt.Sprintf("%s (in %s)", text, someOf(arms))
		}
	}
	return texts
}

// someOf names the first of several, and says how many there are besides.
func someOf(names []string) string {
	const most = 3
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if len(names) > most+1 {
		return fmt.Sprintf("%s and %d others", strings.Join(quoted[:most], ", "), len(names)-most)
	}
	return strings.Join(quoted, ", ")
}

// taken says what is taken for granted in the scenario as it stands.
func (s *Scenario) taken() []string {
	var all []string
	for i := range s.Loads {
		all = append(all, s.Loads[i].taken()...)
	}
	say := func(names, text string) {
		if names != "" {
			all = append(all, fmt.Sprintf(text, names))
		}
	}
	say(s.services(func(v *Service) bool { return !v.Cancels }), "finishes what its caller has left: %s")
	say(s.services(func(v *Service) bool { return v.Workers == 0 && !v.Sharing }), "serves as many at a time as come: %s")
	say(s.services(func(v *Service) bool { return v.Workers > 0 && v.Queue.Places == 0 }), "has a queue without a bound: %s")
	say(s.services(func(v *Service) bool { return v.Network.IsZero() }), "is reached in no time: %s")
	say(s.services(func(v *Service) bool { return v.Instances > 1 }), "each request goes to an instance at random, whatever the others have to do: %s")
	say(s.services(func(v *Service) bool { return len(v.Caches) > 0 }), "its instances share their caches, and what is cached is found in no time: %s")
	say(s.services(func(v *Service) bool { return v.Errors > 0 || v.Business > 0 }), "errors come at random, one independently of another, after all the work was done: %s")
	say(s.services(func(v *Service) bool { return len(v.Replay) > 0 }), "answers as recorded, however many are asked at a time: %s")
	return append(all,
		"how long work takes does not depend on what was asked before, but for caches and crowding",
		"networks lose nothing; processors, memory and connections are not modelled",
		fmt.Sprintf("the first %v are not counted, and the verdict does not look at the last %v, in which callers may still wait", s.warmup(), s.patience()))
}

// taken says what is taken for granted of the callers.
func (l *Load) taken() []string {
	var all []string
	say := func(text string, args ...any) { all = append(all, l.Name+" "+fmt.Sprintf(text, args...)) }
	if l.Clients > 0 {
		say("is a closed loop of %d callers: it sends less when answers are late, and its latency is that of the requests it sent (coordinated omission)", l.Clients)
	}
	switch random := l.Rate > 0 || len(l.Profile) > 0; {
	case random && l.Even:
		say("comes at even distances, whatever becomes of it; latency counts from when it meant to come")
	case random:
		say("comes at random (Poisson), whatever becomes of it; latency counts from when it meant to come")
	case len(l.Bursts)+len(l.Trace) > 0:
		say("comes when the scenario says, whatever becomes of it")
	}
	if !l.leaves() && l.Guard == nil && (l.Client == nil || l.Client.Timeout == 0) {
		say("waits for ever: an answer is never too late for it")
	}
	if l.Tenants > 1 {
		say("is of %d tenants who ask equally often", l.Tenants)
	}
	if l.Keys > 1 {
		say("asks for %d values equally often: none is more popular than the others", l.Keys)
	}
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
