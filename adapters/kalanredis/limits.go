package kalanredis

import (
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy/span"
)

// Limits are how long a client waits for what. The zero value means the
// documented defaults, F8's.
type Limits struct {
	// Dial is the longest wait for a connection to be made. 0 means 100 ms.
	// Raising it finds servers further away and leaves callers of a dead one
	// waiting longer.
	Dial time.Duration
	// Read is the longest wait for an answer, and for the sending of a command.
	// 0 means 200 ms. Raising it allows slower commands.
	Read time.Duration
	// Checkout is the longest wait for a connection of the pool, and for a slot
	// of the guard. 0 means 100 ms. Raising it makes more commands succeed late
	// and fewer be refused at once.
	Checkout time.Duration
}

// WithDefaults returns l with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	fill(&l.Dial, 100*time.Millisecond)
	fill(&l.Read, 200*time.Millisecond)
	fill(&l.Checkout, 100*time.Millisecond)
	return l
}

func fill(field *time.Duration, value time.Duration) {
	if *field == 0 {
		*field = value
	}
}

// Apply writes the limits into o and returns it. It keeps what o has set for
// itself, except that contexts count and that go-redis repeats nothing.
func (l Limits) Apply(o *redis.Options) *redis.Options {
	l.limit(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout)
	o.ContextTimeoutEnabled, o.MaxRetries, o.DialerRetries = true, -1, 1
	return o
}

// ApplyUniversal is Apply for the options of a cluster, a failover or a single
// server. In a cluster redirections are followed as MaxRedirects says; a
// command that is redirected is not repeated.
func (l Limits) ApplyUniversal(o *redis.UniversalOptions) *redis.UniversalOptions {
	l.limit(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout)
	o.ContextTimeoutEnabled, o.MaxRetries, o.DialerRetries = true, -1, 1
	return o
}

func (l Limits) limit(dial, read, write, pool *time.Duration) {
	l = l.WithDefaults()
	fill(dial, l.Dial)
	fill(read, l.Read)
	fill(write, l.Read)
	fill(pool, l.Checkout)
}

// Config returns a guard's configuration that goes with the limits: one attempt
// may wait for the pool, connect, and wait for its answer.
func (l Limits) Config(name string) kalan.Config {
	l = l.WithDefaults()
	c := kalan.Config{Name: name}
	c.Checkout = l.Checkout
	c.Exchange = span.Add(span.Add(l.Checkout, l.Dial), l.Read)
	return c
}

// NewClient returns a client with the default limits, behind the guard.
func NewClient(guard *kalan.Guard, o *redis.Options) *redis.Client {
	client := redis.NewClient(Limits{}.Apply(o))
	client.AddHook(Hook{Guard: guard, Dial: o.DialTimeout})
	return client
}
