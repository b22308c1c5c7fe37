package kalan_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/retry"
)

// The measured delay of a hedge is the percentile that is asked for, of the last
// answers, and no other.
func TestTheHedgeComesAtItsPercentile(t *testing.T) {
	for quantile, want := range map[float64]time.Duration{.5: 33 * ms, .75: 49 * ms, .9: 58 * ms} {
		synctest.Test(t, func(t *testing.T) {
			g := guard(t, func(c *kalan.Config) {
				c.Exchange = time.Second
				c.Retry.Hedge = retry.Hedge{Quantile: quantile}
			})
			for n := range 64 { // 1 to 64 ms
				_, _ = kalan.Do(t.Context(), g, func(context.Context) (int, error) {
					time.Sleep(time.Duration(n+1) * ms)
					return 0, nil
				})
			}
			begun := time.Now()
			second := make(chan time.Duration, 1)
			way := kalan.Way[int]{Leave: true, Ask: kalan.Ask{Hedge: true}}
			_, held, err := kalan.Hold(t.Context(), g, way, func(ctx context.Context) (int, error) {
				if kalan.AttemptOf(ctx).Number == 2 {
					second <- time.Since(begun)
					return 0, nil
				}
				<-ctx.Done()
				return 0, ctx.Err()
			})
			if at := <-second; err != nil || at != want {
				t.Errorf("at %v the hedge came after %v, want %v; %v", quantile, at, want, err)
			}
			held.Release(policy.Success)
			time.Sleep(time.Minute)
		})
	}
}
