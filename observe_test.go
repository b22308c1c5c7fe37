package kalan_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// An audience keeps everything that it is told.
type audience struct {
	mu     sync.Mutex
	events []policy.Event
	missed uint64
}

func (a *audience) Observe(_ *kalan.Guard, events []policy.Event, missed uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, events...)
	a.missed += missed
}

func (a *audience) kinds() map[policy.Kind]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := make(map[policy.Kind]int)
	for _, e := range a.events {
		seen[e.Kind]++
	}
	return seen
}

func broken(context.Context) (int, error) { return 0, io.ErrUnexpectedEOF }

// break it until it opens, and be refused once.
func open(t *testing.T, g *kalan.Guard) {
	t.Helper()
	for range 100 {
		if _, err := kalan.Do(t.Context(), g, broken); errors.Is(err, policy.Open) {
			return
		}
	}
	t.Fatal("the breaker did not open")
}

func TestWatchTellsEveryDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, func(c *kalan.Config) { c.Trace = 1000 })
		var told audience
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			kalan.Watch(ctx, &told, g)
		}()
		open(t, g)
		cancel()
		<-done
		s := g.Snapshot().Counts
		seen := told.kinds()
		if told.missed != 0 || uint64(seen[policy.Started]+seen[policy.Retried]) != s.Started || uint64(seen[policy.Retried]) != s.Retries ||
			uint64(seen[policy.Settled]) != s.Started || seen[policy.Moved] != 1 || seen[policy.Refused] == 0 {
			t.Errorf("told %v, missed %d, counted %+v", seen, told.missed, s)
		}
		last := told.events[len(told.events)-1]
		if last.Kind != policy.Refused || last.Reason != policy.Open {
			t.Errorf("the last decision was %+v", last)
		}
	})
}

// What is lost is told: nobody takes what is left for the whole.
func TestWatchTellsWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, func(c *kalan.Config) { c.Trace = 4 })
		for range 100 {
			kalan.Do(t.Context(), g, nothing)
		}
		var told audience
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		kalan.Watch(ctx, &told, g)
		if len(told.events) != 4 || told.missed != 196 {
			t.Errorf("told %d and %d missed, want 4 and 196", len(told.events), told.missed)
		}
	})
}

// An observer that hangs holds up no call.
func TestASlowObserverHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, func(c *kalan.Config) { c.Trace = 10 })
		stuck, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			kalan.Watch(ctx, kalan.ObserverFunc(func(*kalan.Guard, []policy.Event, uint64) {
				once.Do(func() { close(stuck) })
				<-release
			}), g)
		}()
		kalan.Do(t.Context(), g, nothing)
		<-stuck
		began := time.Now()
		for range 1000 {
			kalan.Do(t.Context(), g, nothing)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("calls waited %v for the observer", took)
		}
		close(release)
		cancel()
		<-done
	})
}

// Moves are told also when nothing is traced, and when nobody calls.
func TestMovesAreToldWithoutTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, nil)
		var told audience
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			kalan.Watch(ctx, &told, g)
		}()
		open(t, g)
		time.Sleep(12 * time.Second) // the open time, in which nobody calls
		synctest.Wait()
		told.mu.Lock()
		if len(told.events) != 2 || told.events[0].Count != int64(breaker.Open) || told.events[1].Count != int64(breaker.HalfOpen) {
			t.Errorf("told %+v", told.events)
		}
		told.mu.Unlock()
		cancel()
		<-done
	})
}

// Guards that are listed later are told from their beginning, and those that
// are no longer listed are forgotten.
func TestWatchAllFollowsTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		traced := func(c *kalan.Config) { c.Trace = 100 }
		first, second := guard(t, traced), guard(t, traced)
		var mu sync.Mutex
		list := []*kalan.Guard{first}
		var told audience
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			kalan.WatchAll(ctx, &told, func() []*kalan.Guard {
				mu.Lock()
				defer mu.Unlock()
				return list
			})
		}()
		kalan.Do(t.Context(), first, nothing)
		kalan.Do(t.Context(), second, nothing)
		time.Sleep(time.Second)
		mu.Lock()
		list = []*kalan.Guard{second}
		mu.Unlock()
		kalan.Do(t.Context(), first, nothing)
		time.Sleep(time.Second)
		cancel()
		<-done
		if seen := told.kinds(); seen[policy.Started] != 2 {
			t.Errorf("told of %d starts, want the first guard's one and the second's one", seen[policy.Started])
		}
	})
}

