package jitter

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy"
)

// F1: each run is shifted by 0-30 s, and the grid stays.
func TestTheNextRunIsAPointAndADelay(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		schedule Schedule
		now      time.Duration
		u        float64
		want     time.Duration
	}{
		{Schedule{}, 0, 0, 60 * s},
		{Schedule{}, 0, 0.5, 75 * s},
		{Schedule{}, 59 * s, 0.5, 75 * s},
		{Schedule{}, 60 * s, 0, 120 * s},
		{Schedule{}, 75 * s, 0.1, 123 * s},
		{Schedule{}, -5 * s, 0, 60 * s},
		{Schedule{Every: 10 * s}, 0, 0.5, 15 * s},
		{Schedule{Every: 10 * s, Spread: -1}, 3 * s, 0.5, 10 * s},
		{Schedule{Every: 1 << 62}, 1<<63 - 2, 0.9, 1<<63 - 1},
	} {
		if got := test.schedule.Next(policy.Instant(test.now), test.u); time.Duration(got) != test.want {
			t.Errorf("%+v.Next(%v, %v) = %v, want %v", test.schedule, test.now, test.u, got, test.want)
		}
	}
}

func TestTheNextRunIsLaterAndNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schedule{Every: anyDuration(t, "every"), Spread: anyDuration(t, "spread")}
		now := policy.Instant(rapid.Int64Range(0, 1<<62).Draw(t, "now"))
		at := s.Next(now, rapid.Float64Range(0, 1).Draw(t, "u"))
		if at <= now {
			t.Fatalf("at %v the next run is at %v", now, at)
		}
		d := s.WithDefaults()
		if s.Validate().Err() == nil && at.Sub(now) > d.Every+max(d.Spread, 0) && d.Every < 1<<61 {
			t.Fatalf("at %v the next run is at %v", now, at)
		}
	})
}

func TestRunsAreSpreadAndNeverPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		epoch, shifts := time.Now(), make(map[time.Duration]bool)
		err := Schedule{}.Run(ctx, func(context.Context) {
			shift := time.Since(epoch) % time.Minute
			if shift > 30*time.Second {
				t.Errorf("a run %v behind its point", shift)
			}
			shifts[shift] = true
			if len(shifts) == 3 {
				time.Sleep(10 * time.Minute) // ten points pass, and none is made up for
			}
		})
		if err != context.DeadlineExceeded {
			t.Errorf("Run returned %v", err)
		}
		if n := len(shifts); n < 48 || n > 50 {
			t.Errorf("%d runs with different shifts, want about 49 of 60", n)
		}
	})
}

func TestASpreadLongerThanTheRhythmIsRefused(t *testing.T) {
	for _, test := range []struct {
		schedule Schedule
		want     string
	}{
		{Schedule{}, ""},
		{Schedule{Every: time.Second}, ""},
		{Schedule{Every: time.Second, Spread: -1}, ""},
		{Schedule{Every: -time.Second}, "every: -1s is negative; write a duration such as 5s, or leave it out"},
		{Schedule{Every: time.Second, Spread: time.Minute}, "spread: 1m0s is longer than every (1s), so that one run would overtake the next; write at most 1s"},
	} {
		if got := test.schedule.Validate().Error(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.schedule, got, test.want)
		}
		if test.want == "" {
			continue
		}
		if err := test.schedule.Run(t.Context(), nil); err == nil || err.Error() != "jitter:\n"+test.want {
			t.Errorf("%+v: Run returned %v", test.schedule, err)
		}
	}
}
