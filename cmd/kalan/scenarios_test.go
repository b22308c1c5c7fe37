package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kalan-go/kalan/internal/golden"
)

// quickScenarios are played also by those who do not want to wait.
var quickScenarios = []string{"seven-seconds", "three-layers", "business-errors", "deadline-carried"}

// Every scenario of the repository: what it expects holds, and its summary is
// the one that somebody has read.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "chain-budget" { // another kind, with tests of its own
			continue
		}
		t.Run(name, func(t *testing.T) {
			if quick := strings.Contains(strings.Join(quickScenarios, " "), name); !quick && (testing.Short() || race) {
				t.Skip("up to half a minute of processor time; run without -short and without -race")
			}
			golden.File(t, "testdata/simulate/"+name+".txt", mustRun(t, newSimulateCommand(), file))
		})
	}
}

// Whoever looks for a story finds its file, with its defence and its summary.
func TestEveryScenarioIsOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); !strings.Contains(string(page), "(../scenarios/"+name+")") {
			t.Errorf("docs/simulator.md has no row for scenarios/%s", name)
		}
	}
	for _, link := range regexp.MustCompile(`\(\.\./(scenarios/[\w-]+\.yaml)\)`).FindAllStringSubmatch(string(page), -1) {
		if !slices.Contains(files, "../../"+link[1]) {
			t.Errorf("docs/simulator.md names %s, which is not there", link[1])
		}
	}
}

// Same seed, same bytes, also as a process of its own: on one processor, two and
// four, however many replications are played at once.
func TestTheHashIsTheSameEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the tool and plays a scenario four times; run without -short")
	}
	tool := filepath.Join(t.TempDir(), "kalan")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var want map[string]any
	for i, run := range []struct{ processors, parallel string }{{"1", "1"}, {"2", "0"}, {"4", "3"}, {"1", "0"}} {
		c := exec.Command(tool, "simulate", "../../scenarios/three-layers.yaml", "--format", "json", "--parallel", run.parallel)
		c.Env = append(os.Environ(), "GOMAXPROCS="+run.processors)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "cpu_s")
		if i == 0 {
			want = got
		}
		if hash, _ := got["hash"].(string); len(hash) < 8 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s processors, %s at once: %v\nwant %v", run.processors, run.parallel, got, want)
		}
	}
}

// The form that other programs read, key by key; and the same whatever is played
// at once, but for the time that it took.
func TestSimulateEventsJSON(t *testing.T) {
	type part struct {
		Name                  string
		Offered               float64                      `json:"offered_rps"`
		Goodput               struct{ Mean, CI95 float64 } `json:"goodput_rps"`
		Refused, Late, Failed float64
		Fair                  float64 `json:"fair_rps"`
	}
	type result struct {
		Kind, Scenario string
		Seed           uint64
		Arms           []struct {
			Name     string
			Offered  float64                         `json:"offered_rps"`
			Goodput  struct{ Mean, CI95 float64 }    `json:"goodput_rps"`
			Attempts float64                         `json:"attempts_rps"`
			Latency  struct{ P50, P95, P99 float64 } `json:"latency_ms"`
			Verdict  string
			Recovery *float64 `json:"recovery_s"`
			Verdicts map[string]int
			Fairness struct{ Mean, CI95 float64 }
			Loads    []part
		}
		Events uint64
		CPU    float64 `json:"cpu_s"`
		Hash   string
	}
	var results [2]result
	for i, parallel := range []string{"1", "3"} {
		text := mustRun(t, newSimulateCommand(), "../../scenarios/seven-seconds.yaml", "--format", "json", "--parallel", parallel)
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&results[i]); err != nil {
			t.Fatal(err)
		}
		if results[i].CPU <= 0 {
			t.Errorf("cpu_s is %v", results[i].CPU)
		}
		results[i].CPU = 0
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("one at a time %+v\nthree at once %+v", results[0], results[1])
	}
	r := results[0]
	if len(r.Arms) != 2 || r.Kind != "events" || r.Scenario != "seven-seconds" || r.Seed != 1 || r.Events == 0 || r.Hash == "" {
		t.Fatalf("%+v", r)
	}
	bare, defended := r.Arms[0], r.Arms[1]
	if bare.Name != "without" || bare.Offered != defended.Offered || bare.Goodput.Mean > .85*defended.Goodput.Mean || bare.Goodput.CI95 <= 0 ||
		defended.Verdict != "recovers" || defended.Recovery == nil || *defended.Recovery > 10 || defended.Latency.P99 < 100 {
		t.Errorf("%+v", r.Arms)
	}
	if a := defended.Loads[0]; len(defended.Loads) != 4 || a.Name != "a" || a.Refused < .2 || a.Fair < a.Goodput.Mean || defended.Verdicts["recovers"] != 5 ||
		defended.Fairness.Mean < .9 || defended.Fairness.Mean > .999 {
		t.Errorf("%+v", defended)
	}
}

// An expectation that is not met is the status 1, and says what it was.
func TestSimulateFailsWhenAnExpectationDoes(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/business-errors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hopeful.yaml")
	hopeful := strings.Replace(string(text), "[refused of orders >= 0.5]", "[stable, p99 < 1ms, goodput >= 0.99 offered]", 1)
	if err := os.WriteFile(file, []byte(hopeful), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errOut, status := tell("simulate", file, "../../scenarios/business-errors.yaml")
	for _, want := range []string{
		file + ": every error is a failure: expected stable, and it is collapsed without a trigger in 5 of 5\n",
		"expected p99 < 1ms, and it is 1", "expected goodput >= 0.99 offered, and it is ",
	} {
		if !strings.Contains(errOut, want) {
			t.Errorf("stderr lacks %q:\n%s", want, errOut)
		}
	}
	if status != statusFailed || strings.Count(out, "business-errors: 5 replications") != 2 || strings.Count(out, "FAILED") != 3 {
		t.Errorf("status %d, output\n%s", status, out)
	}
}
