package guards_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/guards"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
)

func must[K comparable](t testing.TB, c kalan.Config, most int) *guards.Set[K] {
	t.Helper()
	s, err := guards.New[K](c, most)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func breaks(context.Context) (int, error) { return 0, syscall.ECONNRESET }

// touchy opens at the second failure, for an hour.
func touchy() (c kalan.Config) {
	c.Breaker.Calls, c.Breaker.Open = 2, time.Hour
	return c
}

func TestOneGuardForEachKey(t *testing.T) {
	type shard struct{ table, number int }
	s := must[shard](t, kalan.Config{Name: "orders"}, 0)
	g := s.Get(shard{1, 2})
	if s.Get(shard{1, 2}) != g || s.Get(shard{2, 1}) == g {
		t.Error("guards are mixed up")
	}
	if g.Name() != "orders/{1 2}" || len(s.All()) != 2 {
		t.Errorf("%q of %d", g.Name(), len(s.All()))
	}
	if name := must[string](t, kalan.Config{}, 0).Get("bridge-a").Name(); name != "bridge-a" {
		t.Errorf("%q without a name of the set's", name)
	}
}

// O-24: a flood of keys is bounded, and nobody whose breaker is open gives way to
// it; keys without a place share one guard, which says so.
func TestAFloodOfKeysLeavesOpenBreakers(t *testing.T) {
	s := must[int](t, touchy(), 10)
	for range 3 {
		_, _ = kalan.Do(t.Context(), s.Get(-1), breaks)
	}
	for key := range 2000 {
		s.Get(key)
	}
	if n := len(s.All()); n > 11 {
		t.Errorf("%d guards of at most 10 and one that is shared", n)
	}
	if _, err := kalan.Do(t.Context(), s.Get(-1), breaks); !errors.Is(err, policy.Open) {
		t.Errorf("the breaker was forgotten: %v", err)
	}
	for key := range 20 { // until every place is one of an open breaker
		for range 3 {
			_, _ = kalan.Do(t.Context(), s.Get(key), breaks)
		}
	}
	if a, b := s.Get(1<<20), s.Get(1<<21); a != b || a.Name() != "others" {
		t.Errorf("%q and %q where there is no place", a.Name(), b.Name())
	}
}

// Nobody gives way while calls are in flight: the next call of that key would find
// a limit that knows nothing of them.
func TestNobodyGivesWayInTheMiddleOfACall(t *testing.T) {
	s := must[int](t, kalan.Config{}, 5)
	_, err := kalan.Do(t.Context(), s.Get(-1), func(context.Context) (int, error) {
		for key := range 1000 {
			s.Get(key)
		}
		if n := s.Get(-1).Snapshot().InFlight; n != 1 {
			t.Errorf("%d calls in flight before the guard of a key with one", n)
		}
		return 0, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A change reaches those that there are and those that come, and forgets nothing.
func TestConfigureReachesAll(t *testing.T) {
	s := must[int](t, touchy(), 10)
	for range 3 {
		_, _ = kalan.Do(t.Context(), s.Get(1), breaks)
	}
	c := touchy().Config
	c.Limit = limit.Fixed(7)
	if err := s.Configure(c); err != nil {
		t.Fatal(err)
	}
	for _, key := range []int{1, 2} {
		if n := s.Get(key).Snapshot().Limit; n != 7 {
			t.Errorf("key %d has a limit of %d", key, n)
		}
	}
	if _, err := kalan.Do(t.Context(), s.Get(1), breaks); !errors.Is(err, policy.Open) {
		t.Errorf("the breaker was forgotten: %v", err)
	}
	c.Exchange = -1
	if err := s.Configure(c); err == nil || s.Get(3).Snapshot().Limit != 7 {
		t.Errorf("a wrong change: %v", err)
	}
}

// Of two changes at the same time one is the last, for every guard and for those to
// come.
func TestChangesAtTheSameTimeDoNotMix(t *testing.T) {
	for range 100 {
		s := must[int](t, kalan.Config{}, 0)
		for key := range 100 {
			s.Get(key)
		}
		var both sync.WaitGroup
		for n := 1; n <= 2; n++ {
			both.Go(func() {
				if err := s.Configure(stack.Config{Limit: limit.Fixed(n)}); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		want := s.Get(100).Snapshot().Limit
		for _, g := range s.All() {
			if got := g.Snapshot().Limit; got != want {
				t.Fatalf("%s has a limit of %d, and a new guard one of %d", g.Name(), got, want)
			}
		}
	}
}

// What the caller does to its own configuration afterwards, here by a pointer in it,
// reaches no guard.
func TestTheConfigurationIsTheSetsOwn(t *testing.T) {
	c := kalan.Config{}
	c.Throttle = &throttle.Config{}
	s := must[int](t, c, 0)
	c.Throttle.K = -1
	s.Get(1)
	c.Throttle.K = 3
	if err := s.Configure(c.Config); err != nil {
		t.Fatal(err)
	}
	c.Throttle.K = -1
	s.Get(2)
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	c := kalan.Config{}
	c.Exchange = -1
	if _, err := guards.New[int](c, 0); err == nil || !strings.Contains(err.Error(), "exchange") {
		t.Error(err)
	}
	for _, most := range []int{-1, 1 << 40} { // a slip of the finger is no allocation
		if _, err := guards.New[int](kalan.Config{}, most); err == nil || !strings.Contains(err.Error(), fmt.Sprint(most)) {
			t.Errorf("%d: %v", most, err)
		}
	}
}

func TestFromManyGoroutines(t *testing.T) {
	s := must[int](t, kalan.Config{}, 10)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 500 {
				if _, err := kalan.Do(t.Context(), s.Get((i*7+j)%40), func(context.Context) (int, error) { return 0, nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for range 50 {
			s.All()
			_ = s.Configure(kalan.Config{}.Config)
		}
	})
	all.Wait()
}

func TestGettingAllocatesNothing(t *testing.T) {
	s := must[string](t, kalan.Config{}, 10)
	s.Get("bridge-a")
	if n := testing.AllocsPerRun(1000, func() { s.Get("bridge-a") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
