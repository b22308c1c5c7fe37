package kalanprom_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanprom"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/throttle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func guard(t testing.TB, name string, change func(*kalan.Config)) *kalan.Guard {
	t.Helper()
	c := kalan.Config{Name: name}
	c.Breaker.Calls, c.Retry.Attempts = 2, 1
	if change != nil {
		change(&c)
	}
	g, err := kalan.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func broken(context.Context) (int, error) { return 0, io.ErrUnexpectedEOF }
func fine(context.Context) (int, error)   { return 1, nil }

// open has the guard's breaker opened by failures.
func open(t *testing.T, g *kalan.Guard) {
	t.Helper()
	for range 10 {
		if _, err := kalan.Do(t.Context(), g, broken); errors.Is(err, policy.Open) {
			return
		}
	}
	t.Fatal("the breaker did not open")
}

func TestCollectorShowsEveryGuard(t *testing.T) {
	a, b := guard(t, "bridge-a", nil), guard(t, "bridge-b", nil)
	open(t, a)
	if _, err := kalan.Do(t.Context(), b, fine); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(kalanprom.New(a, b))
	shot := a.Snapshot().Counts
	want := strings.NewReplacer("CALLS", text(shot.Calls), "STARTED", text(shot.Started), "OPEN", text(shot.Refused[policy.Open])).Replace(`
# HELP kalan_attempts_total Attempts that were started.
# TYPE kalan_attempts_total counter
kalan_attempts_total{guard="bridge-a"} STARTED
kalan_attempts_total{guard="bridge-b"} 1
# HELP kalan_breaker_state 1 for the state that the breaker is in.
# TYPE kalan_breaker_state gauge
kalan_breaker_state{guard="bridge-a",state="closed"} 0
kalan_breaker_state{guard="bridge-a",state="half-open"} 0
kalan_breaker_state{guard="bridge-a",state="open"} 1
kalan_breaker_state{guard="bridge-b",state="closed"} 1
kalan_breaker_state{guard="bridge-b",state="half-open"} 0
kalan_breaker_state{guard="bridge-b",state="open"} 0
# HELP kalan_calls_total Calls that came to the guard.
# TYPE kalan_calls_total counter
kalan_calls_total{guard="bridge-a"} CALLS
kalan_calls_total{guard="bridge-b"} 1
# HELP kalan_outcomes_total What attempts said of the dependency.
# TYPE kalan_outcomes_total counter
kalan_outcomes_total{guard="bridge-a",outcome="cut"} 0
kalan_outcomes_total{guard="bridge-a",outcome="failure"} STARTED
kalan_outcomes_total{guard="bridge-a",outcome="ignored"} 0
kalan_outcomes_total{guard="bridge-a",outcome="success"} 0
kalan_outcomes_total{guard="bridge-b",outcome="cut"} 0
kalan_outcomes_total{guard="bridge-b",outcome="failure"} 0
kalan_outcomes_total{guard="bridge-b",outcome="ignored"} 0
kalan_outcomes_total{guard="bridge-b",outcome="success"} 1
`)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want),
		"kalan_attempts_total", "kalan_breaker_state", "kalan_calls_total", "kalan_outcomes_total"); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(registry, "kalan_refused_total"); n != 2*(policy.Reasons-1) || err != nil {
		t.Errorf("%d series of refusals, %v; want one for each reason and guard", n, err)
	}
}

// The names are good Prometheus: units, suffixes, help.
func TestNamesAreWellFormed(t *testing.T) {
	problems, err := testutil.CollectAndLint(kalanprom.New(guard(t, "bridge-a", nil)))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	problems, err = testutil.CollectAndLint(kalanprom.NewObserver(nil))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// What a policy that only observes would have refused is shown, also when it
// alone observes; what is enforced is shown as refused, and nowhere twice.
func TestObservingIsShownByWhatObserves(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*kalan.Config)
		would  string // 1 or more
	}{
		{"nothing", nil, ""},
		{"the breaker", func(c *kalan.Config) { c.Breaker.Mode = breaker.Observe }, "open"},
		{"all", func(c *kalan.Config) { c.Observe = true }, "open"},
		{"the rate", func(c *kalan.Config) { c.Observe, c.Rate, c.Breaker.Mode = true, 1e-6, breaker.Disabled }, "rate"},
		{"the throttle", func(c *kalan.Config) {
			c.Throttle, c.Breaker.Mode = &throttle.Config{Floor: -1, Observe: true}, breaker.Disabled
		}, "throttled"},
		{"an enforced throttle", func(c *kalan.Config) { c.Throttle, c.Breaker.Mode = &throttle.Config{Floor: -1}, breaker.Disabled }, ""},
		{"an enforced rate", func(c *kalan.Config) { c.Rate, c.Breaker.Mode = 1e-6, breaker.Disabled }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := guard(t, "bridge-a", c.change)
			for range 20 { // the throttle draws lots: once in 20! it lets all of them pass
				_, _ = kalan.Do(t.Context(), g, broken)
			}
			for reason, n := range would(t, g) {
				if (n > 0) != (reason == c.would) {
					t.Errorf("%s: %v would have been refused; only %q observes and refuses", reason, n, c.would)
				}
			}
		})
	}
}

