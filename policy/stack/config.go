package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/throttle"
)

// Config is what stands before one dependency. The zero value protects: every
// zero field means its documented default.
type Config struct {
	// Exchange is the longest that one attempt may take, until its last byte.
	// 0 means no limit of its own: then only the caller's deadline ends an
	// attempt, and no attempt is slow unless Breaker.Slow is given.
	Exchange time.Duration `yaml:"exchange"`
	// Checkout is the longest that a call waits for a slot. 0 means 50 ms, a
	// bulkhead's short wait; negative means not at all. Raising it makes more
	// calls succeed late and fewer be refused at once.
	Checkout time.Duration `yaml:"checkout" zero:"none"`
	// Limit says how many attempts may occupy a slot at once.
	Limit limit.Config `yaml:"limit"`
	// Room is where calls wait for a slot.
	Room room.Config `yaml:"room"`
	// Rate is how many attempts may start a second, with a burst of one
	// second's worth. 0 means no limit.
	Rate float64 `yaml:"rate"`
	// Breaker stops attempts while the dependency fails or is too slow.
	Breaker breaker.Config `yaml:"breaker"`
	// Throttle refuses a share of the attempts while the dependency refuses a
	// share of them itself. Without one (nil) none is refused. With one in
	// force the breaker takes an answer that says that there is no room as
	// good: one that refuses is not down.
	Throttle *throttle.Config `yaml:"throttle"`
	// Retry plans the attempts of one call.
	Retry retry.Config `yaml:"retry"`
	// Budget caps retries as a share of the calls.
	Budget budget.Config `yaml:"budget"`
	// Cancels says that the dependency stops working when its caller leaves.
	// False, the default, is the safe belief: an attempt that was left keeps
	// its slot until the dependency answers, or until Exchange and one
	// expected service time have passed.
	Cancels bool `yaml:"cancels"`
	// Observe decides and counts what would be refused, and refuses nothing:
	// the breaker, the throttle, the rate, the limit, the room, the budget and the
	// prediction are watched before they are trusted. Time limits hold all the
	// same.
	Observe bool `yaml:"observe"`
	// Trace is the number of decisions to keep for Events. 0 keeps only the
	// last 64 moves of the breaker and the limit; any other number keeps every
	// start, refusal and outcome as well, at about 20 ns and 32 bytes each. At
	// most 16,777,216.
	Trace int `yaml:"-"`
}

// checkout is the usual wait of a bulkhead: long enough to smooth a burst, short
// enough to be an answer (F15).
const checkout = 50 * time.Millisecond

// moves is how many transitions are kept when calls are not traced.
const moves = 64

// WithDefaults returns c with every zero field replaced by its default.
func (c Config) WithDefaults() Config {
	if c.Checkout == 0 {
		c.Checkout = checkout
	}
	c.Breaker.Exchange = max(c.Exchange, 0)
	c.Breaker = c.Breaker.WithDefaults()
	c.Room.Checkout = max(c.Checkout, 0)
	c.Room = c.Room.WithDefaults()
	c.Limit = c.Limit.WithDefaults()
	if c.Throttle != nil {
		filled := c.Throttle.WithDefaults()
		c.Throttle = &filled
	}
	c.Retry = c.Retry.WithDefaults()
	c.Budget = c.Budget.WithDefaults()
	return c
}
