package sim

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/kalan-go/kalan/sim/internal/world"
)

// withDefaults returns the scenario with the zero fields of its own filled in.
func (s Scenario) withDefaults() Scenario {
	if s.Seed == 0 {
		s.Seed = 1
	}
	if s.Replications == 0 {
		s.Replications = 5
	}
	return s
}

// arms returns what is compared, each made ready to be played.
func (s Scenario) arms() []*compiler {
	s = s.withDefaults()
	arms := s.Arms
	if len(arms) == 0 {
		arms = []Arm{{Name: s.Name}}
	}
	var all []*compiler
	for _, a := range arms {
		merged := s.with(a)
		c := compile(&merged)
		c.name, c.about, c.expect = a.Name, a.About, append(append([]Claim{}, s.Expect...), a.Expect...)
		all = append(all, c)
	}
	return all
}

// Run plays a scenario, which must be valid. The error says that a replication
// outgrew the simulator's bounds.
func Run(s Scenario, o Options) (Result, error) {
	arms := s.arms()
	all, err := playAll(arms, o)
	if err != nil {
		return Result{}, err
	}
	r := Result{
		Name: s.Name, About: s.About, Seed: arms[0].s.Seed, Replications: arms[0].s.Replications,
		Duration: s.Duration, Warmup: arms[0].s.warmup(), Assumptions: s.assumptions(),
	}
	h := fnv.New64a()
	for _, c := range arms {
		ts := make([]*world.Tally, c.s.Replications)
		for i, p := range all[:len(ts)] {
			ts[i] = p.tally
			r.Events += p.tally.Events
			r.CPU += p.cpu
			fmt.Fprintln(h, p.tally.Hash)
		}
		all = all[len(ts):]
		a := c.assemble(ts)
		for _, claim := range c.expect {
			a.Checks = append(a.Checks, a.check(claim))
		}
		r.Arms = append(r.Arms, a)
	}
	for _, q := range s.Searches {
		found, err := s.search(q, o)
		if err != nil {
			return Result{}, err
		}
		r.Searches = append(r.Searches, found)
	}
	r.Hash = h.Sum64()
	return r, nil
}

func hex(h uint64) string { return strconv.FormatUint(h, 16) }
