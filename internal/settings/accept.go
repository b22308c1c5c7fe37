package settings

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy/span"
)

// Accept limits the way in: new connections, and the stages that a caller goes
// through before it is served, such as a login (F4). What is over a limit is
// refused at once and never held.
type Accept struct {
	// Rate is how many new connections a second are taken; 0 means any number.
	Rate float64 `yaml:"rate"`
	// Burst is how many may come at once; 0 means one second's worth.
	Burst int `yaml:"burst"`
	// Connections is how many may be open; 20,000 when 0. It is less where the
	// process may not open as many files.
	Connections int `yaml:"connections"`
	// RetryAfter is the range from which the refused are told when to come
	// back; 3 s to 8 s when zero. When more were refused than the rate can take
	// within it, those after them are told to come later.
	RetryAfter span.Range `yaml:"retry_after"`
	// PerAddress limits the new connections of one address (IPv6: one /64). A
	// trusted peer's are not: many callers come through it.
	PerAddress Quota `yaml:"per_address"`
	// Handshakes limits those of a listener with TLS: the first and, for each
	// connection, the most expensive thing that is done for a caller.
	Handshakes Handshakes `yaml:"handshakes"`
	// Stages are what a caller goes through before it is served, in that order:
	// the cheapest first, the most expensive last and tightest. Routes name
	// theirs.
	Stages []Stage `yaml:"stages"`
	// Keys is how many addresses, and how many tenants, are told apart at a
	// time; 100,000 when 0. Those beyond share one place. More cost about 50
	// bytes each.
	Keys int `yaml:"keys"`
	// Buffer is how many bytes of answers may lie unread in the write buffer of
	// one connection; 262,144 when 0. More suits fast readers far away.
	Buffer int `yaml:"buffer"`
	// Stall is how long a reader may leave that buffer full, and a sender its
	// request unfinished, without taking or sending anything before its
	// connection is closed (F11); 5 s when 0. A request's own deadline, where
	// there is one, is usually sooner.
	Stall time.Duration `yaml:"stall"`
	// Observe counts what is over the rates, and refuses nothing for it.
	Observe bool `yaml:"observe"`
}

// A Quota is how many one caller may send.
type Quota struct {
	// Rate is how many a second; 0 means any number.
	Rate float64 `yaml:"rate"`
	// Burst is how many may come at once; 0 means one second's worth, at least
	// one.
	Burst int `yaml:"burst"`
}

// Handshakes limits the TLS handshakes. One begins when its hello has come: a
// caller that has connected and says nothing takes no place here, and none from
// others. What is over a limit is closed at once, before anything has been
// computed for it.
type Handshakes struct {
	// Rate is how many a second are begun; 0 means any number. It is at most
	// the rate of new connections.
	Rate float64 `yaml:"rate"`
	// Burst is how many may begin at once; 0 means one second's worth.
	Burst int `yaml:"burst"`
	// Running is how many may be under way at a time; 1,000 when 0. When all
	// places are taken, one that was for a fifth of Within goes to a newcomer.
	// More suits callers far away, and takes some 50 kB for each.
	Running int `yaml:"running"`
	// Within is how long the whole of it may take, hello included, before the
	// connection is closed; 5 s when 0. More suits slow networks, and lets
	// whoever says half a hello hold an open connection for longer.
	Within time.Duration `yaml:"within"`
}

// A Stage is one step on the way in, such as a login or a first subscription:
// what costs much for each caller, once.
type Stage struct {
	// Name is what routes call it.
	Name string `yaml:"name"`
	// Rate is how many a second are let through, everybody's together. It is at
	// most that of the stage before.
	Rate float64 `yaml:"rate"`
	// Burst is how many may come at once; 0 means one second's worth.
	Burst int `yaml:"burst"`
	// PerAddress limits one address (IPv6: one /64).
	PerAddress Quota `yaml:"per_address"`
	// PerTenant limits one account, so that one client that comes again and
	// again cannot use up what is there for all.
	PerTenant Quota `yaml:"per_tenant"`
}

// DefaultConnections is how many connections may be open where the file does
// not say.
const DefaultConnections = 20_000

// accept are the limits of a file that states none: what a connection may hold
// is bounded all the same.
var accept = Accept{
	Connections: DefaultConnections,
	RetryAfter:  span.Range{Min: 3 * time.Second, Max: 8 * time.Second},
	Keys:        100_000,
	Buffer:      256 << 10,
	Stall:       5 * time.Second,
	Handshakes:  Handshakes{Running: 1000, Within: 5 * time.Second},
}

func (a *Accept) withDefaults() *Accept {
	full := accept
	if a != nil {
		full = *a
	}
	field.Default(&full.Connections, accept.Connections)
	field.Default(&full.RetryAfter, accept.RetryAfter)
	field.Default(&full.Keys, accept.Keys)
	field.Default(&full.Buffer, accept.Buffer)
	field.Default(&full.Stall, accept.Stall)
	field.Default(&full.Handshakes.Running, accept.Handshakes.Running)
	field.Default(&full.Handshakes.Within, accept.Handshakes.Within)
	return &full
}
