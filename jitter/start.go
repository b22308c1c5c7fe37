package jitter

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A Start stages the start of many processes, so that what they all need first
// (a database, a token, a price snapshot) meets them one after the other:
//
//	wait = min(ordinal x step, cap) + random between 0 and jitter
//
// Use the same for the connections that one process opens to its upstreams,
// with [Nth]. The zero value is 500 ms a step, at most 15 s, and up to 500 ms of
// jitter; a Start holds no state.
type Start struct {
	// Step is the time between one ordinal and the next. 0 is 500 ms.
	Step time.Duration `yaml:"step"`
	// Cap is the longest wait before the jitter. 0 is 15 s. Those whose turn
	// would come later all start at the cap, spread by the jitter alone: raise
	// it with the number of processes (Check says when), and the startup
	// probe's budget with it.
	Cap time.Duration `yaml:"cap"`
	// Jitter is the longest random wait on top. 0 is 500 ms; negative is none,
	// except behind a hashed place, where it then is one step.
	Jitter time.Duration `yaml:"jitter" zero:"none"`
}

// WithDefaults returns s with what was left out filled in.
func (s Start) WithDefaults() Start {
	field.Default(&s.Step, 500*time.Millisecond)
	field.Default(&s.Cap, 15*time.Second)
	field.Default(&s.Jitter, 500*time.Millisecond)
	return s
}

// Validate returns everything that is wrong with s.
func (s Start) Validate() policy.Problems {
	var check field.Check
	s = s.WithDefaults()
	check.Duration("step", s.Step)
	check.Duration("cap", s.Cap)
	if s.Step > s.Cap && s.Cap > 0 {
		check.Warn("step", "%v is longer than the cap of %v: all but the first start together; write a shorter step", s.Step, s.Cap)
	}
	return check.Problems()
}

// Wait returns how long the process at place p waits before it starts; u is
// drawn from [0, 1).
func (s Start) Wait(p Place, u float64) time.Duration {
	s = s.WithDefaults()
	turn := Delay(s.Cap, p.share)
	if !p.hashed {
		turn = min(span.Mul(s.Step, p.ordinal), s.Cap)
	}
	return span.Add(max(turn, 0), Delay(s.jitter(p.hashed), u))
}

// Longest returns the longest wait that anybody can be given.
func (s Start) Longest() time.Duration {
	s = s.WithDefaults()
	return span.Add(max(s.Cap, 0), max(s.jitter(true), s.jitter(false)))
}

// jitter returns the longest random wait. Hashes of names collide, so there it
// is never none.
func (s Start) jitter(hashed bool) time.Duration {
	if s.Jitter < 0 && hashed {
		return s.Step
	}
	return max(s.Jitter, 0)
}

// Sleep waits until it is the turn of the process with this name, usually what
// os.Hostname returns. It returns early, with the reason, when ctx ends.
func (s Start) Sleep(ctx context.Context, name string) error {
	return Sleep(ctx, s.Wait(PlaceOf(name), rand.Float64()))
}
