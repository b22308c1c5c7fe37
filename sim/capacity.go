package sim

import (
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// Capacity returns how many requests a second the system can answer at best, of
// all loads together in the proportions in which they come while nobody has to
// wait. Values that are looked up count as found. It is 0 when nothing limits it.
func (s *Scenario) Capacity() float64 {
	total := 0.0
	rates := make([]float64, len(s.Loads))
	for i := range s.Loads {
		rates[i] = s.Loads[i].meanRate(s.Duration) + s.closedRate(&s.Loads[i])
		total += rates[i]
	}
	best := 0.0
	for i := range s.Services {
		v := &s.Services[i]
		if v.Workers == 0 && !v.Sharing || total == 0 {
			continue
		}
		busy := 0.0
		for j := range s.Loads {
			busy += rates[j] / total * s.busy(s.Loads[j].To, v.Name)
		}
		if busy <= 0 {
			continue
		}
		if most := float64(max(v.Workers, 1)*max(v.Instances, 1)) / busy; best == 0 || most < best {
			best = most
		}
	}
	return best
}

// busy returns for how many seconds a request to a target keeps a worker of a
// service.
func (s *Scenario) busy(t Target, service string) float64 {
	sum := 0.0
	if t.Service == service {
		sum = s.takes(t).Seconds()
	}
	for _, a := range s.actions(t) {
		for _, to := range a.targets() {
			sum += s.busy(to, service)
		}
	}
	return sum
}

// takes returns how long a target needs for a request when nobody is in its
// way.
func (s *Scenario) takes(t Target) (sum time.Duration) {
	v := s.find(t.Service)
	if len(v.Replay) > 0 {
		for _, r := range v.Replay {
			sum += r.Takes / time.Duration(len(v.Replay))
		}
		return sum
	}
	for _, a := range s.actions(t) {
		sum = span.Add(sum, s.actionTakes(&a))
	}
	return sum
}

func (s *Scenario) actionTakes(a *Action) (longest time.Duration) {
	longest = a.Work.Mean()
	for _, to := range a.targets() {
		way := span.Mul(s.find(to.Service).Network.Mean(), 2)
		longest = max(longest, span.Add(s.takes(to), way))
	}
	return longest
}

// missTime returns how long it takes to load a value of a cache.
func (s *Scenario) missTime(v *Service, cache string) (sum time.Duration) {
	scripts := [][]Step{v.Script}
	for i := range v.Routes {
		scripts = append(scripts, v.Routes[i].Script)
	}
	for _, steps := range scripts {
		for i := range steps {
			if steps[i].Cache != cache || sum > 0 {
				continue
			}
			for j := range steps[i].Miss {
				sum = span.Add(sum, s.actionTakes(&steps[i].Miss[j]))
			}
		}
	}
	return sum
}

// actions returns what a target's script does when every value is found.
func (s *Scenario) actions(t Target) []Action {
	v := s.find(t.Service)
	work, steps := v.Work, v.Script
	for i := range v.Routes {
		if r := &v.Routes[i]; r.Name == t.Route {
			work, steps = r.Work, r.Script
		}
	}
	if len(steps) == 0 {
		return []Action{{Work: work}}
	}
	var all []Action
	for i := range steps {
		if steps[i].Cache == "" {
			all = append(all, steps[i].Action)
		}
	}
	return all
}

func (a *Action) targets() []Target {
	if a.Call != (Target{}) {
		return []Target{a.Call}
	}
	return a.Parallel
}

// meanRate returns how many requests of a load come a second, on average.
func (l *Load) meanRate(duration time.Duration) float64 {
	n := float64(len(l.Trace))
	for _, b := range l.Bursts {
		n += float64(b.Calls)
	}
	rates := l.rates()
	for i, r := range rates {
		end := duration
		if i+1 < len(rates) {
			end = min(end, time.Duration(rates[i+1].From))
		}
		if long := (end - time.Duration(r.From)).Seconds(); long > 0 {
			n += r.PerSecond*long + r.Slope*long*long/2
		}
	}
	return n / duration.Seconds()
}
