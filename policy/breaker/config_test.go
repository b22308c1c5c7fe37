package breaker

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
	"pgregory.net/rapid"
)

func TestDefaults(t *testing.T) {
	want := Config{
		Window: time.Minute, Calls: 20, FailureRate: .5, Slow: 400 * ms, SlowRate: .5,
		Open: 10 * time.Second, OpenMax: 10 * time.Second, Probes: 5, HalfOpen: 30 * time.Second, Exchange: exchange,
	}
	if got := (Config{Exchange: exchange}).WithDefaults(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := (Config{Count: 7}).WithDefaults().Calls; got != 7 {
		t.Errorf("a count of 7 is judged at %d calls", got)
	}
	for c, slow := range map[Config]time.Duration{
		{}:                             span.Max,
		{Exchange: exchange}:           400 * ms,
		{Exchange: exchange, Slow: -1}: span.Max,
		{Slow: ms}:                     ms,
	} {
		if got := New(c).SlowAfter(); got != slow {
			t.Errorf("%+v is slow after %v, want %v", c, got, slow)
		}
	}
}

// Two exchange timeouts, or what stands for them.
func TestPatience(t *testing.T) {
	for c, want := range map[Config]time.Duration{
		{Exchange: exchange}:                 1600 * ms,
		{Exchange: exchange, Slow: 450 * ms}: 1600 * ms,
		{Slow: 400 * ms}:                     1600 * ms,
		{}:                                   2 * time.Second,
		{Exchange: math.MaxInt64}:            math.MaxInt64,
	} {
		if got := c.rules().patience; got != want {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
}

// Every problem is named with its path, and says what to write instead.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		config   Config
		problems string // path text, one a line; "?" begins a warning
	}{
		{Config{}, ""},
		{Config{Exchange: exchange, Slow: 480 * ms, Ramp: time.Minute, OpenMax: time.Minute, OpenJitter: .2}, ""},
		{Config{Exchange: exchange, Slow: exchange}, `slow: 800ms is not below exchange, 800ms: every slow call has timed out by then; write 400ms to 480ms`},
		{Config{Exchange: exchange, Slow: 500 * ms}, `?slow: 500ms is more than 60 % of exchange, 800ms: a hang is seen late; write 400ms to 480ms`},
		{Config{Slow: -1}, ""},
		{Config{Window: time.Second, Exchange: exchange}, `?window: 1s is less than the 1.6s for which calls must be bad before the score opens it; write at least 3.2s`},
		{Config{HalfOpen: 500 * ms, Exchange: exchange}, `?half_open: 500ms is less than exchange, 800ms: a probe counts as failed before it can time out; write at least 800ms`},
		{Config{Count: 10, Calls: 11}, `calls: 11 calls never fit into a count of 10; write at most 10`},
		{Config{Open: time.Minute, OpenMax: time.Second}, `open_max: 1s is less than open, 1m0s; write at least 1m0s`},
		{
			Config{
				Mode: 9, Window: -1, Count: maxCount + 1, Calls: -1, FailureRate: math.NaN(), SlowRate: 1.1,
				Open: -1, OpenMax: -1, OpenJitter: math.Inf(1), Probes: -1, HalfOpen: -1, Ramp: -1, Exchange: -1,
			},
			`mode: mode(9) is no mode; write auto, open, closed, disabled or observe
calls: -1 is negative; write the number of calls to judge on, such as 20
count: 1048577 is outside 0 to 1048576; write 0 to count by time
probes: -1 is outside 1 to 1048576; write the number of probes, such as 5
window: -1ns is negative; write a duration such as "10s"
open: -1ns is negative; write a duration such as "10s"
open_max: -1ns is negative; write a duration such as "10s"
half_open: -1ns is negative; write a duration such as "10s"
ramp: -1ns is negative; write a duration such as "10s"
exchange: -1ns is negative; write a duration such as "10s"
failure_rate: NaN is not a share; write a number above 0 and up to 1, such as 0.5
slow_rate: 1.1 is not a share; write a number above 0 and up to 1, such as 0.5
open_jitter: +Inf is not a share; write a number from 0 to 1, such as 0.2`,
		},
	} {
		var lines []string
		for _, p := range c.config.Validate() {
			line := p.String()
			if p.Warning {
				line = "?" + line
			}
			lines = append(lines, line)
		}
		if got := strings.Join(lines, "\n"); got != c.problems {
			t.Errorf("%+v:\n%s\nwant\n%s", c.config, got, c.problems)
		}
	}
}

func TestModeText(t *testing.T) {
	for m := Auto; int(m) < len(modes); m++ {
		text, _ := m.MarshalText()
		var again Mode
		if err := again.UnmarshalText(text); err != nil || again != m {
			t.Errorf("%v is read as %v (%v)", m, again, err)
		}
	}
	m := Observe
	if err := m.UnmarshalText([]byte("on")); err == nil || m != Observe || !strings.Contains(err.Error(), "observe") {
		t.Errorf("%q became %v, with the error %v", "on", m, err)
	}
	if got := Mode(9).String() + " " + State(9).String(); got != "mode(9) state(9)" {
		t.Errorf("unknown values are %q", got)
	}
}

var (
	anySpan = rapid.OneOf(rapid.SampledFrom([]time.Duration{0, -1, 1, math.MinInt64, math.MaxInt64}), rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64().Draw(t, "ns"))
	}))
	anyCount = rapid.OneOf(rapid.SampledFrom([]int{0, -1, 1, math.MinInt64, math.MaxInt64}), rapid.IntRange(-3, 20))
	anyRate  = rapid.OneOf(rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)}), rapid.Float64())
)

