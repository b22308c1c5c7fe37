package walk

import (
	"slices"
	"time"

	"github.com/kalan-go/kalan/plan"
)

// A Result is what a scenario's walk found. Its figures are not rounded.
type Result struct {
	Kind    string         `json:"kind"`
	Regimes []RegimeResult `json:"regimes"`
}

// A RegimeResult compares the configurations under one regime.
type RegimeResult struct {
	Name string `json:"name"`
	Rows []Row  `json:"rows"`
	// Sizings has one for each configuration that has a retry budget.
	Sizings []plan.Sizing `json:"-"`
}

// A Row is one configuration under one regime.
type Row struct {
	Configuration string `json:"configuration"`
	// InTime, Late and Failed count the requests: answered within the promise,
	// answered after it, and not answered.
	InTime int `json:"in_time"`
	Late   int `json:"late"`
	Failed int `json:"failed"`
	// MedianMs is the element N/2 of the sorted end-to-end times, WorstMs the
	// last one. Failed requests are in both.
	MedianMs float64 `json:"median_ms"`
	WorstMs  float64 `json:"worst_ms"`
	// Multiplier is how many calls were made for each call that the requests
	// need when nothing fails.
	Multiplier float64 `json:"multiplier"`
	// InnerRPS is the rate that the chain has to carry at the scenario's rate.
	InnerRPS float64 `json:"inner_rps"`
	// BudgetBound says that the retry budget refused at least one retry.
	BudgetBound bool `json:"budget_bound"`
}

// Verdicts says of each configuration with a retry budget whether it is sized
// right, looking at all regimes (B10).
func (r Result) Verdicts() []string {
	var verdicts []string
	for i := range r.Regimes[0].Sizings {
		var seen []plan.Sizing
		for _, regime := range r.Regimes {
			seen = append(seen, regime.Sizings[i])
		}
		if v := plan.Verdict(seen); v != "" {
			verdicts = append(verdicts, v)
		}
	}
	return verdicts
}

// Run walks the scenario, which must be valid.
func Run(s Scenario) Result {
	result := Result{Kind: Kind}
	for i := range s.Regimes {
		result.Regimes = append(result.Regimes, s.runRegime(&s.Regimes[i]))
	}
	return result
}

func (s *Scenario) runRegime(r *Regime) RegimeResult {
	found := RegimeResult{Name: r.Name}
	for i := range s.Configurations {
		c := &s.Configurations[i]
		row := s.run(r, c)
		found.Rows = append(found.Rows, row)
		if c.Budget != nil {
			found.Sizings = append(found.Sizings, s.size(r, c, row))
		}
	}
	return found
}

// size compares a row with the same walk without its budget.
func (s *Scenario) size(r *Regime, c *Configuration, with Row) plan.Sizing {
	free := *c
	free.Budget = nil
	return plan.Sizing{
		Ratio:      c.Budget.WithDefaults().Ratio,
		Conditions: r.Name,
		Usual:      r.Usual,
		Without:    s.run(r, &free).Multiplier,
		With:       with.Multiplier,
		Bound:      with.BudgetBound,
	}
}

// run walks all requests of one regime under one configuration.
func (s *Scenario) run(r *Regime, c *Configuration) Row {
	w := newWalker(s, r, c)
	row := Row{Configuration: c.Name}
	times := make([]time.Duration, s.Requests)
	for i := range times {
		took, ok := w.request()
		times[i] = took
		switch {
		case !ok:
			row.Failed++
		case took > s.Promise:
			row.Late++
		default:
			row.InTime++
		}
	}
	slices.Sort(times)
	steps := float64(s.Chain.Steps())
	row.MedianMs = ms(times[len(times)/2])
	row.WorstMs = ms(times[len(times)-1])
	row.Multiplier = float64(w.calls) / (float64(s.Requests) * steps)
	row.InnerRPS = s.Rate * steps * row.Multiplier
	row.BudgetBound = w.budget.Snapshot(w.now).Denied > 0
	return row
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
