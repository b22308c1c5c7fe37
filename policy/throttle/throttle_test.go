package throttle

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

const second = policy.Instant(time.Second)

// From nothing accepted to everything sent, as the package comment says: half a
// minute at 200 requests a second and the defaults, and more than nine minutes with
// the two minutes of the book, on the average of ten seeds.
func TestTheWayBack(t *testing.T) {
	for _, c := range []struct {
		window, low, high time.Duration
	}{{0, 28 * time.Second, 38 * time.Second}, {2 * time.Minute, 9 * time.Minute, 10 * time.Minute}} {
		var sum time.Duration
		for seed := range uint64(10) {
			sum += wayBack(New(Config{Window: c.window}), seed<<32, 3*Config{Window: c.window}.WithDefaults().Window)
		}
		if mean := sum / 10; mean < c.low || mean > c.high {
			t.Errorf("window %v: %v, want %v to %v", c.window, mean, c.low, c.high)
		}
	}
}

// wayBack is how long after an outage the throttle has sent everything for a
// second, at 200 requests a second.
func wayBack(th *Throttle, seed uint64, outage time.Duration) time.Duration {
	const rate = 200
	inARow := 0
	for now := policy.Instant(0); ; now += second / rate {
		seed++
		m, ok := th.Admit(now, 0, seed)
		down := now < policy.Instant(outage)
		if down {
			th.Settle(now, &m, policy.Failure, false)
			continue
		}
		th.Settle(now, &m, policy.Success, false)
		if inARow++; !ok {
			inARow = 0
		}
		if inARow == rate {
			return now.Sub(policy.Instant(outage))
		}
	}
}

func TestTheShareIsThatOfTheLevelOfWhichMostIsRefused(t *testing.T) {
	th := New(Config{Floor: -1})
	s := th.Snapshot(0)
	if s.Share() != 0 {
		t.Errorf("%v before anything", s.Share())
	}
	for range 3 {
		m, _ := th.Admit(0, 0, 1)
		th.Settle(0, &m, policy.Success, false)
	}
	m, _ := th.Admit(0, 2, 1)
	th.Settle(0, &m, policy.Failure, false)
	if s = th.Snapshot(0); s.Share() != .5 {
		t.Errorf("%v, want that of level 2 of %+v", s.Share(), s.Levels)
	}
}

// What is refused here is drawn by lot, so that of two callers who take turns
// not always the same one is refused.
func TestTurnsDoNotDecideWhoIsRefused(t *testing.T) {
	th := New(Config{Floor: -1})
	var refused [2]int
	for i := range 20_000 {
		now := policy.Instant(i) * second / 100
		m, ok := th.Admit(now, 0, uint64(i))
		if !ok {
			refused[i%2]++
		}
		th.Settle(now, &m, policy.Ignored, i%4 < 3) // takes one in four
	}
	if refused[0] < 4_000 || refused[1] < 4_000 {
		t.Errorf("refused %v of 10,000 each", refused)
	}
}

// One seed, one lot: the same request is refused or not, however often it is asked
// and undone.
func TestASeedDecidesWhoIsRefused(t *testing.T) {
	th := New(Config{Observe: true})
	for range 20 {
		m, _ := th.Admit(0, 0, 0)
		th.Settle(0, &m, policy.Failure, false)
	}
	th.Configure(0, Config{})
	sent := 0
	for seed := range uint64(1000) {
		before := *th
		m, ok := th.Admit(0, 0, seed)
		if ok {
			sent++
			th.Undo(0, &m)
			if *th != before {
				t.Fatal("undone, and yet it left something behind")
			}
		}
		*th = before
		if _, again := th.Admit(0, 0, seed); again != ok {
			t.Fatalf("seed %d: %v, then %v", seed, ok, again)
		}
		*th = before
	}
	if sent < 200 || sent > 370 { // a share of 15/21 is refused
		t.Errorf("%d of 1,000 sent, want about 286", sent)
	}
}

func TestBadConfigurations(t *testing.T) {
	for _, c := range []struct {
		config Config
		paths  []string
	}{
		{Config{}, nil},
		{Config{K: 1.1, Window: 2 * time.Minute, Floor: -1, Observe: true}, nil},
		{Config{K: 1}, []string{"k"}},
		{Config{K: -2}, []string{"k"}},
		{Config{K: math.NaN()}, []string{"k"}},
		{Config{K: math.Inf(1)}, []string{"k"}},
		{Config{K: math.Inf(-1), Window: -time.Second, Floor: math.MaxInt}, []string{"k", "window", "floor"}},
		{Config{Window: 15 * time.Millisecond}, []string{"window"}},
		{Config{Window: math.MaxInt64}, nil},
	} {
		problems := c.config.Validate()
		if len(problems) != len(c.paths) || (problems.Err() != nil) != (len(c.paths) > 0) {
			t.Errorf("%+v: %v, want problems at %v", c.config, problems, c.paths)
			continue
		}
		for i, path := range c.paths {
			if problems[i].Path != path {
				t.Errorf("%+v: %v, want a problem at %q", c.config, problems[i], path)
			}
		}
		harmless(t, c.config)
	}
	if once := (Config{}).WithDefaults(); once.WithDefaults() != once {
		t.Error("the defaults have other defaults")
	}
}

// harmless makes a throttle of anything: it sends at least the first request and
// shows shares.
func harmless(t *testing.T, c Config) {
	t.Helper()
	th := New(c)
	for i := range 1000 {
		now := policy.Instant(i) * second
		m, ok := th.Admit(now, uint8(i), uint64(i))
		if i == 0 && !ok {
			t.Errorf("%+v: the first request is refused", c)
		}
		th.Settle(now, &m, policy.Failure, false)
		if th.RetryAfter(now, 0, 0) <= 0 {
			t.Errorf("%+v: come back at once", c)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	th := New(Config{})
	var now policy.Instant
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(7 * time.Millisecond)
		for o := range policy.Outcome(4) {
			m, _ := th.Admit(now, uint8(o), uint64(now))
			th.Settle(now, &m, o, o == policy.Ignored)
			m, _ = th.Admit(now, uint8(o), uint64(now))
			th.Undo(now, &m)
		}
		th.RetryAfter(now, 0, .5)
		th.Snapshot(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// An admitted request that is accepted: what every call pays.
func BenchmarkAdmit(b *testing.B) {
	th := New(Config{})
	var now policy.Instant
	b.ReportAllocs()
	for b.Loop() {
		now += 1000
		m, _ := th.Admit(now, 0, uint64(now))
		th.Settle(now, &m, policy.Success, false)
	}
}

// Nine in ten are refused.
func BenchmarkRefusal(b *testing.B) {
	th := New(Config{})
	var now policy.Instant
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		now += 1000
		m, ok := th.Admit(now, 0, uint64(now))
		if ok {
			th.Settle(now, &m, policy.Ignored, i%20 > 0)
		}
	}
}
