package walk

import (
	"slices"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/span"
)

// Kind is what a scenario file says it is, so that this model reads it.
const Kind = "walk"

// The bounds of a scenario: an attempt costs some ten nanoseconds, so a run at
// the bound takes seconds.
const (
	mostRequests = 1_000_000
	mostSteps    = 1_000
	mostList     = 10_000
	mostWork     = 100_000_000
	longest      = 24 * time.Hour
)

// A Scenario is a chain, the regimes that it is put under, and the
// configurations that are compared. Every field is needed unless it says
// otherwise.
type Scenario struct {
	// Kind is "walk".
	Kind string `yaml:"kind"`
	// Name names the scenario in its report.
	Name string `yaml:"name"`
	// About says what it shows; may be left out.
	About string `yaml:"about"`
	// Promise is what the caller waits, end to end.
	Promise time.Duration `yaml:"promise"`
	// Share is what the gateway itself needs of it, before the first call; 0:
	// nothing.
	Share time.Duration `yaml:"share"`
	// Requests is how many requests are walked along the chain.
	Requests int `yaml:"requests"`
	// Rate is how many requests a second reach the gateway. It changes no
	// decision; the inner rate is computed from it.
	Rate float64 `yaml:"rate"`
	// Chain is what is called for each request.
	Chain Chain `yaml:"chain"`
	// Regimes are the conditions that every configuration is put under.
	Regimes []Regime `yaml:"regimes"`
	// Configurations are what is compared.
	Configurations []Configuration `yaml:"configurations"`
}

// A Chain is what a gateway calls for each request.
type Chain struct {
	// Depth is how many steps of a branch follow one another.
	Depth int `yaml:"depth"`
	// Branches is how many branches are called in parallel.
	Branches int `yaml:"branches"`
}

// Steps is how many calls one request makes when nothing fails.
func (c Chain) Steps() int { return c.Depth * c.Branches }

// A Regime is one kind of conditions.
type Regime struct {
	// Name names it in the report.
	Name string `yaml:"name"`
	// Usual says that these are the conditions of every day, in which a retry
	// budget should not bind; in all others it should. May be left out.
	Usual bool `yaml:"usual"`
	// Cycle is how long steps take, one after the other, over and over.
	Cycle []time.Duration `yaml:"cycle"`
}

// A Configuration is how the chain is protected.
type Configuration struct {
	// Name names it in the report.
	Name string `yaml:"name"`
	// Timeout is how long one attempt may take; 0: as long as it likes.
	Timeout time.Duration `yaml:"timeout"`
	// Retry plans the attempts of each step; may be left out, for its defaults.
	Retry retry.Config `yaml:"retry"`
	// Propagate passes the remaining time on: an attempt has at most what is
	// left, and none is begun when nothing is. May be left out.
	Propagate bool `yaml:"propagate"`
	// Budget caps the retries of all steps together; without one nothing does.
	Budget *budget.Config `yaml:"budget"`
}

// Validate returns everything that is wrong with the scenario.
func (s Scenario) Validate() policy.Problems {
	var c field.Check
	if s.Kind != Kind {
		c.Refuse("kind", "%q is not this model; write %s", s.Kind, Kind)
	}
	named(&c, "name", s.Name)
	length(&c, "promise", s.Promise, 1)
	length(&c, "share", s.Share, 0)
	c.Count("requests", s.Requests, mostRequests)
	if s.Rate == 0 {
		c.Refuse("rate", "is missing; write the requests a second that reach the gateway, such as 416.67")
	}
	c.Number("rate", s.Rate, 0, 1e9)
	c.Count("chain.depth", s.Chain.Depth, mostSteps)
	c.Count("chain.branches", s.Chain.Branches, mostSteps)
	some(&c, "regimes", len(s.Regimes), "name and cycle")
	for i, r := range s.Regimes {
		c.Add(r.validate().Under(keys.Item("regimes", i)))
	}
	some(&c, "configurations", len(s.Configurations), "name and timeout")
	for i, configuration := range s.Configurations {
		c.Add(configuration.validate().Under(keys.Item("configurations", i)))
	}
	if c.Problems().Err() == nil {
		s.checkWork(&c)
	}
	return c.Problems()
}

func (r Regime) validate() policy.Problems {
	var c field.Check
	named(&c, "name", r.Name)
	some(&c, "cycle", len(r.Cycle), "durations")
	for i, d := range r.Cycle {
		length(&c, keys.Item("cycle", i), d, 0)
	}
	return c.Problems()
}

func (configuration Configuration) validate() policy.Problems {
	var c field.Check
	named(&c, "name", configuration.Name)
	length(&c, "timeout", configuration.Timeout, 0)
	c.Add(configuration.Retry.Validate().Under("retry"))
	length(&c, "retry.base", configuration.Retry.Base, 0)
	length(&c, "retry.cap", configuration.Retry.Cap, 0)
	if configuration.Budget != nil {
		c.Add(configuration.Budget.Validate().Under("budget"))
	}
	return c.Problems()
}

// checkWork refuses a scenario that would not end in a reasonable time, or
// whose clock would reach the end of its range.
func (s Scenario) checkWork(c *field.Check) {
	work, clock := 0.0, 0.0
	for _, configuration := range s.Configurations {
		retries := configuration.Retry.WithDefaults()
		attempts := float64(s.Requests) * float64(s.Chain.Steps()) * float64(retries.Attempts)
		work += attempts * float64(len(s.Regimes)) * 2 // the run, and the one without its budget
		clock = max(clock, attempts*float64(s.slowest()+retries.Cap)+float64(s.Requests)*float64(s.Share))
	}
	if work > mostWork {
		c.Refuse("requests", "the walk makes up to %.3g attempts and at most %.3g are allowed; write fewer requests, attempts or steps", work, float64(mostWork))
	} else if clock > float64(span.Max)/2 {
		c.Refuse("requests", "the walk may last more than a hundred years; write fewer requests, attempts or steps")
	}
}

// slowest is the longest that a step takes in any regime.
func (s Scenario) slowest() (d time.Duration) {
	for _, r := range s.Regimes {
		d = max(d, slices.Max(r.Cycle))
	}
	return d
}

func named(c *field.Check, path, name string) {
	if name == "" {
		c.Refuse(path, "is missing; write a name for the report")
	}
}

func some(c *field.Check, path string, n int, what string) {
	switch {
	case n == 0:
		c.Refuse(path, "is empty; write at least one entry with %s", what)
	case n > mostList:
		c.Refuse(path, "has %d entries; write at most %d", n, mostList)
	}
}

func length(c *field.Check, path string, d, least time.Duration) {
	switch {
	case d < least && least > 0 && d == 0:
		c.Refuse(path, "is missing; write a duration such as 200ms")
	case d < 0:
		c.Duration(path, d)
	case d > longest:
		c.Refuse(path, "%v is longer than a call lasts; write at most %v", d, longest)
	}
}
