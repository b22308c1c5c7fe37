package sim

import (
	"strings"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
)

func (l *Load) validate(all *Scenario) policy.Problems {
	var c field.Check
	named(&c, l.Name)
	if all.find(l.Name) != nil {
		c.Refuse("", "is the name of a service, too, and their calls could not be told apart; write another")
	}
	all.exists(&c, "to", l.To)
	c.Number("rate", l.Rate, 0, mostRate)
	count(&c, "clients", l.Clients, mostCount)
	count(&c, "processes", l.Processes, mostEntities)
	count(&c, "tenants", l.Tenants, mostCount)
	count(&c, "keys", l.Keys, mostCount)
	length(&c, "deadline", l.Deadline, 0)
	law(&c, "think", l.Think)
	if l.Rate == 0 && l.Clients == 0 && len(l.Profile)+len(l.Bursts)+len(l.Trace) == 0 {
		c.Refuse("rate", "nobody calls; write a rate, clients, bursts or a trace")
	}
	l.validateProfile(&c)
	if len(l.Bursts) > mostEntities || len(l.Trace) > mostCount {
		c.Refuse("trace", "has too many entries; write at most %d bursts and %d arrivals", mostEntities, mostCount)
	}
	for i, b := range l.Bursts {
		path := keys.Item("bursts", i)
		length(&c, keys.Join(path, "at"), b.At, 0)
		length(&c, keys.Join(path, "over"), b.Over, 0)
		c.Count(keys.Join(path, "calls"), b.Calls, mostCount)
	}
	for i, a := range l.Trace {
		path := keys.Item("trace", i)
		length(&c, keys.Join(path, "at"), a.At, 0)
		length(&c, keys.Join(path, "deadline"), a.Deadline, 0)
		length(&c, keys.Join(path, "leaves"), a.Leaves, 0)
	}
	if l.Client != nil {
		c.Add(l.Client.validate().Under("client"))
	}
	if l.Guard != nil {
		c.Add(l.Guard.validate().Under("guard"))
	}
	return c.Problems()
}

func (l *Load) validateProfile(c *field.Check) {
	before := time.Duration(-1)
	for i, p := range l.Profile {
		path := keys.Item("profile", i)
		length(c, keys.Join(path, "at"), p.At, 0)
		c.Number(keys.Join(path, "rate"), p.Rate, 0, mostRate)
		if p.At <= before || p.At == 0 && l.Rate > 0 {
			c.Refuse(keys.Join(path, "at"), "%v does not come after what was before it; put the points in order", p.At)
		}
		if p.Ramp && i == len(l.Profile)-1 {
			c.Refuse(keys.Join(path, "ramp"), "leads nowhere; write a further point")
		}
		before = p.At
	}
}

func (t *Trigger) validate(all *Scenario) policy.Problems {
	var c field.Check
	named(&c, t.Name)
	length(&c, "at", t.At, 0)
	length(&c, "for", t.For, 0)
	length(&c, "add", t.Add, 0)
	length(&c, "every", t.Every, 0)
	length(&c, "notice", t.Notice, 0)
	length(&c, "drain", t.Drain, 0)
	length(&c, "finish", t.Finish, 0)
	c.Number("factor", t.Factor, 0, 1e6)
	c.Number("share", t.Share, 0, 1)
	count(&c, "instances", t.Instances, mostEntities)
	if t.At >= all.Duration && all.Duration > 0 {
		c.Refuse("at", "%v is not within the %v of the run", t.At, all.Duration)
	}
	t.validateKind(&c, all)
	return c.Problems()
}

// validateKind checks what only some kinds of trigger have.
func (t *Trigger) validateKind(c *field.Check, all *Scenario) {
	switch t.What {
	case Spike:
		if all.loadOf(t.Of.Service) == nil || t.Of.Route != "" {
			c.Refuse("of", "there is no load %.60q; %s", t.Of, oneOf(all.Loads, func(l *Load) string { return l.Name }))
		}
		if t.Factor <= 0 {
			c.Refuse("factor", "is missing; write how many times more requests come")
		}
		return
	case Flush:
		v := all.find(t.Of.Service)
		known := false
		for i := range cachesOf(v) {
			known = known || v.Caches[i].Name == t.Of.Route
		}
		if !known {
			c.Refuse("of", "%.60q is not a cache; write \"service/cache\"", t.Of)
		}
		return
	case Latency:
		if t.Factor <= 1 && t.Add <= 0 {
			c.Refuse("factor", "is missing; write how many times slower the service is, or add")
		}
	case Stall, Errors, Pause, Restart:
	default:
		c.Refuse("what", "is missing; write one of %s", strings.Join(troubles[1:], ", "))
		return
	}
	if t.Of.Route != "" {
		c.Refuse("of", "%v is a route, and this happens to a service; write %s", t.Of, t.Of.Service)
		return
	}
	all.exists(c, "of", t.Of)
}

