package breaker

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// The defaults of Config, F18's figures.
const (
	defaultWindow   = time.Minute
	defaultCalls    = 20
	defaultRate     = 0.5
	defaultOpen     = 10 * time.Second
	defaultProbes   = 5
	defaultHalfOpen = 30 * time.Second
)

// unknownPatience stands for two exchange timeouts where neither a timeout nor
// a slow threshold is known: longer than a restart of one second.
const unknownPatience = 2 * time.Second

const (
	maxCount  = 1 << 20 // bounds the memory of a count window, a byte a call
	maxProbes = 1 << 20 // bounds the work of judging those that never came back
)

// Config says when a Breaker opens and how it recovers. The zero value is
// ready to use and means the documented defaults.
type Config struct {
	// Mode lets the breaker decide, or overrules it. 0: Auto.
	Mode Mode `yaml:"mode"`

	// Window is the time over which calls are counted. 0: 60 s. Raising it
	// makes the rates steadier and slower to follow a change.
	Window time.Duration `yaml:"window"`
	// Count, when positive, counts the last Count calls instead of those
	// within Window. A count has no age: after a quiet night, yesterday's
	// failures still count. 0: the time window. Raising it is like raising
	// Window. At most 1,048,576.
	Count int `yaml:"count"`
	// Calls is the number of counted calls below which no rate is judged, and
	// the number of points at which the score is full. 0: 20, or Count where
	// that is less. Raising it avoids verdicts on little evidence and delays
	// every verdict.
	Calls int `yaml:"calls"`

	// FailureRate is the share of failed calls, in (0, 1], at which it opens
	// at once. 0: 0.5. Raising it tolerates more failures.
	FailureRate float64 `yaml:"failure_rate"`
	// Slow is how long an attempt may go unanswered before it counts as slow.
	// It stays below Exchange: at the timeout every slow call is a failed one
	// already, and a gray failure is seen by nobody (F25). 0: half of
	// Exchange, or no judgement where Exchange is 0; negative: slow calls are
	// not judged. Raising it tolerates slower answers and sees a hang later.
	Slow time.Duration `yaml:"slow" zero:"none"`
	// SlowRate is the share of slow calls, in (0, 1], at which it opens once
	// the score has agreed for two exchange timeouts, or the share has been
	// that large for a whole window. 0: 0.5. Raising it tolerates a longer
	// tail of slow answers.
	SlowRate float64 `yaml:"slow_rate"`

	// Open is how long it refuses before it probes. 0: 10 s. Raising it spares
	// the dependency and delays recovery.
	Open time.Duration `yaml:"open"`
	// OpenMax is what the open time may grow to: it doubles each time that
	// half-open fails and is Open again after closing. 0: Open, no growth.
	// Raising it spares a dependency that stays down for long.
	OpenMax time.Duration `yaml:"open_max"`
	// OpenJitter is the largest share of the open time, in [0, 1], that is
	// added to it at random, so that the callers of one dependency do not
	// probe it at one instant. 0: none. Raising it spreads them wider.
	OpenJitter float64 `yaml:"open_jitter"`

	// Probes is how many attempts pass in half-open before it is judged. 0: 5.
	// Raising it decides on more evidence and sends more to a dependency that
	// may still be down.
	Probes int `yaml:"probes"`
	// HalfOpen is the longest stay in half-open, counted from its first probe.
	// 0: 30 s. Raising it waits longer for probes that hang.
	HalfOpen time.Duration `yaml:"half_open"`
	// Ramp is how long after half-open it admits only a share of the calls,
	// which grows from a tenth to all of them. 0: no ramp, because the limit
	// behind a breaker already bounds what a recovered dependency gets at
	// once, and every ramp refuses calls that would have been served. Raising
	// it protects one that has to warm up its caches.
	Ramp time.Duration `yaml:"ramp"`

	// Exchange is the time limit of one attempt, filled in by the owner. 0:
	// none; then twice Slow stands for it, and where slow calls are not judged
	// either, one second.
	Exchange time.Duration `yaml:"-"`
	// Seed starts the random numbers of OpenJitter, filled in by the owner; a
	// seed for each process is what spreads a fleet.
	Seed uint64 `yaml:"-"`
}

// WithDefaults returns c with every zero field replaced by its default.
func (c Config) WithDefaults() Config {
	fill(&c.Window, defaultWindow)
	if c.Count > 0 {
		fill(&c.Calls, min(c.Count, defaultCalls))
	}
	fill(&c.Calls, defaultCalls)
	fill(&c.FailureRate, defaultRate)
	fill(&c.Slow, max(c.Exchange, 0)/2)
	fill(&c.SlowRate, defaultRate)
	fill(&c.Open, defaultOpen)
	fill(&c.OpenMax, c.Open)
	fill(&c.Probes, defaultProbes)
	fill(&c.HalfOpen, defaultHalfOpen)
	return c
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// rules is what a Config comes to. Values that Validate refuses still make
// rules that neither panic nor hang: New does not return an error.
type rules struct {
	Config
	slow     time.Duration // span.Max: not judged
	patience time.Duration // how long the score must have been above 0
	memory   time.Duration // how long a stretch of the score is remembered
	worst    float64       // the rate for slow and failed attempts together
	points   int           // of the score, that confirm what the window says
	soon     time.Duration // when to come back to a breaker that is probing
}

func (c Config) rules() rules {
	c = c.WithDefaults()
	r := rules{Config: c, slow: span.Max, patience: unknownPatience, worst: c.FailureRate}
	if c.Slow > 0 {
		r.slow, r.patience = c.Slow, span.Mul(c.Slow, 4)
		r.worst = max(c.FailureRate, c.SlowRate)
	}
	if c.Exchange > 0 {
		r.patience = span.Mul(c.Exchange, 2)
	}
	r.Window = max(c.Window, 1)
	r.Calls, r.Count = min(max(c.Calls, 1), math.MaxInt32), min(c.Count, maxCount)
	r.points = max(int(math.Ceil(min(c.SlowRate, 1)*float64(r.Calls))), 1)
	r.Probes = min(max(c.Probes, 1), maxProbes)
	r.Open, r.HalfOpen, r.Ramp = max(c.Open, 1), max(c.HalfOpen, 1), max(c.Ramp, 0)
	r.OpenJitter = min(max(c.OpenJitter, 0), 1)
	// A window that is hardly longer than the patience would forget each
	// stretch before it may open.
	r.memory = max(r.Window, span.Mul(r.patience, 2))
	// Never a full cool-down: a place may come free with the next answer.
	r.soon = max(min(r.slow, r.Open/10), 1)
	return r
}
