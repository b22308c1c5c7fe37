package cache

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// must returns a cache of a configuration that is right.
func must[K comparable, V any](t testing.TB, config Config, load loader[K, V]) *Cache[K, V] {
	t.Helper()
	c, err := New(config, load)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