func cachesOf(s *Service) []Cache {
	if s == nil {
		return nil
	}
	return s.Caches
}

func (s *Scenario) loadOf(name string) *Load {
	for i := range s.Loads {
		if s.Loads[i].Name == name {
			return &s.Loads[i]
		}
	}
	return nil
}

// validate checks that what a claim is about is there, as far as that can be
// said of a system that may not be sound.
func (c Claim) validate(s *Scenario, sound bool) policy.Problems {
	var f field.Check
	switch {
	case c.metric == "":
	case c.metric == "work" || c.metric == "queue" || c.metric == "visits" || c.metric == "wasted" && c.of != "":
		s.exists(&f, "", Target{Service: c.of})
	case c.metric == "recovery" || c.metric == "wasted" || c.metric == "fairness":
		if c.of != "" {
			f.Refuse("", "%s is known of the whole system; leave \"of %s\" out", c.metric, c.of)
		}
	case c.metric == "amplification" && strings.Contains(c.of, ">"):
		if sound && !s.hasEdge(c.of) {
			f.Refuse("", "nobody calls over %.60q; write \"service>service\", as the scripts have it", c.of)
		}
	case c.of != "" && s.loadOf(c.of) == nil:
		f.Refuse("", "there is no load %.60q; %s", c.of, oneOf(s.Loads, func(l *Load) string { return l.Name }))
	}
	if c.unit == "capacity" && sound && f.Problems() == nil && s.Capacity() == 0 {
		f.Refuse("", "nothing limits what the system can answer, so it has no capacity; give a service workers, or write a number")
	}
	return f.Problems()
}

func (s *Scenario) hasEdge(name string) bool {
	for _, w := range compile(s).ways {
		if w.from+">"+w.to.String() == name {
			return true
		}
	}
	return false
}

// validateSearches checks the searches against the arms.
func (s *Scenario) validateSearches() policy.Problems {
	var c field.Check
	for i := range s.Searches {
		c.Add(s.Searches[i].validate(s).Under(keys.Join("searches", s.Searches[i].Name)))
	}
	return c.Problems()
}

func (q *Search) validate(all *Scenario) policy.Problems {
	var c field.Check
	if len(q.Name) > longestTitle || !printable(q.Name) {
		c.Refuse("", "%.80q cannot be shown; write at most %d letters and spaces", q.Name, longestTitle)
	}
	arm, known := all.Arm(q.Arm)
	if !known {
		c.Refuse("arm", "there is no arm %.60q; %s", q.Arm, oneOf(all.Arms, func(a *Arm) string { return a.Name }))
	}
	switch {
	case (q.Trigger == "") == (q.Load == ""):
		c.Refuse("trigger", "write what is varied: a trigger or a load, and not both")
	case q.Trigger != "" && arm.triggerOf(q.Trigger) == nil:
		c.Refuse("trigger", "there is no trigger %.60q; %s", q.Trigger, oneOf(arm.Triggers, func(t *Trigger) string { return t.Name }))
	case q.Load != "" && (arm.loadOf(q.Load) == nil || arm.loadOf(q.Load).Rate == 0):
		c.Refuse("load", "there is no load %.60q with a rate; give it one, or vary another", q.Load)
	}
	c.Number("from", q.From, 0, mostRate)
	c.Number("to", q.To, 0, mostRate)
	if q.Within != 0 {
		c.Number("within", q.Within, 0.001, 0.5)
	}
	if c.Problems() != nil {
		return c.Problems()
	}
	if full := q.withDefaults(&arm); full.From >= full.To {
		c.Refuse("to", "%v is not above from, %v; write both", full.To, full.From)
	}
	return c.Problems()
}

func (s *Scenario) triggerOf(name string) *Trigger {
	for i := range s.Triggers {
		if s.Triggers[i].Name == name {
			return &s.Triggers[i]
		}
	}
	return nil
}

// Arm returns the scenario as the arm of that name has it, of no name as the
// first one has it, and whether there is one.
func (s *Scenario) Arm(name string) (Scenario, bool) {
	if name == "" && len(s.Arms) == 0 {
		return *s, true
	}
	for _, a := range s.Arms {
		if name == "" || a.Name == name {
			return s.with(a), true
		}
	}
	return *s, false
}