func anyConfig(t *rapid.T) Config {
	return Config{
		Mode: Mode(rapid.Byte().Draw(t, "mode")), Window: anySpan.Draw(t, "window"), Count: min(anyCount.Draw(t, "count"), 99),
		Calls: anyCount.Draw(t, "calls"), FailureRate: anyRate.Draw(t, "failure rate"), Slow: anySpan.Draw(t, "slow"),
		SlowRate: anyRate.Draw(t, "slow rate"), Open: anySpan.Draw(t, "open"), OpenMax: anySpan.Draw(t, "open max"),
		OpenJitter: anyRate.Draw(t, "jitter"), Probes: anyCount.Draw(t, "probes"), HalfOpen: anySpan.Draw(t, "half-open"),
		Ramp: anySpan.Draw(t, "ramp"), Exchange: anySpan.Draw(t, "exchange"), Seed: rapid.Uint64().Draw(t, "seed"),
	}
}

func anything(t *rapid.T) {
	c := anyConfig(t)
	problems := c.Validate()
	if once := c.WithDefaults(); !sameConfig(once, once.WithDefaults()) || len(once.Validate()) != len(problems) {
		t.Fatalf("defaults applied twice: %+v, and %+v", once, once.WithDefaults())
	}
	b := New(c)
	var now, began policy.Instant
	p := &Pass{}
	for range 40 {
		now = now.Add(anySpan.Draw(t, "step"))
		q, ok := b.Admit(now)
		if ok {
			b.Settle(now, p, someOutcome.Draw(t, "outcome"), anySpan.Draw(t, "ran"))
			p = &q
		}
		b.Overdue(now, p)
		if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
			b.Configure(now, anyConfig(t))
		}
		v := b.Snapshot(now)
		if v.RetryAt < b.last || v.Since > b.last || v.Since < began {
			t.Fatalf("at %v: %+v, the state before began at %v", b.last, v, began)
		}
		began = v.Since
		d := b.clone()
		d.Look(now)
		checkCounts(t, v, d)
		if d.probes.free(d.rules.Probes) == 0 && d.probes.out == 0 {
			t.Fatalf("no place is free and nothing is out: %+v", d.probes)
		}
	}
}

// sameConfig is == with NaN equal to itself.
func sameConfig(a, b Config) bool {
	for _, f := range []*float64{&a.FailureRate, &a.SlowRate, &a.OpenJitter, &b.FailureRate, &b.SlowRate, &b.OpenJitter} {
		if *f != *f {
			*f = -9
		}
	}
	return a == b
}

// Validate refuses most of these; New has no error to return and must live with
// all of them.
func TestAnyConfigAndAnyInstant(t *testing.T) { rapid.Check(t, anything) }

func FuzzAnyConfigAndAnyInstant(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anything)) }
