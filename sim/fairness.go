package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/internal/world"
	"github.com/kalan-go/kalan/sim/record"
)

// A PartResult is what became of a part of all requests: those of a priority
// level, or of a tenant.
type PartResult struct {
	Name                  string
	Offered, Goodput      record.Interval // a second
	Refused, Late, Failed record.Interval // shares of the offered; what was late has not failed
}

// mostParts is how many tenants a result names.
const mostParts = 10

// fates counts what became of some requests in one replication.
type fates struct{ offered, good, refused, late, failed float64 }

func fatesOf(t *world.LoadTally) fates {
	f := fates{offered: float64(t.Offered), good: float64(t.Good), refused: float64(t.Refused), failed: float64(t.Failed)}
	for why := range t.Why {
		if n := float64(t.Why[why]); world.Late(policy.Reason(why)) {
			f.late += n
		}
	}
	f.failed -= f.late
	return f
}

func fatesOfTenant(t *world.TenantTally) fates {
	return fates{float64(t.Offered), float64(t.Good), float64(t.Refused), float64(t.Late), float64(t.Failed)}
}

func (f *fates) add(o fates) {
	f.offered += o.offered
	f.good += o.good
	f.refused += o.refused
	f.late += o.late
	f.failed += o.failed
}

// part makes a result of a part's fates in each replication.
func part(name string, ts []*world.Tally, counted float64, of func(*world.Tally) fates) PartResult {
	all := make([]fates, len(ts))
	for i, t := range ts {
		all[i] = of(t)
	}
	over := func(figure func(fates) float64) record.Interval {
		samples := make([]float64, len(all))
		for i, f := range all {
			samples[i] = figure(f)
		}
		return record.Over(samples)
	}
	// A tenant may ask twice in a replication: the share of all that it asked is
	// what happened to it, and the replications say how sure that is.
	var sum fates
	for _, f := range all {
		sum.add(f)
	}
	share := func(figure func(fates) float64) record.Interval {
		i := over(func(f fates) float64 { return figure(f) / max(f.offered, 1) })
		i.Mean = figure(sum) / max(sum.offered, 1)
		return i
	}
	return PartResult{
		Name:    name,
		Offered: over(func(f fates) float64 { return f.offered / counted }),
		Goodput: over(func(f fates) float64 { return f.good / counted }),
		Refused: share(func(f fates) float64 { return f.refused }),
		Late:    share(func(f fates) float64 { return f.late }),
		Failed:  share(func(f fates) float64 { return f.failed }),
	}
}

// addFairness says who got what of what was answered.
func (c *compiler) addFairness(r *ArmResult, ts []*world.Tally, counted float64) {
	c.addLevels(r, ts, counted)
	c.addTenants(r, ts, counted)
	r.Fairness = overRuns(ts, func(t *world.Tally) float64 { return jain(goods(t), c.fair(t)) })
	for i := range r.Loads {
		l := &r.Loads[i]
		l.Late = overRuns(ts, func(t *world.Tally) float64 {
			f := fatesOf(&t.Loads[i])
			return f.late / max(f.offered, 1)
		})
		r.Fair = append(r.Fair, overRuns(ts, func(t *world.Tally) float64 { return c.fair(t)[i] / counted }))
		l.Starved = overRuns(ts, func(t *world.Tally) float64 { return starved(t.Loads[i].Tenants) })
	}
}

// addLevels adds up the loads of each priority, where there is more than one.
func (c *compiler) addLevels(r *ArmResult, ts []*world.Tally, counted float64) {
	levels := c.levels()
	if len(levels) < 2 {
		return
	}
	for _, level := range levels {
		r.Levels = append(r.Levels, part(fmt.Sprintf("priority %d", level), ts, counted, func(t *world.Tally) (f fates) {
			for i := range c.s.Loads {
				if c.s.Loads[i].Priority == level {
					f.add(fatesOf(&t.Loads[i]))
				}
			}
			return f
		}))
	}
}

