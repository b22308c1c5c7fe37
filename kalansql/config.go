package kalansql

import (
	"fmt"
	"slices"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/stack"
)

// Config describes a database and what stands before it. The zero value is
// ready to use.
type Config struct {
	// Name appears in errors, logs and metrics. "database" when empty. It is the
	// name of the statements' guard; those of the connections have "/pool" and
	// "/connect" after it.
	Name string
	// Connections is how many there may be at once, and so how many callers are
	// admitted. 0 means 25 (F15). Raising it lets more work at once and, beyond
	// what the database can work on, only adds waiting inside it. All the
	// connections of all the processes together must fit into what the server
	// allows.
	Connections int
	// Checkout is the longest wait for a connection. 0 means 500 ms (F8),
	// negative not at all; in a pool whose connections others have, which cannot
	// be seen at once, it is 500 ms then too. Longer makes more callers succeed
	// late.
	Checkout time.Duration `zero:"none"`
	// Room is where they wait.
	Room room.Config
	// Connect is the longest that a new connection may take to come about,
	// authentication included. 0 means 1 s. Longer suits servers far away.
	Connect time.Duration
	// Query is the longest that a statement may take, to its last row. 0 means
	// 3 s (F8), negative no limit but the caller's. Longer suits reports, which
	// do better with a DB of their own.
	Query time.Duration `zero:"none"`
	// Breaker stops statements while the database fails or is too slow; Slow is
	// half of Query when zero. One like it stops new connections while those
	// fail.
	Breaker breaker.Config
	// Classify judges an error. nil means [Classify]. It must not block.
	Classify func(error) policy.Report
	// Trace is the number of decisions that each guard keeps for observers; see
	// stack.Config.
	Trace int
}

// The defaults of Config.
const (
	defaultName        = "database"
	defaultConnections = 25
	defaultCheckout    = 500 * time.Millisecond
	defaultConnect     = time.Second
	defaultQuery       = 3 * time.Second
)

// WithDefaults returns c with every zero field replaced by its default.
func (c Config) WithDefaults() Config {
	field.Default(&c.Name, defaultName)
	field.Default(&c.Connections, defaultConnections)
	field.Default(&c.Checkout, defaultCheckout)
	field.Default(&c.Connect, defaultConnect)
	field.Default(&c.Query, defaultQuery)
	pool, query := c.pool().Config.WithDefaults(), c.query().Config.WithDefaults()
	c.Room, c.Breaker = pool.Room, query.Breaker
	if c.Classify == nil {
		c.Classify = Classify
	}
	return c
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var ps policy.Problems
	if c.Connections < 0 {
		ps = append(ps, policy.Problem{Path: "connections", Text: fmt.Sprintf("%d is negative; write how many there may be, or leave it out for %d", c.Connections, defaultConnections)})
	}
	if c.Connect < 0 {
		ps = append(ps, policy.Problem{Path: "connect", Text: fmt.Sprintf("%v is negative; write how long a connection may take, such as 1s", c.Connect)})
	}
	c.Connections, c.Connect = max(c.Connections, 0), max(c.Connect, 0)
	d := c.WithDefaults()
	if d.Query > 0 && d.Connect > d.Query {
		ps = append(ps, policy.Problem{Path: "connect", Text: "is longer than query: a connection may take longer than what it is for", Warning: true})
	}
	for _, p := range slices.Concat(d.pool().Validate(), d.login().Validate(), d.query().Validate()) {
		if !p.Warning {
			ps = append(ps, p)
		}
	}
	return ps
}

// pool is the guard that hands out connections. It knows no time of service:
// how long a caller keeps its connection is the caller's business.
func (c Config) pool() kalan.Config {
	return kalan.Config{Name: c.Name + "/pool", Config: stack.Config{
		Checkout: c.Checkout, Limit: limit.Fixed(c.Connections), Room: c.Room,
		Breaker: breaker.Config{Mode: breaker.Disabled}, Retry: retry.Config{Attempts: 1},
		Cancels: true, Trace: c.Trace,
	}}
}

// login is the guard before every connection that is made. Whoever makes one has
// a connection's place; what waits here waits for logins that were left behind.
func (c Config) login() kalan.Config {
	open := c.Breaker
	open.Slow, open.Exchange = 0, 0
	return kalan.Config{Name: c.Name + "/connect", Config: stack.Config{
		Exchange: c.Connect, Checkout: c.Checkout, Limit: limit.Fixed(c.Connections), Breaker: open,
		Retry: retry.Config{Attempts: 1}, Cancels: true, Trace: c.Trace,
	}}
}

// query is the guard before every statement. The connections are its limit.
func (c Config) query() kalan.Config {
	return kalan.Config{Name: c.Name, Config: stack.Config{
		Exchange: max(c.Query, 0), Limit: limit.None(), Breaker: c.Breaker,
		Retry: retry.Config{Attempts: 1}, Cancels: true, Trace: c.Trace,
	}}
}
