package pace

import (
	"context"
	"errors"
	"testing"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy/bucket"
)

func must(t testing.TB, c Config) *Limiter {
	t.Helper()
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustSet[K comparable](t testing.TB, c Config) *Set[K] {
	t.Helper()
	s, err := NewSet[K](c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rate is a configuration with everything else left out.
func rate(perSecond float64, burst int) Config {
	return Config{Name: "mail", Config: bucket.Config{Rate: perSecond, Burst: burst}}
}

// A waiter is a limiter, or a key of a set: what holds for one holds for both.
type waiter interface {
	Allow() bool
	Take(n int) error
	Wait(ctx context.Context, n int) error
	Configure(Config) error
}

type keyOfSet struct{ set *Set[string] }

func (k keyOfSet) Allow() bool                           { return k.set.Allow("key") }
func (k keyOfSet) Take(n int) error                      { return k.set.Take("key", n) }
func (k keyOfSet) Wait(ctx context.Context, n int) error { return k.set.Wait(ctx, "key", n) }
func (k keyOfSet) Configure(c Config) error              { return k.set.Configure(c) }

// kinds make one of each, and what tells how many calls wait, were allowed and were
// refused.
var kinds = []func(testing.TB, Config) (waiter, func() [3]int){
	func(t testing.TB, c Config) (waiter, func() [3]int) {
		t.Log("a limiter")
		l := must(t, c)
		return l, func() [3]int {
			s := l.Snapshot()
			return [3]int{s.Waiting, int(s.Allowed), int(s.Refused)}
		}
	},
	func(t testing.TB, c Config) (waiter, func() [3]int) {
		t.Log("a key of a set")
		set := mustSet[string](t, c)
		return keyOfSet{set}, func() [3]int {
			s := set.Snapshot()
			return [3]int{s.Waiting, int(s.Allowed), int(s.Refused)}
		}
	},
}

func refusal(t *testing.T, err error) *kalan.Rejection {
	t.Helper()
	var r *kalan.Rejection
	if !errors.As(err, &r) || r.Guard != "mail" {
		t.Fatalf("%v is no refusal by the limiter", err)
	}
	return r
}
