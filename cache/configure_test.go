package cache

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// What is kept ends when it was to end; what is loaded after the change lives by
// the new figures.
func TestConfigureKeepsWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		c := must(t, Config{Name: "prices", Lifetime: 10 * time.Second, Spread: -1, Beta: -1, Keys: 5}, func(context.Context, string) (int, error) {
			loads++
			return loads, nil
		})
		want := func(value int) {
			t.Helper()
			if v, err := c.Get(t.Context(), "tea"); v != value || err != nil {
				t.Errorf("%d, %v; want %d", v, err, value)
			}
		}
		want(1)
		if err := c.Configure(Config{Lifetime: time.Second, Spread: -1, Beta: -1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		want(1)
		time.Sleep(time.Second)
		want(2)
		time.Sleep(time.Second)
		want(3)
		if err := c.Configure(Config{Lifetime: -1}); err == nil {
			t.Error("a wrong change was taken")
		}
		if now := c.config.Load(); now.Name != "prices" || now.Keys != 5 || now.Lifetime != time.Second {
			t.Errorf("%+v", now)
		}
		want(3)
	})
}
