package sim

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim/internal/world"
	"github.com/kalan-go/kalan/sim/record"
)

// overRuns returns the interval of a figure over the replications.
func overRuns(ts []*world.Tally, figure func(*world.Tally) float64) record.Interval {
	samples := make([]float64, len(ts))
	for i, t := range ts {
		samples[i] = figure(t)
	}
	return record.Over(samples)
}

// assemble makes an arm's result of its replications.
func (c *compiler) assemble(ts []*world.Tally) ArmResult {
	counted := (c.s.Duration - c.s.warmup()).Seconds()
	r := ArmResult{Name: c.name, About: c.about, Capacity: c.s.Capacity(), Bin: c.m.Bin}
	total := func(of func(*world.LoadTally) uint64) func(*world.Tally) float64 {
		return func(t *world.Tally) (n float64) {
			for i := range t.Loads {
				n += float64(of(&t.Loads[i]))
			}
			return n
		}
	}
	offered := total(func(l *world.LoadTally) uint64 { return l.Offered })
	good := total(func(l *world.LoadTally) uint64 { return l.Good })
	attempts := total(func(l *world.LoadTally) uint64 { return l.Attempts })
	rate := func(of func(*world.Tally) float64) record.Interval {
		return overRuns(ts, func(t *world.Tally) float64 { return of(t) / counted })
	}
	r.Offered, r.Goodput, r.Attempts = rate(offered), rate(good), rate(attempts)
	r.Amplification = overRuns(ts, func(t *world.Tally) float64 { return attempts(t) / max(offered(t), 1) })
	r.Wasted = overRuns(ts, func(t *world.Tally) float64 {
		worked, wasted := time.Duration(0), time.Duration(0)
		for i := range t.Services {
			worked, wasted = worked+t.Services[i].Worked, wasted+t.Services[i].Wasted
		}
		return float64(wasted) / max(float64(worked), 1)
	})
	c.addLoads(&r, ts, counted)
	c.addFairness(&r, ts, counted)
	c.addServices(&r, ts, counted)
	c.addEdges(&r, ts)
	c.addCaches(&r, ts)
	r.Series = c.series(ts, func(t *world.Tally) [][]world.Bin { return t.Asked }, true)
	for i := range c.s.Triggers {
		t := &c.s.Triggers[i]
		r.Troubles = append(r.Troubles, Window{t.Name, t.At, c.s.end(t)})
	}
	c.addVerdict(&r, ts)
	return r
}

func (c *compiler) addLoads(r *ArmResult, ts []*world.Tally, counted float64) {
	for i := range c.s.Loads {
		of := &c.s.Loads[i]
		l := LoadResult{Name: of.Name, ClosedLoop: of.Clients > 0, Priority: of.Priority, Weight: max(of.Weight, 1), Tenants: max(of.Tenants, 1)}
		one := func(figure func(*world.LoadTally) float64) record.Interval {
			return overRuns(ts, func(t *world.Tally) float64 { return figure(&t.Loads[i]) })
		}
		share := func(of func(*world.LoadTally) uint64) record.Interval {
			return one(func(t *world.LoadTally) float64 { return float64(of(t)) / max(float64(t.Offered), 1) })
		}
		percentile := func(q float64) record.Interval {
			return one(func(t *world.LoadTally) float64 { return milliseconds(t.Latency.Quantile(q)) })
		}
		l.Offered = one(func(t *world.LoadTally) float64 { return float64(t.Offered) / counted })
		l.Goodput = one(func(t *world.LoadTally) float64 { return float64(t.Good) / counted })
		l.Attempts = one(func(t *world.LoadTally) float64 { return float64(t.Attempts) / counted })
		l.Failed = share(func(t *world.LoadTally) uint64 { return t.Failed })
		l.Refused = share(func(t *world.LoadTally) uint64 { return t.Refused })
		l.Business = share(func(t *world.LoadTally) uint64 { return t.Business })
		l.Mean = one(func(t *world.LoadTally) float64 { return milliseconds(t.Latency.Mean()) })
		l.P50, l.P95, l.P99 = percentile(.5), percentile(.95), percentile(.99)
		for _, t := range ts {
			o := &t.Loads[i]
			l.Latency.Merge(&o.Latency)
			l.Requests += o.Offered
			l.Answered += o.Good
			for why, n := range o.Why {
				l.Why[why] += n
			}
		}
		l.Series = c.series(ts, func(t *world.Tally) [][]world.Bin { return t.Asked[i : i+1] }, false)
		r.Latency.Merge(&l.Latency)
		r.Loads = append(r.Loads, l)
	}
}

