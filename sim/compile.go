package sim

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim/internal/world"
	"github.com/kalan-go/kalan/sim/random"
)

const none = -1

// A compiler makes the world's model of one arm's scenario, which is valid.
type compiler struct {
	s       *Scenario
	m       *world.Model
	name    string
	about   string
	expect  []Claim
	scripts map[Target]int32
	edges   map[way]int32
	guards  map[way]int32
	caches  map[Target]int32
	// what the numbers of the model mean, for the report
	ways     []way // of the edges
	guardsOf []way
}

// mostVisits is how many requests may be in a world at once: about a gigabyte.
const mostVisits = 1 << 22

// A way is where a call comes from and where it goes to. Calls of a load come
// from nowhere; the load's name is in from then.
type way struct {
	load bool
	from string
	to   Target
}

func compile(s *Scenario) *compiler {
	c := &compiler{
		s: s, m: &world.Model{}, scripts: map[Target]int32{},
		edges: map[way]int32{}, guards: map[way]int32{}, caches: map[Target]int32{},
	}
	c.m.End = policy.Instant(s.Duration)
	c.m.Gate = policy.Instant(s.warmup())
	c.m.Bin = s.bin()
	c.m.Visits = mostVisits
	for i := range s.Services {
		c.addService(&s.Services[i])
	}
	for i := range s.Services {
		c.addScripts(&s.Services[i])
	}
	for i := range s.Loads {
		c.addLoad(&s.Loads[i])
	}
	for i := range s.Triggers {
		c.addTrigger(&s.Triggers[i])
	}
	return c
}

// warmup returns when counting begins.
func (s *Scenario) warmup() time.Duration {
	if s.Warmup != 0 {
		return max(s.Warmup, 0)
	}
	w := s.Duration / 10
	for i := range s.Triggers {
		w = min(w, s.Triggers[i].At)
	}
	return w
}

// bin returns how long the stretches of the series are.
func (s *Scenario) bin() time.Duration {
	const finest, most = 100 * time.Millisecond, 4000
	return max(finest, (s.Duration / most).Round(finest))
}

func (c *compiler) service(name string) int32 {
	for i := range c.s.Services {
		if c.s.Services[i].Name == name {
			return int32(i)
		}
	}
	return none
}

func (c *compiler) addService(s *Service) {
	w := world.Service{
		Name: s.Name, Instances: max(s.Instances, 1), Workers: s.Workers, Shared: s.Sharing, Cancels: s.Cancels,
		Crowding: s.Crowding, Business: s.Business, GoAway: s.RetryAfter, Network: s.Network,
		Queue: world.Queue{
			Newest: s.Queue.Order == Newest, Places: places(s.Queue.Places), Expired: s.Queue.Expired, Needs: s.Queue.Needs,
			Target: s.Queue.Target, Interval: s.Queue.Interval,
		},
	}
	if w.Queue.Interval == 0 {
		w.Queue.Interval = 100 * time.Millisecond
	}
	if s.Errors > 0 {
		w.Errors = append(w.Errors, world.Share{To: policy.Never, P: s.Errors})
	}
	if s.Accept != nil {
		w.Accept = &bucket.Config{Rate: s.Accept.Rate, Burst: s.Accept.Burst}
	}
	for _, r := range s.Replay {
		w.Replay = append(w.Replay, world.Reply{Takes: r.Takes, Result: r.result(), RetryAfter: r.RetryAfter})
	}
	for i := range s.Caches {
		c.addCache(s, &s.Caches[i])
	}
	c.m.Services = append(c.m.Services, w)
}

// places turns the file's way of saying "any number" into the world's.
func places(n int) int {
	switch {
	case n == 0:
		return -1
	case n < 0:
		return 0
	}
	return n
}

func (r *Reply) result() world.Result {
	switch {
	case r.Failed:
		return world.Failed
	case r.Business:
		return world.Business
	}
	return world.OK
}

