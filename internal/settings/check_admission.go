package settings

import (
	"maps"
	"slices"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
)

func (a *Accept) check(c *field.Check) {
	a = a.withDefaults()
	checkRate(c, "accept", a.Rate, a.Burst)
	a.PerAddress.check(c, "accept.per_address")
	c.Count("accept.connections", a.Connections, mostCount)
	c.Count("accept.keys", a.Keys, mostKeys)
	c.Count("accept.buffer", a.Buffer, mostCount)
	c.Duration("accept.stall", a.Stall)
	before, name := a.Handshakes.check(c, a.Rate)
	if len(a.Stages) > mostStages {
		c.Refuse("accept.stages", "%d of them; %d is the most", len(a.Stages), mostStages)
		return
	}
	for i, s := range a.Stages {
		path := keys.Item("accept.stages", i)
		s.check(c, path)
		if slices.ContainsFunc(a.Stages[:i], func(t Stage) bool { return t.Name == s.Name }) {
			c.Refuse(keys.Join(path, "name"), "%s is listed already; give each stage its own name", s.Name)
		}
		if before > 0 && s.Rate > before {
			c.Refuse(keys.Join(path, "rate"), "%v is above %s, %v; write the stages in the order in which callers go through them, the last one the tightest", s.Rate, name, before)
		}
		before, name = s.Rate, "that of "+s.Name
	}
}

// check returns the rate that the next stage may have, and whose that is.
func (h Handshakes) check(c *field.Check, connections float64) (rate float64, name string) {
	const path = "accept.handshakes"
	checkRate(c, path, h.Rate, h.Burst)
	c.Count(path+".running", h.Running, mostCount)
	c.Duration(path+".within", h.Within)
	switch {
	case h.Rate == 0:
		return connections, "accept.rate"
	case connections > 0 && h.Rate > connections:
		c.Refuse(path+".rate", "%v is above accept.rate, %v, and would limit nothing; write less", h.Rate, connections)
	}
	return h.Rate, path + ".rate"
}

func (s Stage) check(c *field.Check, path string) {
	if !isName(s.Name) {
		c.Refuse(keys.Join(path, "name"), "%.60q is not a name; write letters, digits, - and _", s.Name)
	}
	checkRate(c, path, s.Rate, s.Burst)
	if s.Rate == 0 {
		c.Refuse(keys.Join(path, "rate"), "is missing, so that the stage limits nothing; write how many a second are let through")
	}
	s.PerAddress.check(c, path+".per_address")
	s.PerTenant.check(c, path+".per_tenant")
}

func (q Quota) check(c *field.Check, path string) { checkRate(c, path, q.Rate, q.Burst) }

// checkStages finds stages that nobody goes through, and accounts that cannot
// be told apart.
func (f File) checkStages(c *field.Check) {
	for i, s := range f.Accept.Stages {
		path := keys.Item("accept.stages", i)
		if !slices.ContainsFunc(f.Routes, func(r Route) bool { return r.Stage == s.Name }) {
			c.Refuse(path, "no route has this stage; write stage: %s on a route, or remove it", s.Name)
		}
		if s.PerTenant != (Quota{}) && f.Tenant == nil {
			c.Refuse(keys.Join(path, "per_tenant"), "there is no tenant block that tells accounts apart; write one, or per_address")
		}
	}
}

// checkBelief finds headers that nobody is believed in, and certificates that
// nobody can show.
func (f File) checkBelief(c *field.Check) {
	if f.Tenant != nil && f.Tenant.From == "certificate" && (f.TLS == nil || f.TLS.Clients == "") {
		c.Warn("tenant.from", "nobody is asked for a certificate, so that all are one tenant; write tls.clients, or header:NAME behind what ends the TLS")
	}
	if len(f.Trust) > 0 {
		return
	}
	if f.Tenant != nil {
		if kind, name := f.Tenant.Source(); kind == "header" {
			c.Warn("tenant.from", "no peer is trusted, so that nobody's %s is believed and tenants are told apart by address; write who is under trust, or key:%s if it is a secret", name, name)
		}
	}
	if f.Priority != nil && f.Priority.Header() != "" {
		c.Warn("priority.from", "no peer is trusted, so that nobody's %s is believed; write who is under trust", f.Priority.Header())
	}
}

func (t *Tenant) check(c *field.Check) {
	if t = t.withDefaults(); t == nil {
		return
	}
	if _, _, err := parseSource(t.From); err != nil && t.From != "address" && t.From != "certificate" {
		c.Refuse("tenant.from", "%.60q %v; write header:NAME, key:NAME, certificate or address", t.From, err)
	}
	checkRate(c, "tenant", t.Rate, t.Burst)
	c.Count("tenant.keys", t.Keys, mostKeys)
	if len(t.Weights) > mostWeights {
		c.Refuse("tenant.weights", "%d tenants; name those whose weight is not 1, at most %d", len(t.Weights), mostWeights)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Weights)) {
		c.Count(keys.Join("tenant.weights", name), t.Weights[name], 255)
	}
}

func (p *Priority) check(c *field.Check) {
	if p = p.withDefaults(); p == nil {
		return
	}
	if kind, _, err := parseSource(p.From); (err != nil || kind != "header") && p.From != "" {
		c.Refuse("priority.from", "%.60q does not say where to look; write header:NAME", p.From)
	}
	c.Count("priority.levels", len(p.Levels), mostLevels)
	for i, level := range p.Levels {
		switch {
		case !isName(level):
			c.Refuse(keys.Item("priority.levels", i), "%.60q is not a name; write letters, digits, - and _", level)
		case slices.Index(p.Levels, level) < i:
			c.Refuse(keys.Item("priority.levels", i), "%s is listed already; list each level once", level)
		}
	}
}

func checkRate(c *field.Check, path string, rate float64, burst int) {
	c.Number(path+".rate", rate, 0, 1e9)
	if burst < 0 || burst > mostCount {
		c.Refuse(path+".burst", "%d is out of range; write how many may come at once, from 1 to %d, or 0 for one second's worth", burst, mostCount)
	}
}
