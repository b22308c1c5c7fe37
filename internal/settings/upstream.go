package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy/stack"
)

// Upstream is one dependency: where it is, and what stands before it.
type Upstream struct {
	// Name is the upstream's key in the file; it appears in metrics, logs and
	// refusals.
	Name string `yaml:"-"`
	// Addresses are where it listens, as "http://host:port". Requests go to
	// each in turn. One that cannot be connected to, or has left three in a row
	// without an answer, is asked once a second until it answers.
	Addresses []string `yaml:"addresses"`
	// Connect is the longest that a connection may take to come about; 200 ms
	// when zero (F8). It is part of Exchange. Longer suits other continents.
	Connect time.Duration `yaml:"connect"`
	// Config stands before it. Exchange is 800 ms when zero (F8).
	stack.Config `yaml:",inline"`
	// Failures says what counts as the dependency's failure.
	Failures Failures `yaml:"failures"`
}

// WithDefaults returns u with every zero field replaced by its default.
func (u Upstream) WithDefaults() Upstream {
	field.Default(&u.Connect, 200*time.Millisecond)
	field.Default(&u.Exchange, 800*time.Millisecond)
	u.Config = u.Config.WithDefaults()
	u.Failures = u.Failures.withDefaults()
	return u
}

// Failures says which answers and errors are the dependency's fault: they
// count for its breaker, and the request may be repeated. A 500 is its fault
// too while Status is not given, and is not repeated, since the same request
// would fail again; where one bad request can cause a 500 at will, write the
// list, and nothing else counts. A 4xx that is not listed never does.
type Failures struct {
	// Status lists the answers that are failures. Left out, they are 502, 503
	// and 504, and every other 5xx counts for the breaker without being
	// repeated; writing just these three is the same.
	Status []int `yaml:"status"`
	// Errors lists the ways to get no answer that are failures: all of
	// "connect", "timeout" and "reset" when left out.
	Errors []string `yaml:"errors"`
}

// faults are the words of Failures.Errors.
var faults = []string{"connect", "timeout", "reset"}

func (f Failures) withDefaults() Failures {
	if f.Status == nil {
		f.Status = []int{502, 503, 504}
	}
	if f.Errors == nil {
		f.Errors = slices.Clone(faults)
	}
	return f
}

// Route sends requests to an upstream.
type Route struct {
	// Match says which requests.
	Match Match `yaml:"match"`
	// Upstream names where they go.
	Upstream string `yaml:"upstream"`
	// Promise is the longest that an answer may take. 0 means Deadline.Default,
	// negative no limit but the caller's.
	Promise time.Duration `yaml:"promise" zero:"none"`
	// Priority is the level of these requests; when empty it is "default", or
	// the last of the levels where none has that name.
	Priority string `yaml:"priority"`
	// Stage names what they are a stage of, under accept.stages; empty means
	// none.
	Stage string `yaml:"stage"`
	// IdempotencyKey says whether the Idempotency-Key header makes a request
	// one that may be retried: "accepted", or "required", where a request that
	// changes something is refused without one. Empty means neither (B9).
	IdempotencyKey string `yaml:"idempotency_key"`
}

// keyings are the words of Route.IdempotencyKey.
var keyings = []string{"accepted", "required"}

// A Match is a method and the beginning of a path, written "POST /orders/".
// Without a method it takes every one; GET takes HEAD as well. A path begins
// with Prefix at whole segments: "/orders" and "/orders/" both take "/orders"
// and "/orders/7", and not "/ordersabc". Of several the longest prefix wins,
// and of two that are alike the one with a method.
type Match struct {
	Method, Prefix string
}

// String writes the match as the file has it.
func (m Match) String() string { return strings.TrimSpace(m.Method + " " + m.Prefix) }

// MarshalText writes the match as UnmarshalText reads it.
func (m Match) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads "POST /orders/", or "/orders/" for every method.
func (m *Match) UnmarshalText(text []byte) error {
	words := strings.Fields(string(text))
	switch {
	case len(words) == 1 && strings.HasPrefix(words[0], "/"):
		*m = Match{Prefix: words[0]}
	case len(words) == 2:
		*m = Match{Method: words[0], Prefix: words[1]}
	default:
		return fmt.Errorf(`%.60q is not a method and a path; write "POST /orders/", or "/orders/" for every method`, text)
	}
	return nil
}
