package reconnect

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/span"
)

const ms = time.Millisecond

// losses tells a plan of many lost connections.
func losses(t *rapid.T) {
	c := Config{
		Base:    time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "base")),
		Cap:     time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "cap")),
		Factor:  rapid.Float64Range(1, 1e9).Draw(t, "factor"),
		Jitter:  rapid.SampledFrom([]retry.Jitter{retry.Full, retry.Equal, retry.Decorrelated}).Draw(t, "jitter"),
		Healthy: time.Duration(rapid.Int64Min(0).Draw(t, "healthy")),
		Longest: time.Duration(rapid.Int64Min(0).Draw(t, "longest")),
	}
	c.Cap = max(c.Cap, c.Base)
	p, d := NewPlan(c, rapid.Uint64().Draw(t, "seed")), c.WithDefaults()
	if first := p.First(); first < 0 || first > d.Start.Longest() {
		t.Fatalf("the first connection waits %v", first)
	}
	for range rapid.IntRange(1, 100).Draw(t, "losses") {
		up := time.Duration(rapid.Int64Min(0).Draw(t, "up"))
		after := time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64()).Draw(t, "after"))
		wait, ok := p.Again(up, after)
		if ok == (after > d.Longest) {
			t.Fatalf("asked for %v of at most %v: %v", after, d.Longest, ok)
		}
		if !ok {
			continue
		}
		least, most := max(d.Base/10, 1), span.Add(max(d.Cap, d.Base), d.Base)
		if after > 0 {
			least, most = max(least, after), max(most, span.Add(after, d.Base))
		}
		if wait < least || wait > most {
			t.Fatalf("%+v asked for %v: waits %v, want %v to %v", d, after, wait, least, most)
		}
		if up >= d.Healthy && after <= 0 && c.Jitter == retry.Full && wait > span.Add(d.Base, max(d.Base/10, 1)) {
			t.Fatalf("after a healthy connection of %v: waits %v", up, wait)
		}
	}
}

func TestLosses(t *testing.T) { rapid.Check(t, losses) }

func FuzzPlan(f *testing.F) { f.Fuzz(rapid.MakeFuzz(losses)) }

// F5, and the 5,000 terminals of F4: all lost at once, they come back spread
// over the two seconds of Base, and those that are told "3 s" by a server with
// one number for all over two seconds behind that.
func TestAStormIsSpread(t *testing.T) {
	const clients = 5000
	for _, after := range []time.Duration{0, 3 * time.Second} {
		var perTenth [100]int
		for seed := range uint64(clients) {
			p := NewPlan(Config{}, seed)
			wait, _ := p.Again(time.Hour, after)
			perTenth[wait/(100*ms)]++
		}
		busy := 0
		for at, n := range perTenth {
			if n > clients/20*3/2 {
				t.Errorf("told %v: %d of %d clients in tenth %d of a second", after, n, clients, at)
			}
			if n > 0 {
				busy++
			}
		}
		if busy < 20 {
			t.Errorf("told %v: all within %d tenths", after, busy)
		}
	}
}

func TestTheWaitGrowsAndBeginsAgain(t *testing.T) {
	p := NewPlan(Config{Jitter: retry.Equal, Base: time.Second, Cap: 8 * time.Second}, 1)
	for i, most := range []time.Duration{1, 2, 4, 8, 8, 8} {
		wait, _ := p.Again(29*time.Second, 0) // not healthy
		if low := most*time.Second/2 + 100*ms; wait < low || wait > most*time.Second+100*ms {
			t.Errorf("loss %d: waits %v, want up to %v", i, wait, most*time.Second)
		}
	}
	if wait, _ := p.Again(30*time.Second, 0); wait > 1100*ms {
		t.Errorf("after a healthy connection: %v", wait)
	}
	one, _ := p.Again(time.Hour, 0)
	if two, _ := p.Again(time.Hour, 0); one == two {
		t.Errorf("two healthy connections later: %v both times", one)
	}
	d := NewPlan(Config{Jitter: retry.Decorrelated, Base: time.Second}, 1)
	for range 20 {
		d.Again(0, 0)
	}
	if wait, _ := d.Again(time.Hour, 0); wait > 3100*ms {
		t.Errorf("after a healthy connection: %v, which goes on from the waits before", wait)
	}
	if _, ok := p.Again(0, 10*time.Minute+1); ok {
		t.Error("a Retry-After beyond the longest was taken")
	}
}

func TestTheFirstConnectionIsStaged(t *testing.T) {
	for seed := range uint64(200) {
		p := NewPlan(Config{Place: jitter.Nth(4)}, seed)
		if wait := p.First(); wait < 2*time.Second || wait > 2500*ms {
			t.Fatalf("the fifth waits %v", wait)
		}
	}
}

func TestAPlanAllocatesNothing(t *testing.T) {
	p := NewPlan(Config{}, 1)
	if n := testing.AllocsPerRun(100, func() { p.Again(0, time.Second) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWrongConfigurationsAreRefusedWhole(t *testing.T) {
	err := Run(t.Context(), Config{
		Name: "prices", Start: jitter.Start{Step: -1}, Connect: -1, Base: time.Hour, Cap: time.Minute,
		Factor: math.NaN(), Jitter: retry.AtOnce, Healthy: -1, Longest: -1,
	}, nil)
	want := `reconnect prices:
start.step: -1ns is negative; write a duration such as 5s, or leave it out
cap: 1m0s is shorter than the base of 1h0m0s; write at least 1h0m0s
factor: NaN would shorten the wait from one attempt to the next; write 1 or more, 2 is usual
jitter: at_once brings everybody back who was lost together, together; write full, equal or decorrelated
connect: -1ns is negative; write a duration such as 5s, or leave it out
healthy: -1ns is negative; write a duration such as 5s, or leave it out
longest: -1ns is negative; write a duration such as 5s, or leave it out`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if d := (Config{}).WithDefaults(); d.Validate() != nil || d.Base != 2*time.Second || d.Cap != time.Minute || d.Factor != 2 {
		t.Errorf("%+v: %v", d, d.Validate())
	}
}
