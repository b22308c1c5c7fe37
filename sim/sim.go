package sim

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
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
// outgrew the simulator's bounds, or that the run was stopped; then the result
// has the arms that were played to their end.
func Run(s Scenario, o Options) (Result, error) {
	arms := s.arms()
	p := newPlayer(arms, &s, o)
	all, err := p.playAll(arms)
	if err != nil && !errors.Is(err, ErrStopped) {
		return Result{}, err
	}
	r := Result{
		Name: s.Name, About: s.About, Seed: arms[0].s.Seed, Replications: arms[0].s.Replications,
		Duration: s.Duration, Warmup: arms[0].s.warmup(), Assumptions: s.assumptions(),
	}
	h := fnv.New64a()
	for _, c := range arms {
		n := c.s.Replications
		if ts := r.take(all[:n], h); len(ts) == n {
			a := c.assemble(ts)
			for _, claim := range c.expect {
				a.Checks = append(a.Checks, a.check(claim))
			}
			r.Arms = append(r.Arms, a)
		}
		all = all[n:]
	}
	r.Hash = h.Sum64()
	if err != nil {
		return r, err
	}
	return r, p.searchAll(&s, &r)
}

// take adds up what an arm's replications took, and returns those of them that
// were played.
func (r *Result) take(all []played, h io.Writer) (ts []*world.Tally) {
	for _, p := range all {
		if p.tally != nil {
			ts = append(ts, p.tally)
			r.Events += p.tally.Events
			r.CPU += p.cpu
			fmt.Fprintln(h, p.tally.Hash)
		}
	}
	return ts
}

func (p *player) searchAll(s *Scenario, r *Result) error {
	for _, q := range s.Searches {
		before := p.done
		found, err := p.search(s, q)
		if err != nil {
			return err
		}
		p.done = before + s.trials(q) // it may have needed fewer
		r.Searches = append(r.Searches, found)
	}
	return nil
}

func hex(h uint64) string { return strconv.FormatUint(h, 16) }