// untimed returns a log of which each line is the same in each run.
func untimed(out io.Writer, least slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: least, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func TestSlogObserverWritesFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, func(c *kalan.Config) { c.Trace = 10_000 })
		open(t, g)
		for range 999 {
			kalan.Do(t.Context(), g, nothing)
		}
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		kalan.Watch(ctx, kalan.SlogObserver(untimed(&out, slog.LevelDebug)), g)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		want := []string{
			"level=WARN msg=\"breaker moved\" guard=bridge-a to=open at=2000-01-01T",
			"level=INFO msg=refused guard=bridge-a open=1000",
			"level=DEBUG msg=attempts guard=bridge-a started=",
		}
		if len(lines) != len(want) {
			t.Fatalf("%d lines:\n%s", len(lines), out.String())
		}
		for i, w := range want {
			if !strings.HasPrefix(lines[i], w) {
				t.Errorf("line %d is %q, want %q", i, lines[i], w)
			}
		}
	})
}

// TestMovesOfTheLimitAreForWhoAsksForEverything: an adaptive limit moves several
// times a second, and whoever reads the log for what has gone wrong would not
// find it between them.
func TestMovesOfTheLimitAreForWhoAsksForEverything(t *testing.T) {
	events := []policy.Event{{Kind: policy.Resized, Count: 11}, {Kind: policy.Resized, Count: 12}, {Kind: policy.Moved, Count: int64(breaker.HalfOpen)}}
	for level, lines := range map[slog.Level]int{slog.LevelDebug: 2, slog.LevelInfo: 1} {
		var out strings.Builder
		kalan.SlogObserver(untimed(&out, level)).Observe(guard(t, nil), events, 0)
		told := strings.Contains(out.String(), "level=DEBUG msg=\"limit moved\" guard=bridge-a slots=12\n")
		if strings.Count(out.String(), "\n") != lines || told != (level == slog.LevelDebug) {
			t.Errorf("from %v on it is told\n%s", level, &out)
		}
	}
}

// TestConfigHasTheDefaults: adapters ask it whether anything is repeated.
func TestConfigHasTheDefaults(t *testing.T) {
	g := guard(t, nil)
	if c := g.Config(); c.Retry.Attempts != 2 || c.Exchange != 800*time.Millisecond || c.Breaker.Slow != 400*time.Millisecond {
		t.Errorf("%+v", c)
	}
}

func BenchmarkObserved(b *testing.B) {
	for _, bench := range []struct {
		name  string
		trace int
		watch bool
	}{{"nobody", 0, false}, {"moves watched", 0, true}, {"traced", 1 << 16, false}, {"traced and watched", 1 << 16, true}} {
		b.Run(bench.name, func(b *testing.B) {
			g := guard(b, func(c *kalan.Config) { withoutTimeout(c); c.Trace = bench.trace })
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				if bench.watch {
					kalan.Watch(ctx, kalan.ObserverFunc(func(*kalan.Guard, []policy.Event, uint64) {}), g)
				}
			}()
			b.ReportAllocs()
			for b.Loop() {
				kalan.Do(ctx, g, nothing)
			}
			cancel()
			<-done
		})
	}
}

// Keeping decisions costs no memory beyond the ring.
func TestTracingAllocatesNothing(t *testing.T) {
	g := guard(t, func(c *kalan.Config) { withoutTimeout(c); c.Trace = 100 })
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() { kalan.Do(ctx, g, nothing) }); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
}

// http.Client says what its transport said: a call without time left timed out.
func TestARejectionIsATimeout(t *testing.T) {
	for why, want := range map[policy.Reason]bool{policy.Timeout: true, policy.Expired: true, policy.Open: false, policy.Gone: false} {
		if got := (&kalan.Rejection{Reason: why}).Timeout(); got != want {
			t.Errorf("%v is a timeout: %v", why, got)
		}
	}
}

// A time that rounds to nothing is not said: "come back in 0s" would be at once.
func TestARejectionSaysWhenToComeBack(t *testing.T) {
	for after, want := range map[time.Duration]string{
		2500 * time.Millisecond: "kalan: a: rate limit exceeded; come back in 2.5s", 300 * time.Microsecond: "kalan: a: rate limit exceeded; come back in 1ms",
		0: "kalan: a: rate limit exceeded", math.MaxInt64: "kalan: a: rate limit exceeded; come back in 2562047h47m16.854775807s",
	} {
		if got := (&kalan.Rejection{Guard: "a", Reason: policy.Rate, RetryAfter: after}).Error(); got != want {
			t.Errorf("%v: %q, want %q", after, got, want)
		}
	}
}
