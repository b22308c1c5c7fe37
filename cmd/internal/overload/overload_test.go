package overload

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan/cmd/internal/config"
	"github.com/kalan-go/kalan/cmd/internal/gateway"
	"github.com/kalan-go/kalan/cmd/internal/openloop"
	"github.com/kalan-go/kalan/cmd/internal/overload/backend"
	"github.com/kalan-go/kalan/internal/golden"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const example = "../../../examples/overload/kalan.yaml"

// The example says no number of the upstream's: what the figures are about is
// what is found without one.
func TestTheExampleSaysNoNumber(t *testing.T) {
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"limit", "room", "checkout", "exchange", "rate", "promise", "workers", "connections"} {
		if strings.Contains(string(text), key+":") {
			t.Errorf("it says %s", key)
		}
	}
	if _, warnings, err := config.Read(example, text); err != nil || len(warnings) > 0 {
		t.Errorf("%v %v", err, warnings)
	}
}

// A smoke test: one case, on real sockets in one process. A machine that has no
// time for it in some of the seconds shows in the others that load above the
// capacity is served up to it, and in all that what is served is in time. The
// figures are those of `make bench-overload`.
func TestTwiceTheCapacityIsServedAllTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("takes eight seconds of real time: left out of -short")
	}
	file, _, err := config.Load(example)
	if err != nil {
		t.Fatal(err)
	}
	served := backend.Setting{Workers: 4, Service: 160 * time.Millisecond} // 25 a second: little to do for the machine
	behind := backend.New(served, "X-Remaining-Ms")
	upstream := httptest.NewServer(behind.Handler())
	defer upstream.Close()
	file.Listen, file.Admin = "127.0.0.1:0", "127.0.0.1:0"
	file.Drain.Delay = -1
	file.Upstreams[0].Addresses = []string{upstream.URL}
	g, err := gateway.New(file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan int)
	go func() { done <- g.Run(ctx) }()
	c := Case{
		Name: "smoke", Setting: served, Callers: []Callers{{Share: 1, Deadline: 1600 * time.Millisecond}},
		Stages: []Stage{{Load: 2, For: 6 * time.Second, Rest: true}},
	}
	r, err := c.Play(t.Context(), Subject{
		URL: "http://" + g.Addr().String(), Metrics: "http://" + g.AdminAddr().String() + "/metrics", Backend: backend.Control{Base: upstream.URL, Client: upstream.Client()},
	})
	leave()
	if status := <-done; status != 0 || err != nil {
		t.Fatalf("the gateway ended with %d, the case with %v", status, err)
	}
	s := r.Stages[0]
	t.Logf("goodput %.0f %%, late %.1f %%, wasted %.1f %%, refused %d of %d", 100*s.Goodput(), 100*s.LatePart(), 100*s.WastedPart(), s.Refused, s.Offered)
	best := 0
	for _, second := range s.Seconds {
		best = max(best, int(second.Good))
	}
	if float64(best) < .6*s.Possible || float64(s.Good) < .5*float64(s.Served) || s.Refused == 0 || s.Offered != 300 {
		t.Errorf("%d of a second's %.0f were served in time, and %d of %d; %d refused of %d", best, s.Possible, s.Good, s.Served, s.Refused, s.Offered)
	}
	if _, known := r.Own.Quantile(.99); !known {
		t.Error("the gateway says nothing of its own time")
	}
}

// No judge calls good what a collapse looks like.
func TestACollapseMissesTheMarks(t *testing.T) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			slow := Histogram{{Bound: 1, Count: 1}}
			r := &Run{Own: slow, Arrival: slow, Through: Seen{P50: time.Second}}
			for _, stage := range c.Stages {
				s := newSeen(c, stage, c.Setting)
				s.Possible, s.Served, s.Wasted = 100, 100, 90
				s.Offered, s.Late, s.Kinds[0], s.P50 = 1000, 1000, Count{100, 1}, time.Second
				r.Stages = append(r.Stages, *s)
			}
			for _, f := range c.Judge(r) {
				if f.Reached() {
					t.Errorf("%s is reached with %v", f.Name, f.Value)
				}
			}
		})
	}
}

func TestSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Case{Setting: backend.Setting{Workers: 1, Service: 100 * time.Millisecond}, Callers: make([]Callers, 2)}
		s := newSeen(c, Stage{Load: 2, For: 3 * time.Second}, c.Setting)
		hear := func(at time.Duration, kind int, o openloop.Outcome, again bool) {
			s.hear(openloop.Result{Shot: openloop.Shot{Kind: kind}, First: s.start.Add(at), Outcome: o, Took: at, Again: again})
		}
		for second := range 3 {
			for i := range 10 {
				o := openloop.InTime
				if second == 0 && i < 5 {
					o = openloop.Late
				}
				hear(time.Duration(second)*time.Second+time.Duration(i)*time.Millisecond, i%2, o, false)
			}
		}
		hear(0, 0, openloop.Refused, true) // will come again: no caller's last word
		hear(0, 0, openloop.Failed, true)
		s.finish()
		if s.Possible != 10 || s.Count != (Count{30, 25}) || s.Kinds[0].Offered != 15 || s.Late != 5 || s.Refused != 1 || s.Failed != 1 {
			t.Errorf("%+v", s)
		}
		if s.Recovery() != 1 || s.Goodput() < .83 || s.Goodput() > .84 || s.LatePart() != 5./30 {
			t.Errorf("recovered after %v, goodput %v, late %v", s.Recovery(), s.Goodput(), s.LatePart())
		}
	})
}

func TestHistogram(t *testing.T) {
	var h Histogram
	for _, line := range []string{
		`kalan_own_duration_seconds_bucket{upstream="b",le="+Inf"} 50`,
		`kalan_own_duration_seconds_bucket{upstream="a",le="0.001"} 90`,
		`kalan_own_duration_seconds_bucket{upstream="a",le="2.5e-05"} 10`,
		`kalan_own_duration_seconds_bucket{upstream="a",le="+Inf"} 50`,
		`kalan_own_duration_seconds_sum{upstream="a"} 7`,
		`# HELP`,
	} {
		h = h.read(ownBucket, line)
	}
	for q, want := range map[float64]float64{.05: 2.5e-5, .5: .001, .9: .001} {
		if got, known := h.Quantile(q); got != want || !known {
			t.Errorf("p%v is %v, want %v", 100*q, got, want)
		}
	}
	if worst, known := h.Quantile(.99); worst < 1 || !known {
		t.Errorf("p99 is %v", worst)
	}
	if _, known := (Histogram{}).Quantile(.5); known {
		t.Error("an empty histogram knows something")
	}
}

func TestTable(t *testing.T) {
	lines, err := Read(strings.NewReader(`
{"subject":"nginx","case":"overload","figures":[{"name":"2x: goodput","value":40,"mark":95,"unit":"%"}]}
{"subject":"kalan","case":"overload","figures":[{"name":"2x: goodput","value":99,"mark":95,"unit":"%"},{"name":"p99","value":6,"mark":5,"most":true,"unit":"ms"}]}
{"subject":"kalan","case":"light","figures":[{"name":"refused","value":0,"mark":0,"most":true,"unit":"%"}]}
{"subject":"kalan","case":"overload","figures":[{"name":"2x: goodput","value":90,"mark":95,"unit":"%"},{"name":"p99","value":7,"mark":5,"most":true,"unit":"ms"}]}
{"subject":"kalan","case":"overload","figures":[{"name":"2x: goodput","value":98,"mark":95,"unit":"%"},{"name":"p99","value":8,"mark":5,"most":true,"unit":"ms"}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	table := NewTable(lines)
	var out strings.Builder
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/table.txt", out.String())
	if missed := table.Missed("kalan"); len(missed) != 1 || !strings.Contains(missed[0], "p99 is 7 ms, and has to be <= 5 ms") {
		t.Errorf("%q", missed)
	}
	if _, err := Read(strings.NewReader("{}\nno\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}

// Every figure of the summary is one that a case has, so that a renamed one is
// missed here and not on the page.
func TestTheSummaryTakesItsFiguresFromTheCases(t *testing.T) {
	var lines []Line
	for _, c := range Cases() {
		var run Run
		for _, stage := range c.Stages {
			run.Stages = append(run.Stages, *newSeen(c, stage, c.Setting))
		}
		lines = append(lines, Line{"kalan", c.Name, c.Judge(&run)})
	}
	text := NewTable(lines).Summary()
	for _, h := range highlights {
		if !strings.Contains(text, "| "+h.as+" | ") {
			t.Errorf("no case has %s: %s", h.in, h.figure)
		}
	}
	if got, err := Put("a\n<!-- overload: made by scripts/bench-overload.sh -->\nold\n<!-- /overload -->\nb\n", "new\n"); err != nil || strings.Contains(got, "old") || !strings.Contains(got, "-->\nnew\n<!--") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Put("a\n", "new\n"); err == nil {
		t.Error("a document without a place took a table")
	}
}

// Where the ways are compared, no request may come while another is answered:
// with a margin for what is on the way.
func TestTheComparisonIsOutOfStep(t *testing.T) {
	const margin = 2 * time.Millisecond
	for _, c := range Cases() {
		if !c.Direct {
			continue
		}
		gap := time.Duration(float64(time.Second) / (c.Stages[0].Load * uneven.Capacity()))
		if after := uneven.Service % gap; after < margin || gap-after < margin {
			t.Errorf("%s: one comes every %v, and is answered %v after another has come", c.Name, gap, after)
		}
	}
}