// A room that observes alone lets wait what cannot be finished in time.
func TestARoomThatObservesIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, "bridge-a", func(c *kalan.Config) {
			c.Limit, c.Room.Observe, c.Checkout = limit.Fixed(1), true, time.Second
		})
		slow := func(context.Context) (int, error) { time.Sleep(100 * time.Millisecond); return 1, nil }
		for range 30 { // it learns how long an answer takes
			if _, err := kalan.Do(t.Context(), g, slow); err != nil {
				t.Fatal(err)
			}
		}
		var calls sync.WaitGroup
		calls.Go(func() { _, _ = kalan.Do(t.Context(), g, slow) })
		synctest.Wait() // it has the slot
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := kalan.Do(ctx, g, slow)
		calls.Wait()
		if n := would(t, g)["expired"]; n != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v would have been refused (%v), want the one that waited in vain", n, err)
		}
	})
}

// would returns kalan_would_refuse_total by reason.
func would(t *testing.T, g *kalan.Guard) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(kalanprom.New(g))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]float64)
	for _, family := range families {
		if family.GetName() != "kalan_would_refuse_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			found[m.GetLabel()[1].GetValue()] = m.GetCounter().GetValue()
		}
	}
	if len(found) != 6 {
		t.Fatalf("%v, want six reasons", found)
	}
	return found
}

// Guards that come later are seen, and two of one name are not silently one.
func TestGuardsThatComeAndGo(t *testing.T) {
	var guards []*kalan.Guard
	c := kalanprom.NewFor("upstream", func() []*kalan.Guard { return guards })
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	count := func() int {
		n, err := testutil.GatherAndCount(registry, "kalan_calls_total")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("%d series without a guard", n)
	}
	guards = append(guards, guard(t, "bridge-a", nil))
	if n := count(); n != 1 {
		t.Errorf("%d series with one guard", n)
	}
	guards = append(guards, guard(t, "bridge-a", nil))
	if _, err := registry.Gather(); err == nil {
		t.Error("two guards of one name are one")
	}
}

func text(n uint64) string { return strconv.FormatUint(n, 10) }

func TestObserverMakesAHistogram(t *testing.T) {
	g := guard(t, "bridge-a", func(c *kalan.Config) { c.Trace = 4 })
	for range 3 {
		if _, err := kalan.Do(t.Context(), g, fine); err != nil {
			t.Fatal(err)
		}
	}
	o := kalanprom.NewObserver([]float64{1e9})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	kalan.Watch(ctx, o, g) // tells what was kept and returns
	if n := testutil.CollectAndCount(o, "kalan_attempt_duration_seconds"); n != 4 {
		t.Errorf("%d histograms, want one for each outcome", n)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(o)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families[0].GetMetric() {
		want := map[string]uint64{"success": 2}[m.GetLabel()[1].GetValue()]
		if n := m.GetHistogram().GetSampleCount(); n != want {
			t.Errorf("%v: %d samples, want %d", m.GetLabel(), n, want)
		}
	}
	problem := testutil.CollectAndCompare(o, strings.NewReader(`
# HELP kalan_events_missed_total Decisions that were lost before they were observed; a larger Trace keeps more.
# TYPE kalan_events_missed_total counter
kalan_events_missed_total{guard="bridge-a"} 2
`), "kalan_events_missed_total")
	if problem != nil {
		t.Error(problem)
	}
}

// Observing is away from the calls, and costs no memory all the same.
func TestObservingAllocatesNothing(t *testing.T) {
	g := guard(t, "bridge-a", nil)
	o := kalanprom.NewObserver(nil)
	events := []policy.Event{{Kind: policy.Settled, Outcome: policy.Success, Took: time.Millisecond}, {Kind: policy.Started}}
	o.Observe(g, events, 0)
	if n := testing.AllocsPerRun(100, func() { o.Observe(g, events, 1) }); n != 0 {
		t.Errorf("%v allocations an observation, want 0", n)
	}
}

// O-24: guards that come and go without end have a bounded number of series.
func TestAFloodOfGuardsIsBounded(t *testing.T) {
	o := kalanprom.NewObserver([]float64{1})
	events := []policy.Event{{Kind: policy.Settled, Outcome: policy.Success}}
	for i := range 5000 {
		o.Observe(guard(t, strconv.Itoa(i), nil), events, 0)
	}
	if n := testutil.CollectAndCount(o, "kalan_attempt_duration_seconds"); n != 4*(4096+1) {
		t.Errorf("%d histograms", n)
	}
}