// levels returns the priorities that there are, the most important first.
func (c *compiler) levels() (all []uint8) {
	for i := range c.s.Loads {
		all = append(all, c.s.Loads[i].Priority)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// addTenants names the tenants that ask most, where there are several.
func (c *compiler) addTenants(r *ArmResult, ts []*world.Tally, counted float64) {
	several := false
	for i := range c.s.Loads {
		l := &c.s.Loads[i]
		several = several || l.Tenants > 1
		if l.Tenants <= 1 {
			r.Tenants = append(r.Tenants, part(l.Name, ts, counted, func(t *world.Tally) fates { return fatesOf(&t.Loads[i]) }))
			continue
		}
		for _, j := range busiest(ts, i) {
			name := fmt.Sprintf("%s, number %d of %d", l.Name, j+1, l.Tenants)
			r.Tenants = append(r.Tenants, part(name, ts, counted, func(t *world.Tally) fates { return fatesOfTenant(&t.Loads[i].Tenants[j]) }))
		}
	}
	if !several {
		r.Tenants = nil
	}
	slices.SortStableFunc(r.Tenants, func(a, b PartResult) int { return cmp.Compare(b.Offered.Mean, a.Offered.Mean) })
	r.Tenants = r.Tenants[:min(len(r.Tenants), mostParts)]
}

// busiest returns which of a load's tenants ask most, over all replications.
func busiest(ts []*world.Tally, load int) []int {
	asked := make([]uint64, len(ts[0].Loads[load].Tenants))
	who := make([]int, len(asked))
	for j := range asked {
		who[j] = j
		for _, t := range ts {
			asked[j] += uint64(t.Loads[load].Tenants[j].Offered)
		}
	}
	slices.SortStableFunc(who, func(a, b int) int { return cmp.Compare(asked[b], asked[a]) })
	return who[:min(len(who), mostParts)]
}

// starved is the share of those tenants who asked that got nothing.
func starved(tenants []world.TenantTally) float64 {
	asked, none := 0.0, 0.0
	for i := range tenants {
		if t := &tenants[i]; t.Offered > 0 {
			asked++
			if t.Good == 0 {
				none++
			}
		}
	}
	return none / max(asked, 1)
}

func goods(t *world.Tally) []float64 {
	all := make([]float64, len(t.Loads))
	for i := range all {
		all[i] = float64(t.Loads[i].Good)
	}
	return all
}

// fair returns how many requests of each load would have been answered had the
// same number in all been given to the most important level first, and within a
// level to each tenant by its weight, none more than it asked for (weighted
// max-min fairness: Bertsekas and Gallager, Data Networks, 6.5.2).
func (c *compiler) fair(t *world.Tally) []float64 {
	left := 0.0
	for _, good := range goods(t) {
		left += good
	}
	fair := make([]float64, len(t.Loads))
	for _, level := range c.levels() {
		var open []int
		for i := range c.s.Loads {
			if c.s.Loads[i].Priority == level {
				open = append(open, i)
			}
		}
		left = c.fill(fair, open, t, left)
	}
	return fair
}

// fill divides what is left among loads and returns what none of them wants.
func (c *compiler) fill(fair []float64, open []int, t *world.Tally, left float64) float64 {
	for len(open) > 0 && left > 0 {
		weights := 0.0
		for _, i := range open {
			weights += c.claimOf(i)
		}
		each := left / weights
		hungry := slices.DeleteFunc(slices.Clone(open), func(i int) bool {
			return wanted(t, i) <= each*c.claimOf(i)
		})
		if len(hungry) == len(open) {
			for _, i := range open {
				fair[i] = each * c.claimOf(i)
			}
			return 0
		}
		for _, i := range open {
			if !slices.Contains(hungry, i) {
				fair[i] = wanted(t, i)
				left -= fair[i]
			}
		}
		open = hungry
	}
	return max(left, 0)
}

// claimOf is a load's claim against others: its tenants by their weight.
func (c *compiler) claimOf(load int) float64 {
	l := &c.s.Loads[load]
	return float64(max(l.Tenants, 1)) * float64(max(l.Weight, 1))
}

// wanted is what a load asked for: also what it had asked for before counting
// began, if that was answered after.
func wanted(t *world.Tally, load int) float64 {
	return float64(max(t.Loads[load].Offered, t.Loads[load].Good))
}

// jain is the index of Jain, Chiu and Hawe (DEC-TR-301, 1984) of what each got
// as a share of what would have been fair: 1 when all got the same share of it,
// 1/n when one of n got everything.
func jain(got, fair []float64) float64 {
	sum, squares, n := 0.0, 0.0, 0.0
	for i := range got {
		if fair[i] > 0 {
			x := got[i] / fair[i]
			sum, squares, n = sum+x, squares+x*x, n+1
		}
	}
	if squares == 0 {
		return 1 // all got the same: nothing
	}
	return sum * sum / squares / n
}
