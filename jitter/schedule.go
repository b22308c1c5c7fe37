package jitter

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A Schedule says when work that is repeated runs next. Its times are a grid of
// one point every Every, and each run comes a random delay after its point, so
// that the rhythm stays and the processes that share it do not run together.
// The zero value runs once a minute; a Schedule holds no state and may be used
// by many goroutines.
type Schedule struct {
	// Every is the time from one point to the next. 0 is one minute. A run that
	// takes longer makes the next ones drop out; runs never pile up.
	Every time.Duration `yaml:"every"`
	// Spread is the longest delay of a run behind its point. 0 is 30 s, or
	// Every where that is shorter; negative is none, and every process runs at
	// once. The larger it is, the flatter the load of all processes together.
	Spread time.Duration `yaml:"spread" zero:"none"`
}

// WithDefaults returns s with what was left out filled in.
func (s Schedule) WithDefaults() Schedule {
	field.Default(&s.Every, time.Minute)
	field.Default(&s.Spread, min(30*time.Second, s.Every))
	return s
}

// Validate returns everything that is wrong with s.
func (s Schedule) Validate() policy.Problems {
	var check field.Check
	s = s.WithDefaults()
	check.Duration("every", s.Every)
	if s.Every > 0 && s.Spread > s.Every {
		check.Refuse("spread", "%v is longer than every (%v), so that one run would overtake the next; write at most %v", s.Spread, s.Every, s.Every)
	}
	return check.Problems()
}

// Next returns when the next run is due, for somebody who asks at now and has
// drawn u from [0, 1): the first point of the grid after now, and the delay. A
// process that always asks again after its run skips the points that passed
// meanwhile.
func (s Schedule) Next(now policy.Instant, u float64) policy.Instant {
	s = s.WithDefaults()
	every, passed := max(s.Every, 1), max(time.Duration(now), 0)
	point := span.Mul(every, int64(passed/every)+1)
	return policy.Instant(span.Add(point, Delay(s.Spread, u)))
}

// Run runs work on the schedule until ctx ends, and returns why it ended. The
// grid begins when Run is called; a schedule that Validate refuses is the error
// at once. Work runs on the calling goroutine, so that
// no run begins before the last one is over; a panic in it is the caller's.
func (s Schedule) Run(ctx context.Context, work func(context.Context)) error {
	if err := field.Error("jitter", "", s.Validate()); err != nil {
		return err
	}
	epoch := time.Now()
	for {
		now := policy.Instant(time.Since(epoch))
		if err := Sleep(ctx, s.Next(now, rand.Float64()).Sub(now)); err != nil {
			return err
		}
		work(ctx)
	}
}
