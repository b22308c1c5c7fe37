package report_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/report"
	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/record"
)

// small is a result of round numbers, made by hand: what the page does with a
// result must not change because a machine did.
func small(t testing.TB) *sim.Result {
	bare := sim.ArmResult{
		Name: "bare", About: "no defence", Verdict: sim.Metastable, Capacity: 100, Bin: time.Second, Amplifies: "clients>server",
		Offered: record.Over([]float64{90, 90}), Goodput: record.Over([]float64{30, 34}), Attempts: record.Over([]float64{150, 152}),
		Amplification: record.Over([]float64{1.66, 1.7}), Wasted: record.Over([]float64{.6, .62}),
		Troubles: []sim.Window{{Name: "stall", From: 4 * time.Second, To: 6 * time.Second}},
		Edges:    []sim.EdgeResult{{From: "clients", To: "server", Calls: 900, Attempts: 1500, Failed: 600, Amplification: 5. / 3, Share: 5. / 3}},
		Services: []sim.ServiceResult{{Name: "server", Workers: 1, Work: record.Over([]float64{1, 1}), Wasted: record.Over([]float64{.6, .62}), Longest: 400}},
		Checks:   []sim.Check{{Claim: claim(t, "metastable"), OK: true, Got: "metastable in 2 of 2"}},
	}
	bare.Verdicts[sim.Metastable] = 2
	guarded := bare
	guarded.Name, guarded.About, guarded.Verdict, guarded.Amplifies = "guarded", "a queue of 20", sim.Recovers, ""
	guarded.Goodput, guarded.Attempts = record.Over([]float64{80, 82}), record.Over([]float64{95, 97})
	guarded.Amplification, guarded.Wasted = record.Over([]float64{1.05, 1.07}), record.Over([]float64{.02, .03})
	guarded.Recovery = record.Over([]float64{.4, .6})
	guarded.Verdicts = [len(guarded.Verdicts)]int{sim.Recovers: 2}
	guarded.Edges = []sim.EdgeResult{{From: "clients", To: "server", Calls: 900, Attempts: 950, Failed: 80, Amplification: 1.06, Share: 1.06}}
	guarded.Services = []sim.ServiceResult{{Name: "server", Workers: 1, Work: record.Over([]float64{.9, .9}), Wasted: record.Over([]float64{.02, .02}), Longest: 20}}
	guarded.Checks = []sim.Check{{Claim: claim(t, "recovery < 400ms"), OK: false, Got: "500ms"}, {Claim: claim(t, "amplification <= 1.1"), OK: true, Got: "1.06"}}
	fill(&bare, []float64{90, 90, 90, 90, 0, 0, 10, 0, 0, 0}, 20*ms)
	fill(&guarded, []float64{90, 90, 90, 90, 0, 0, 88, 90, 90, 90}, 5*ms)
	return &sim.Result{
		Name: "two arms", Seed: 3, Replications: 2, Duration: 10 * time.Second, Warmup: time.Second, Arms: []sim.ArmResult{bare, guarded},
		Searches:    []sim.SearchResult{{Name: "heals", Arm: "bare", What: "load", Found: 50, Low: 49, High: 51, Runs: 7}},
		Assumptions: []string{"The network takes no time."}, Events: 12345, Hash: 0xbeef,
	}
}

// fill gives the arm a load, a course of ten seconds and latencies.
func fill(a *sim.ArmResult, answered []float64, typical time.Duration) {
	load := sim.LoadResult{Name: "clients", Offered: a.Offered, Goodput: a.Goodput, Attempts: a.Attempts,
		Failed: record.Over([]float64{.1, .1}), Refused: record.Over([]float64{.05, .05}), P99: record.Over([]float64{40, 44})}
	for i, x := range answered {
		a.Series = append(a.Series, sim.Moment{At: time.Duration(i) * time.Second, Offered: 90, Answered: x, Attempts: 180 - x})
	}
	for i := range 100 {
		load.Latency.Add(typical + typical*time.Duration(i*i)/2000)
	}
	a.Latency.Merge(&load.Latency)
	a.Loads = []sim.LoadResult{load}
}

func written(t testing.TB, r *sim.Result) string {
	t.Helper()
	var out strings.Builder
	if err := report.Write(&out, r, report.Options{Command: []string{"kalan", "simulate", "two arms.yaml"}, Version: "v0"}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// styling is what the golden file leaves out: how it looks is for eyes.
var styling = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|content="default-src[^"]*"`)

func TestThePageOfASmallResult(t *testing.T) {
	golden.File(t, filepath.Join("testdata", "small.html"), styling.ReplaceAllString(written(t, small(t)), "<!-- -->"))
}
