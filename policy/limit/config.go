package limit

import (
	"fmt"
	"strconv"

	"github.com/kalan-go/kalan/policy"
)

// A Kind says where a limit's number comes from.
type Kind uint8

const (
	// Adaptive finds the number from what it sees, by the estimator of this
	// package.
	Adaptive Kind = iota
	// Constant is a number that a person chose.
	Constant
	// Unlimited counts the calls and never runs out of slots.
	Unlimited
	// AIMD adds a slot while answers come in time, and takes a tenth away when
	// they do not (Chiu and Jain 1989).
	AIMD
	// Vegas holds a few calls waiting inside the dependency (Brakmo and
	// Peterson 1995).
	Vegas
	// Gradient2 follows the quotient of the long-term and the present latency
	// (Netflix 2018).
	Gradient2
)

var kinds = [...]string{
	Adaptive: "adaptive", Constant: "constant", Unlimited: "none",
	AIMD: "aimd", Vegas: "vegas", Gradient2: "gradient2",
}

// String returns the kind's name. A configuration file writes it like that, but
// for Constant, which is a number there.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// adapts reports whether the number is found rather than given.
func (k Kind) adapts() bool { return k != Constant && k != Unlimited }

// unlimited is more calls than fit into a process.
const unlimited = 1 << 30

// A Config describes a limit. Its text form, the value of the key `limit` in a
// configuration file, is a number, or the name of a way to find one:
// `adaptive`, `aimd`, `vegas`, `gradient2`; or `none`. The zero value is
// `adaptive`.
type Config struct {
	// Kind says where the number comes from. Default: Adaptive.
	Kind Kind
	// Max is the number of calls that may run at once, at least 1. Higher
	// admits more at once and, beyond what the dependency can work on, only
	// adds waiting inside it, where nobody can cut it short. Where the number
	// is found, Max is the most that it may become. Default for Constant: 25
	// (F15); otherwise 1,000.
	Max int
	// Observe finds the number and counts what goes beyond it, and holds
	// nobody back: for seeing what a limit would do before it does.
	Observe bool
}

// Fixed returns the configuration of a limit of n calls. An n below 1 is
// refused by Validate, as it is where a configuration is read.
func Fixed(n int) Config {
	if n == 0 {
		n = -1 // a Max of 0 is the default
	}
	return Config{Kind: Constant, Max: n}
}

// None returns the configuration of a limit that is never reached.
func None() Config { return Config{Kind: Unlimited} }

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	switch {
	case c.Kind == Unlimited:
		c.Max = unlimited
	case c.Max == 0 && c.Kind == Constant:
		c.Max = 25
	case c.Max == 0:
		c.Max = 1000
	}
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var problems policy.Problems
	if int(c.Kind) >= len(kinds) {
		problems = append(problems, policy.Problem{Text: fmt.Sprintf("%v is no way to find a limit; write adaptive, or a number of calls", c.Kind)})
	}
	switch {
	case c.Max < 0:
		problems = append(problems, policy.Problem{Text: fmt.Sprintf("fewer than one call is not a limit; write a number from 1 to %d, adaptive or none", unlimited)})
	case c.Max > unlimited:
		problems = append(problems, policy.Problem{Text: fmt.Sprintf("%d calls is not a limit; write a number from 1 to %d, adaptive or none", c.Max, unlimited)})
	}
	return problems
}

// MarshalText writes c as UnmarshalText reads it.
func (c Config) MarshalText() ([]byte, error) {
	if c.Kind == Constant {
		return strconv.AppendInt(nil, int64(c.WithDefaults().Max), 10), nil
	}
	return []byte(c.Kind.String()), nil
}

// UnmarshalText reads a number of calls, or the name of a way to find one.
func (c *Config) UnmarshalText(text []byte) error {
	for kind, name := range kinds {
		if string(text) == name && Kind(kind) != Constant {
			*c = Config{Kind: Kind(kind)}
			return nil
		}
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > unlimited {
		return fmt.Errorf(`%q is not a limit; write a number of calls from 1 on, "adaptive" (or "aimd", "vegas", "gradient2") or "none"`, text)
	}
	*c = Fixed(n)
	return nil
}
