package reconnect

import (
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/span"
)

// A Plan decides how long a client waits between two connections. It is told
// what happened, does not wait, reads no clock and does no locking. It is made
// by NewPlan, for drivers of one's own; most use Run.
type Plan struct {
	config   Config
	seed     uint64
	failures int // since the last healthy connection
	last     time.Duration
}

// NewPlan returns the plan of one client. Clients must have different seeds:
// the plan depends on nothing else that is random.
func NewPlan(c Config, seed uint64) Plan {
	return Plan{config: c.WithDefaults(), seed: seed}
}

// First returns how long to wait before the first connection.
func (p *Plan) First() time.Duration {
	const whole = 1 << 30
	dice := spread(whole).Wait(0, 0, p.seed)
	return p.config.Start.Wait(p.config.Place, float64(dice)/(whole+1))
}

// Again returns how long to wait before the next connection, after one that was
// ready for up (0: it never was) and whose end brought a Retry-After (0: none).
// The wait is never nothing, and never shorter than that Retry-After; ok is
// false when it would be longer than Config.Longest.
func (p *Plan) Again(up, retryAfter time.Duration) (wait time.Duration, ok bool) {
	if retryAfter > p.config.Longest {
		return 0, false
	}
	if up >= p.config.Healthy {
		p.failures, p.last = 0, 0
		p.seed++ // other draws than after the last healthy connection
	}
	p.last = p.config.backoff().Wait(p.failures, p.last, p.seed)
	wait = span.Add(p.last, p.least())
	if retryAfter > 0 {
		// A server that tells everybody the same number must not be obeyed to
		// the millisecond by everybody.
		later := spread(p.config.Base).Wait(p.failures, 0, ^p.seed)
		wait = max(wait, span.Add(retryAfter, later))
	}
	p.failures = min(p.failures+1, 1<<20)
	return wait, true
}

// least is added to every wait: full jitter may draw nothing, and nothing is
// "again at once".
func (p *Plan) least() time.Duration { return max(p.config.Base/10, 1) }

// spread draws evenly between nothing and most.
func spread(most time.Duration) retry.Config {
	return retry.Config{Base: most, Factor: 1, Cap: most, Jitter: retry.Full}
}