func (c *compiler) addCache(s *Service, cache *Cache) {
	keys := cache.Keys
	for i := range c.s.Loads {
		keys = max(keys, c.s.Loads[i].Keys)
	}
	if cache.Keys > 0 {
		keys = cache.Keys
	}
	c.caches[Target{s.Name, cache.Name}] = int32(len(c.m.Caches))
	c.m.Caches = append(c.m.Caches, world.Cache{
		Name: s.Name + "/" + cache.Name,
		Keys: max(keys, 1), Lifetime: cache.Lifetime, Spread: cache.Spread, Beta: cache.Beta,
		OneFlight: cache.OneFlight, Warm: cache.Warm, Loading: c.s.missTime(s, cache.Name),
	})
}

// addScripts makes the operations of a service's scripts. Edges need to know
// where they lead, so each script begins with its number being known.
func (c *compiler) addScripts(s *Service) {
	c.script(s, Target{Service: s.Name}, s.Work, s.Script)
	for i := range s.Routes {
		r := &s.Routes[i]
		c.script(s, Target{s.Name, r.Name}, r.Work, r.Script)
	}
}

func (c *compiler) script(s *Service, t Target, work random.Law, steps []Step) {
	start := int32(len(c.m.Ops))
	c.scripts[t] = start
	for e, w := range c.ways { // those that were made before the script was known
		if w.to == t {
			c.m.Edges[e].Script = start
		}
	}
	if len(steps) == 0 {
		c.m.Ops = append(c.m.Ops, world.Op{Kind: world.Work, Law: work})
	}
	for i := range steps {
		c.step(s, &steps[i])
	}
	c.m.Ops = append(c.m.Ops, world.Op{Kind: world.Done})
}

func (c *compiler) step(s *Service, step *Step) {
	if step.Cache == "" {
		c.action(s, &step.Action)
		return
	}
	cache := c.caches[Target{s.Name, step.Cache}]
	at := len(c.m.Ops)
	c.m.Ops = append(c.m.Ops, world.Op{Kind: world.Look, N: cache})
	for i := range step.Miss {
		c.action(s, &step.Miss[i])
	}
	c.m.Ops = append(c.m.Ops, world.Op{Kind: world.Store, N: cache})
	c.m.Ops[at].Jump = int32(len(c.m.Ops))
}

func (c *compiler) action(s *Service, a *Action) {
	targets := a.Parallel
	if a.Call != (Target{}) {
		targets = []Target{a.Call}
	}
	if len(targets) == 0 {
		c.m.Ops = append(c.m.Ops, world.Op{Kind: world.Work, Law: a.Work, Optimistic: a.Optimistic})
		return
	}
	for i, t := range targets {
		op := world.Op{Kind: world.Ask, Edge: c.edge(s, t), N: int32(len(targets) - i), Optional: a.Optional}
		c.m.Ops = append(c.m.Ops, op)
	}
}

// edge returns the way from a service to a target.
func (c *compiler) edge(s *Service, t Target) int32 {
	w := way{from: s.Name, to: t}
	if e, known := c.edges[w]; known {
		return e
	}
	return c.addEdge(w, c.guard(s, t.Service))
}

func (c *compiler) addEdge(w way, guard int32) int32 {
	e := int32(len(c.m.Edges))
	c.edges[w] = e
	c.ways = append(c.ways, w)
	to := c.s.find(w.to.Service)
	c.m.Edges = append(c.m.Edges, world.Edge{
		Guard: guard, Service: c.service(w.to.Service), Script: c.scripts[w.to], Promise: to.promise(w.to.Route), Route: to.routeNumber(w.to.Route),
	})
	return e
}

// guard returns what stands between a service and another, of whatever route.
func (c *compiler) guard(s *Service, to string) int32 {
	w := way{from: s.Name, to: Target{Service: to}}
	if g, known := c.guards[w]; known {
		return g
	}
	owner, processes := c.service(s.Name), max(s.Instances, 1)
	for i := range s.Guards {
		if s.Guards[i].To == to {
			return c.addGuard(w, s.Guards[i].world(owner, processes))
		}
	}
	if s.Client != nil {
		return c.addGuard(w, s.Client.world(owner, processes))
	}
	return none
}