func (c *compiler) addServices(r *ArmResult, ts []*world.Tally, counted float64) {
	for i := range c.s.Services {
		v := &c.s.Services[i]
		s := ServiceResult{Name: v.Name, Workers: v.Workers * max(v.Instances, 1)}
		one := func(figure func(*world.ServiceTally) float64) record.Interval {
			return overRuns(ts, func(t *world.Tally) float64 { return figure(&t.Services[i]) })
		}
		workers := float64(max(s.Workers, 1))
		s.Utilisation = one(func(t *world.ServiceTally) float64 { return t.Busy / 1e9 / counted / workers })
		s.Present = one(func(t *world.ServiceTally) float64 { return t.Present / 1e9 / counted })
		s.Work = one(func(t *world.ServiceTally) float64 { return t.Worked.Seconds() / counted })
		s.Wasted = one(func(t *world.ServiceTally) float64 { return t.Wasted.Seconds() / counted })
		s.MeanWait = one(func(t *world.ServiceTally) float64 { return milliseconds(t.Wait.Mean()) })
		s.MeanStay = one(func(t *world.ServiceTally) float64 { return milliseconds(t.Stay.Mean()) })
		for _, t := range ts {
			o := &t.Services[i]
			s.Wait.Merge(&o.Wait)
			s.Stay.Merge(&o.Stay)
			s.Arrived, s.Refused = s.Arrived+o.Arrived, s.Refused+o.Refused
			s.Dropped, s.Finished = s.Dropped+o.Dropped, s.Finished+o.Finished
			s.Longest = max(s.Longest, o.Longest)
		}
		r.Services = append(r.Services, s)
	}
}

// addEdges adds up what was called, and names the edge that amplifies most.
func (c *compiler) addEdges(r *ArmResult, ts []*world.Tally) {
	requests, most := 0.0, 1.05
	for i := range r.Loads {
		requests += float64(r.Loads[i].Requests)
	}
	for i, w := range c.ways {
		e := EdgeResult{From: w.from, To: w.to.String()}
		for _, t := range ts {
			o := &t.Edges[i]
			e.Calls, e.Attempts, e.Failed = e.Calls+o.Calls, e.Attempts+o.Attempts, e.Failed+o.Failed
			for why, n := range o.Refused {
				e.Why[why] += n
			}
		}
		e.Amplification = float64(e.Attempts) / max(float64(e.Calls), 1)
		e.Share = float64(e.Attempts) / max(requests, 1)
		if e.Amplification > most {
			most, r.Amplifies = e.Amplification, e.Name()
		}
		r.Edges = append(r.Edges, e)
	}
	for i, w := range c.guardsOf {
		g := GuardResult{From: w.from, To: w.to.Service}
		first := 0
		for _, other := range c.m.Guards[:i] {
			first += other.Processes
		}
		if len(ts[0].Journals) > 0 {
			g.Journals = ts[0].Journals[first : first+c.m.Guards[i].Processes]
		}
		r.Guards = append(r.Guards, g)
	}
}

// Name returns how claims and reports name the edge.
func (e *EdgeResult) Name() string { return fmt.Sprintf("%s>%s", e.From, e.To) }

func (c *compiler) addCaches(r *ArmResult, ts []*world.Tally) {
	for i := range c.s.Services {
		s := &c.s.Services[i]
		for j := range s.Caches {
			id := c.caches[Target{s.Name, s.Caches[j].Name}]
			k := CacheResult{Name: s.Name + "/" + s.Caches[j].Name}
			for _, t := range ts {
				o := &t.Caches[id]
				k.Hits, k.Misses = k.Hits+o.Hits, k.Misses+o.Misses
				k.Waited, k.Early = k.Waited+o.Waited, k.Early+o.Early
				k.Rounds, k.Lead = k.Rounds+o.Rounds, k.Lead+o.Lead
			}
			k.Lead /= time.Duration(max(k.Rounds, 1))
			r.Caches = append(r.Caches, k)
		}
	}
}

// series averages what was in each stretch of time over the replications.
func (c *compiler) series(ts []*world.Tally, loads func(*world.Tally) [][]world.Bin, system bool) []Moment {
	all := make([]Moment, c.s.Duration/c.m.Bin)
	n := float64(len(ts))
	perSecond := 1 / c.m.Bin.Seconds() / n
	for b := range all {
		m := &all[b]
		m.At = span.Mul(c.m.Bin, int64(b))
		for _, t := range ts {
			for _, load := range loads(t) {
				m.Offered += float64(load[b].Offered) * perSecond
				m.Good += float64(load[b].Good) * perSecond
				m.Answered += float64(load[b].Answered) * perSecond
				m.Attempts += float64(load[b].Attempts) * perSecond
			}
			if system {
				m.add(t, b, n)
			}
		}
	}
	return all
}

// add takes in what the system looked like at the end of a stretch.
func (m *Moment) add(t *world.Tally, b int, n float64) {
	for _, service := range t.Queues {
		m.Waiting += float64(service[b].Waiting) / n
		m.Busy += float64(service[b].Busy) / n
	}
	for _, guard := range t.Guards {
		g := guard[b]
		m.Limit += float64(min(g.Limit, 1<<20)) / n
		m.InFlight += float64(g.InFlight) / n
		m.Queued += float64(g.Waiting) / n
		m.Open += float64(g.Open) / n
	}
}
