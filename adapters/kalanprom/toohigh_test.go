package kalanprom_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanprom"
	"github.com/kalan-go/kalan/policy/limit"
)

// F17: that the limit is too high is a metric, from the moment at which it is.
func TestALimitThatIsTooHighIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, "bridge-a", func(c *kalan.Config) { c.Limit = limit.Fixed(100) })
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(kalanprom.New(g))
		shows := func(value string) {
			t.Helper()
			want := `
# HELP kalan_limit_too_high 1 when the p99 is twice that of calm times although the limit was not reached: it protects nothing.
# TYPE kalan_limit_too_high gauge
kalan_limit_too_high{guard="bridge-a"} ` + value + "\n"
			if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "kalan_limit_too_high"); err != nil {
				t.Error(err)
			}
		}
		call := func(took time.Duration) {
			_, _ = kalan.Do(t.Context(), g, func(context.Context) (int, error) { time.Sleep(took); return 0, nil })
		}
		for range 500 {
			call(10 * time.Millisecond)
		}
		shows("0")
		done := make(chan struct{})
		for n := range 20 {
			go func() {
				time.Sleep(time.Duration(n)) // one after the other
				for range 50 {
					call(40 * time.Millisecond)
				}
				done <- struct{}{}
			}()
		}
		for range 20 {
			<-done
		}
		shows("1")
	})
}
