package limit

import (
	"fmt"
	"strconv"

	"github.com/kalan-go/kalan/policy"
)

// A Kind says where a limit's number comes from.
type Kind uint8

const (
	// Adaptive finds the number from the latencies that it sees.
	Adaptive Kind = iota
	// Constant is a number that a person chose.
	Constant
	// Unlimited counts the calls and never runs out of slots.
	Unlimited
)

// unlimited is more calls than fit into a process.
const unlimited = 1 << 30

// A Config describes a limit. Its text form, the value of the key `limit` in a
// configuration file, is a number, `adaptive` or `none`. The zero value is
// `adaptive`.
type Config struct {
	// Kind says where the number comes from. Default: Adaptive.
	Kind Kind
	// Max is the number of calls that may run at once, at least 1. Higher
	// admits more at once and, beyond what the dependency can work on, only
	// adds waiting inside it, where nobody can cut it short. Default for
	// Constant: 25 (F15).
	Max int
}

// Fixed returns the configuration of a limit of n calls.
func Fixed(n int) Config { return Config{Kind: Constant, Max: n} }

// None returns the configuration of a limit that is never reached.
func None() Config { return Config{Kind: Unlimited} }

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	switch {
	case c.Kind == Unlimited:
		c.Max = unlimited
	case c.Max == 0:
		c.Max = 25
	}
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var problems policy.Problems
	if c.Kind == Adaptive {
		problems = append(problems, policy.Problem{Text: `the adaptive limit is not available; write a number, such as 25`})
	}
	if c.Max < 0 || c.Max > unlimited {
		problems = append(problems, policy.Problem{Text: fmt.Sprintf("%d calls is not a limit; write a number between 1 and %d, or none", c.Max, unlimited)})
	}
	return problems
}

// MarshalText writes c as UnmarshalText reads it.
func (c Config) MarshalText() ([]byte, error) {
	switch c.Kind {
	case Constant:
		return strconv.AppendInt(nil, int64(c.Max), 10), nil
	case Unlimited:
		return []byte("none"), nil
	}
	return []byte("adaptive"), nil
}

// UnmarshalText reads a number of calls, "adaptive" or "none".
func (c *Config) UnmarshalText(text []byte) error {
	switch s := string(text); s {
	case "adaptive":
		*c = Config{}
	case "none":
		*c = None()
	default:
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > unlimited {
			return fmt.Errorf(`%q is not a limit; write a number of calls from 1 on, "adaptive" or "none"`, s)
		}
		*c = Fixed(n)
	}
	return nil
}
