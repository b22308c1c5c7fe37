package jitter

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// A Lifetime says how long something is kept: a cached value, a pooled
// connection, a token. What was made together would end together, and be made
// again together, for ever; spread lifetimes drift apart within a few rounds.
// The zero value is 300 s +-20 %.
type Lifetime struct {
	// Value is the middle. 0 is 300 s.
	Value time.Duration `yaml:"value"`
	// Share is how far a lifetime may lie from the middle, as a fraction of it.
	// 0 is 0.2; negative is none. At 1 lifetimes lie anywhere between nothing
	// and twice the middle.
	Share float64 `yaml:"share" zero:"none"`
}

// WithDefaults returns l with what was left out filled in.
func (l Lifetime) WithDefaults() Lifetime {
	field.Default(&l.Value, 300*time.Second)
	field.Default(&l.Share, 0.2)
	return l
}

// Validate returns everything that is wrong with l.
func (l Lifetime) Validate() policy.Problems {
	var check field.Check
	l = l.WithDefaults()
	check.Duration("value", l.Value)
	if l.Share >= 0 || l.Share != l.Share {
		check.Number("share", l.Share, 0, 1)
	}
	return check.Problems()
}

// Pick returns one lifetime; u, drawn from [0, 1), says which.
func (l Lifetime) Pick(u float64) time.Duration {
	l = l.WithDefaults()
	return Around(l.Value, max(l.Share, 0), u)
}
