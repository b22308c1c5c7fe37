package sim

import (
	"math"
	"slices"
	"time"
)

// A bisection looks for the value from which on an arm tips.
type bisection struct {
	arm   Scenario
	query Search
	p     *player
	found SearchResult
}

// search bisects for the value at which the verdict changes. The scenario and
// the search are valid.
func (p *player) search(s *Scenario, q Search) (SearchResult, error) {
	arm, _ := s.Arm(q.Arm)
	arm.Arms, arm.Searches = nil, nil
	b := bisection{arm: arm.withDefaults(), query: q.withDefaults(&arm), p: p}
	b.found = SearchResult{Name: q.Name, Arm: q.Arm, What: "load", Low: b.query.From, High: b.query.To}
	if q.Trigger != "" {
		b.found.What = "trigger"
	}
	err := b.run()
	return b.found, err
}

// trials is about how many replications a search plays: both ends, and one in
// the middle of what remains until that is as exact as it has to be.
func (s *Scenario) trials(q Search) float64 {
	arm, _ := s.Arm(q.Arm)
	arm = arm.withDefaults()
	q = q.withDefaults(&arm)
	halvings := math.Ceil(math.Log2(max((q.To-q.From)/max(q.Within*q.To, 1e-9), 1)))
	return (2 + halvings) * float64(arm.Replications)
}

// withDefaults fills in what the search does not say: around the value that the
// arm has.
func (q Search) withDefaults(arm *Scenario) Search {
	usual := 0.0
	if q.Trigger != "" {
		usual = arm.triggerOf(q.Trigger).For.Seconds()
	} else {
		usual = arm.loadOf(q.Load).Rate
	}
	if q.From == 0 {
		q.From = usual / 10
	}
	if q.To == 0 {
		q.To = usual * 10
	}
	if q.Within == 0 {
		q.Within = 0.02
	}
	return q
}

// at returns the arm with a value in the place of the one that is varied.
func (q *Search) at(arm Scenario, x float64) Scenario {
	if q.Trigger != "" {
		arm.Triggers = slices.Clone(arm.Triggers)
		arm.triggerOf(q.Trigger).For = time.Duration(x * float64(time.Second))
		return arm
	}
	arm.Loads = slices.Clone(arm.Loads)
	arm.loadOf(q.Load).Rate = x
	return arm
}

func (b *bisection) run() error {
	r := &b.found
	low, err := b.tips(r.Low)
	if err != nil {
		return err
	}
	high, err := b.tips(r.High)
	if err != nil {
		return err
	}
	r.Always, r.Never = low, !high
	switch {
	case low:
		r.High = r.Low
	case !high:
		r.Low = r.High
	}
	for r.High-r.Low > b.query.Within*r.High {
		middle := (r.Low + r.High) / 2
		tipped, err := b.tips(middle)
		if err != nil {
			return err
		}
		if tipped {
			r.High = middle
		} else {
			r.Low = middle
		}
	}
	r.Found = (r.Low + r.High) / 2
	return nil
}

// tips reports whether at least half of the replications do not come back with
// that value.
func (b *bisection) tips(x float64) (bool, error) {
	b.found.Runs++
	s := b.query.at(b.arm, x)
	c := compile(&s)
	c.name = b.query.Name
	all, err := b.p.playAll([]*compiler{c})
	if err != nil {
		return false, err
	}
	trial := Trial{Value: x, Of: len(all)}
	for _, p := range all {
		v, _ := c.courseOf(p.tally).judge()
		if v > Recovers {
			trial.Tipped++ // what has not been seen to recover has not recovered
		}
		if v == Undecided || v == Suffers && b.found.What == "trigger" {
			trial.Undecided++ // the trigger, or the run, ended too late or too soon to tell
		}
	}
	b.found.Trials = append(b.found.Trials, trial)
	return 2*trial.Tipped >= len(all), nil
}
