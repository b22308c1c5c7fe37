package sim

import (
	"slices"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim/internal/world"
)

// addTrigger lets something happen in the model.
func (c *compiler) addTrigger(t *Trigger) {
	from, to := policy.Instant(t.At), policy.Instant(t.end(c.s.Duration))
	switch t.What {
	case Spike:
		c.addSpike(t, from, to)
		return
	case Flush:
		cache := c.caches[t.Of]
		c.m.Upsets = append(c.m.Upsets, world.Upset{Kind: world.Flush, At: from, Of: cache})
		return
	}
	s := c.service(t.Of.Service)
	w := &c.m.Services[s]
	switch t.What {
	case Stall:
		c.slow(t, s, from, to, 0)
	case Latency:
		if t.Factor > 1 {
			c.slow(t, s, from, to, 1/t.Factor)
		}
		if t.Add > 0 {
			w.Extra = append(w.Extra, world.Extra{From: from, To: to, Add: t.Add})
		}
	case Errors:
		p := t.Share
		if p == 0 {
			p = 1
		}
		w.Errors = append(w.Errors, world.Share{From: from, To: to, P: p})
	case Pause:
		c.slow(t, s, from, to, 0)
		for i := range c.struck(t, s) {
			c.m.Upsets = append(c.m.Upsets, world.Upset{Kind: world.Freeze, At: from, To: to, Of: c.instance(s, i)})
		}
	case Restart:
		for i := range c.struck(t, s) {
			c.restart(t, c.instance(s, i), span.Add(t.At, span.Mul(t.Every, int64(i))))
		}
	}
}

// struck is how many instances of a service a trigger happens to.
func (c *compiler) struck(t *Trigger, service int32) int {
	all := c.m.Services[service].Instances
	if t.Instances == 0 {
		return all
	}
	return min(t.Instances, all)
}

// instance returns the number of a service's i-th instance among all.
func (c *compiler) instance(service int32, i int) int32 {
	n := int32(i)
	for _, s := range c.m.Services[:service] {
		n += int32(s.Instances)
	}
	return n
}

// slow changes the speed of the instances that a trigger happens to.
func (c *compiler) slow(t *Trigger, service int32, from, to policy.Instant, rate float64) {
	w := &c.m.Services[service]
	struck := c.struck(t, service)
	if struck == w.Instances {
		w.Speeds = append(w.Speeds, world.Speed{From: from, To: to, Rate: rate, Instance: none})
		return
	}
	for i := range struck {
		w.Speeds = append(w.Speeds, world.Speed{From: from, To: to, Rate: rate, Instance: i})
	}
}

// restart ends an instance at an instant and begins it anew.
func (c *compiler) restart(t *Trigger, instance int32, at time.Duration) {
	add := func(kind world.UpsetKind, at time.Duration) {
		c.m.Upsets = append(c.m.Upsets, world.Upset{Kind: kind, At: policy.Instant(at), Of: instance})
	}
	end := at
	add(world.Unlist, at+t.Notice)
	if t.Drain > 0 {
		add(world.Close, at+t.Drain)
		end = at + t.Drain + t.Finish
	}
	add(world.Kill, end)
	if t.For > 0 {
		add(world.Rise, end+t.For)
		add(world.List, max(end+t.For, at+t.Notice+1))
	}
}

// addSpike multiplies a load's rate for a time.
func (c *compiler) addSpike(t *Trigger, from, to policy.Instant) {
	for i := range c.m.Loads {
		if l := &c.m.Loads[i]; l.Name == t.Of.Service {
			l.Rates = spike(l.Rates, from, to, t.Factor)
		}
	}
}

// spike returns the rates with those between two instants multiplied.
func spike(rates []world.Rate, from, to policy.Instant, factor float64) []world.Rate {
	rates = cut(cut(rates, from), to)
	for i := range rates {
		if r := &rates[i]; r.From >= from && r.From < to {
			r.PerSecond *= factor
			r.Slope *= factor
		}
	}
	return rates
}

// cut returns the rates with one that begins at an instant.
func cut(rates []world.Rate, at policy.Instant) []world.Rate {
	i := len(rates) - 1
	for i >= 0 && rates[i].From > at {
		i--
	}
	if i < 0 || rates[i].From == at {
		return rates
	}
	r := rates[i]
	r.PerSecond += r.Slope * at.Sub(r.From).Seconds()
	r.From = at
	return slices.Insert(slices.Clone(rates), i+1, r)
}
