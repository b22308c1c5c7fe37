package slots

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy"
)

func must(t testing.TB, c Config) *Slots {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Whatever is taken, given back, given back twice and changed, the count is the
// number of the tokens that are held, and nothing is taken beyond the limit.
func TestCountsWhatIsHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Max: 3}
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		var held []*Token
		refused := uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				free := len(held) < c.Max
				token, ok := s.Take()
				if ok != (free || c.Observe) {
					t.Fatalf("taken: %v, with %d held of %+v", ok, len(held), c)
				}
				if !free {
					refused++
				}
				if ok {
					held = append(held, &token)
				}
				if !ok && token != (Token{}) {
					t.Fatal("a refusal holds something")
				}
			},
			"give": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				held[i].Give()
				held[i].Give()
				held = append(held[:i], held[i+1:]...)
			},
			"configure": func(t *rapid.T) {
				next := Config{Max: rapid.IntRange(-1, 5).Draw(t, "max"), Observe: rapid.Bool().Draw(t, "observe")}
				if err := s.Configure(next); (err != nil) != (next.Max < 0) {
					t.Fatalf("%+v: %v", next, err)
				} else if err == nil {
					c = next.WithDefaults()
				}
			},
			"": func(t *rapid.T) {
				if got, want := s.Snapshot(), (Snapshot{c.Max, len(held), refused}); got != want {
					t.Fatalf("%+v, want %+v", got, want)
				}
			},
		})
	})
}

// From many goroutines at once: never more than there are, and all free at the
// end.
func TestNeverMoreThanThereAre(t *testing.T) {
	const slots = 4
	s := must(t, Config{Max: slots})
	var inside, ran atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 2000 {
				_, err := Do(s, func() (int, error) {
					if n := inside.Add(1); n > slots {
						t.Errorf("%d at once", n)
					}
					runtime.Gosched()
					inside.Add(-1)
					ran.Add(1)
					return 0, nil
				})
				if err != nil && !errors.Is(err, policy.Full) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	shot := s.Snapshot()
	if shot.Taken != 0 || uint64(ran.Load())+shot.Refused != 16*2000 || ran.Load() == 0 {
		t.Errorf("%d ran, %+v", ran.Load(), shot)
	}
}

func TestPanicAndGoexitGiveTheSlotBack(t *testing.T) {
	s := must(t, Config{Max: 1})
	for name, end := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		reached := make(chan any, 1)
		go func() {
			defer func() { reached <- recover() }()
			_, _ = Do(s, func() (int, error) { end(); return 0, nil })
		}()
		if got := <-reached; (got != nil) != (name == "panic") {
			t.Errorf("%s: %v reached the caller", name, got)
		}
		if _, err := Do(s, func() (int, error) { return 0, nil }); err != nil {
			t.Errorf("after a %s: %v", name, err)
		}
	}
}

func TestConfig(t *testing.T) {
	if got := must(t, Config{}).Snapshot().Max; got != 25 {
		t.Errorf("%d slots by default", got)
	}
	for _, bad := range []int{-1, most + 1} {
		if _, err := New(Config{Max: bad}); err == nil {
			t.Errorf("%d slots are accepted", bad)
		}
	}
	var none Token
	none.Give()
}

func TestNothingIsAllocated(t *testing.T) {
	s := must(t, Config{})
	fn := func() (int, error) { return 0, nil }
	if n := testing.AllocsPerRun(1000, func() {
		token, _ := s.Take()
		token.Give()
		_, _ = Do(s, fn)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