func (c *compiler) addGuard(w way, g world.Guard) int32 {
	id := int32(len(c.m.Guards))
	c.guards[w] = id
	c.guardsOf = append(c.guardsOf, w)
	c.m.Guards = append(c.m.Guards, g)
	return id
}

func (g *Guard) world(owner int32, processes int) world.Guard {
	return world.Guard{
		Config: g.Config, Owner: owner, Processes: processes,
		Carry: !g.Mute, Margin: g.Margin, Blame: g.Blame, Mark: g.Owner, Inline: g.Inline,
	}
}

func (c *Client) world(owner int32, processes int) world.Guard {
	return world.Guard{Config: c.stack(), Owner: owner, Processes: processes, Carry: c.Carry, Blame: c.Blame, Mark: c.Owner}
}

func (c *compiler) addLoad(l *Load) {
	w := way{load: true, from: l.Name, to: l.To}
	guard := int32(none)
	processes := max(l.Processes, 1)
	switch {
	case l.Guard != nil:
		guard = c.addGuard(w, l.Guard.world(none, processes))
	case l.Client != nil:
		guard = c.addGuard(w, l.Client.world(none, processes))
	case l.leaves():
		guard = c.addGuard(w, world.Guard{Config: Client{}.stack(), Owner: none, Processes: processes})
	}
	c.m.Loads = append(c.m.Loads, world.Load{
		Name: l.Name, Edge: c.addEdge(w, guard), Rates: l.rates(), Even: l.Even, Trace: l.arrivals(), Clients: l.Clients, Think: l.Think,
		Deadline: l.Deadline, Tenants: l.Tenants, Weight: l.Weight, Level: l.Priority, Keys: l.Keys, Unsafe: l.Unsafe,
	})
}

// leaves reports whether callers of this load leave before they have an answer.
func (l *Load) leaves() bool {
	early := l.Deadline > 0
	for _, a := range l.Trace {
		early = early || a.Deadline > 0 || a.Leaves > 0
	}
	return early
}

// rates returns the load's rate in the course of time.
func (l *Load) rates() []world.Rate {
	var rates []world.Rate
	if l.Rate > 0 {
		rates = append(rates, world.Rate{PerSecond: l.Rate})
	}
	for i, p := range l.Profile {
		r := world.Rate{From: policy.Instant(p.At), PerSecond: p.Rate}
		if p.Ramp && i+1 < len(l.Profile) {
			next := l.Profile[i+1]
			r.Slope = (next.Rate - p.Rate) / (next.At - p.At).Seconds()
		}
		rates = append(rates, r)
	}
	return rates
}

func (l *Load) arrivals() []world.Arrival {
	var all []world.Arrival
	for _, b := range l.Bursts {
		all = append(all, world.Arrival{At: policy.Instant(b.At), Count: b.Calls, Over: b.Over})
	}
	for _, a := range l.Trace {
		all = append(all, world.Arrival{At: policy.Instant(a.At), Deadline: a.Deadline, Leaves: a.Leaves})
	}
	return all
}

// find returns the service of that name.
func (s *Scenario) find(name string) *Service {
	for i := range s.Services {
		if s.Services[i].Name == name {
			return &s.Services[i]
		}
	}
	return nil
}

// promise returns how long a service gives itself on a route.
func (s *Service) promise(route string) time.Duration {
	for i := range s.Routes {
		if r := &s.Routes[i]; r.Name == route && r.Promise > 0 {
			return r.Promise
		}
	}
	return s.Promise
}

// routeNumber returns the kind of work that a guard takes a route for.
func (s *Service) routeNumber(route string) uint8 {
	for i := range s.Routes {
		if s.Routes[i].Name == route {
			return uint8(min(i+1, stack.Routes-1))
		}
	}
	return 0
}
