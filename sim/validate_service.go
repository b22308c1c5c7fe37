package sim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
)

func (s *Service) validate(all *Scenario) policy.Problems {
	var c field.Check
	named(&c, s.Name)
	count(&c, "instances", s.Instances, mostEntities)
	count(&c, "workers", s.Workers, mostCount)
	length(&c, "promise", s.Promise, 0)
	length(&c, "crowding", s.Crowding, 0)
	law(&c, "network", s.Network)
	c.Number("errors", s.Errors, 0, 1)
	c.Number("business", s.Business, 0, 1-min(max(s.Errors, 0), 1))
	c.Add(s.Queue.validate().Under("queue"))
	if s.Sharing && s.Queue != (Queue{}) {
		c.Warn("queue", "nobody waits where all share the workers; take sharing or the queue out")
	}
	if s.Accept != nil {
		c.Number("accept.rate", s.Accept.Rate, 1e-3, mostRate)
		c.Add(bucket.Config{Rate: s.Accept.Rate, Burst: s.Accept.Burst}.Validate().Under("accept"))
	}
	if s.RetryAfter.Min < 0 || s.RetryAfter.Max > longest {
		c.Refuse("retry_after", "%v is out of range; write a range such as 3s-8s, up to %v", s.RetryAfter, longest)
	}
	s.validateScript(&c, all, "", s.Work.Mean() > 0, s.Script)
	law(&c, "work", s.Work)
	for i := range s.Routes {
		r := &s.Routes[i]
		path := keys.Join("routes", r.Name)
		law(&c, keys.Join(path, "work"), r.Work)
		length(&c, keys.Join(path, "promise"), r.Promise, 0)
		s.validateScript(&c, all, path, r.Work.Mean() > 0, r.Script)
	}
	for i := range s.Caches {
		c.Add(s.Caches[i].validate().Under(keys.Join("caches", s.Caches[i].Name)))
	}
	for i := range s.Replay {
		length(&c, keys.Join(keys.Item("replay", i), "takes"), s.Replay[i].Takes, 0)
		length(&c, keys.Join(keys.Item("replay", i), "retry_after"), s.Replay[i].RetryAfter, 0)
	}
	if s.Client != nil {
		c.Add(s.Client.validate().Under("client"))
	}
	for i := range s.Guards {
		path := keys.Join("guards", s.Guards[i].To)
		all.exists(&c, path, Target{Service: s.Guards[i].To})
		c.Add(s.Guards[i].validate().Under(path))
	}
	return c.Problems()
}

// named refuses names that a target or an edge could not be told apart with.
func named(c *field.Check, name string) {
	if name == "" || len(name) > 64 || strings.ContainsAny(name, "/> \"") || !printable(name) {
		c.Refuse("", "%.80q is not a name; write at most 64 letters, digits, - and _", name)
	}
}

// printable reports whether a name can be shown: what it does to a terminal is
// not for a file to say.
func printable(name string) bool {
	return utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

func (q *Queue) validate() policy.Problems {
	var c field.Check
	if q.Places > mostCount {
		c.Refuse("places", "%d is more than %d; write 0 for any number", q.Places, mostCount)
	}
	length(&c, "needs", q.Needs, 0)
	length(&c, "target", q.Target, 0)
	length(&c, "interval", q.Interval, 0)
	if q.Target > 0 && q.Order == Newest {
		c.Refuse("target", "a queue that serves the newest first has no use for CoDel; take out one of the two")
	}
	if q.Order > Newest {
		c.Refuse("order", "%d is not an order; write oldest or newest", q.Order)
	}
	return c.Problems()
}

func (s *Service) validateScript(c *field.Check, all *Scenario, under string, works bool, steps []Step) {
	path := keys.Join(under, "script")
	if under == "" {
		path = "script"
	}
	if works && len(steps) > 0 {
		c.Refuse(path, "stands beside work, which is a script of one step; write the work into the script")
	}
	if len(steps) > mostEntities {
		c.Refuse(path, "has %d steps; write at most %d", len(steps), mostEntities)
		return
	}
	for i := range steps {
		s.validateStep(c, all, keys.Item(path, i), &steps[i])
	}
}

func (s *Service) validateStep(c *field.Check, all *Scenario, path string, step *Step) {
	if step.Cache == "" {
		step.Action.validate(c, all, path)
		if len(step.Miss) > 0 {
			c.Refuse(keys.Join(path, "miss"), "belongs to a cache; write which one")
		}
		return
	}
	if step.ways() > 0 {
		c.Refuse(path, "looks a value up and does something else; make two steps of it")
	}
	known := false
	for i := range s.Caches {
		known = known || s.Caches[i].Name == step.Cache
	}
	if !known {
		c.Refuse(keys.Join(path, "cache"), "there is no cache %.60q; write it under caches", step.Cache)
	}
	if len(step.Miss) == 0 {
		c.Refuse(keys.Join(path, "miss"), "is empty; write what loads the value")
	}
	for i := range step.Miss {
		step.Miss[i].validate(c, all, keys.Item(keys.Join(path, "miss"), i))
	}
}

// ways counts the keys of an action that say what to do.
func (a *Action) ways() (n int) {
	for _, is := range []bool{!a.Work.IsZero(), a.Call != (Target{}), len(a.Parallel) > 0} {
		if is {
			n++
		}
	}
	return n
}

func (a *Action) validate(c *field.Check, all *Scenario, path string) {
	if a.ways() > 1 {
		c.Refuse(path, "does several things; make a step of each")
	}
	law(c, keys.Join(path, "work"), a.Work)
	if a.Optimistic && a.Work.IsZero() {
		c.Refuse(keys.Join(path, "optimistic"), "is said of work; write how long it takes from the read to the write")
	}
	if a.Call != (Target{}) {
		all.exists(c, keys.Join(path, "call"), a.Call)
	}
	if len(a.Parallel) > mostEntities {
		c.Refuse(keys.Join(path, "parallel"), "has %d entries; write at most %d", len(a.Parallel), mostEntities)
	}
	for i, t := range a.Parallel {
		all.exists(c, keys.Item(keys.Join(path, "parallel"), i), t)
	}
}

func (k *Cache) validate() policy.Problems {
	var c field.Check
	count(&c, "keys", k.Keys, mostCount)
	length(&c, "lifetime", k.Lifetime, 1)
	c.Number("spread", k.Spread, 0, 1)
	c.Number("beta", k.Beta, 0, 1000)
	return c.Problems()
}

func (g *Guard) validate() policy.Problems {
	var c field.Check
	length(&c, "margin", g.Margin, 0)
	c.Add(g.Config.Validate())
	return c.Problems()
}

func (k *Client) validate() policy.Problems {
	var c field.Check
	length(&c, "timeout", k.Timeout, 0)
	if k.Retry != nil {
		c.Add(k.Retry.Validate().Under("retry"))
		length(&c, "retry.cap", k.Retry.Cap, 0)
	}
	if k.Budget != nil {
		c.Add(k.Budget.Validate().Under("budget"))
	}
	if k.Breaker != nil {
		c.Add(k.Breaker.Validate().Under("breaker"))
	}
	if k.Throttle != nil {
		c.Add(k.Throttle.Validate().Under("throttle"))
	}
	return c.Problems()
}
