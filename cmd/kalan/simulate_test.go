package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kalan-go/kalan/internal/golden"
)

const chainBudget = "../../scenarios/chain-budget.yaml"

func TestSimulateText(t *testing.T) {
	golden.File(t, "testdata/simulate/chain-budget.txt", mustRun(t, newSimulateCommand(), chainBudget))
}

func TestSimulateJSON(t *testing.T) {
	golden.File(t, "testdata/simulate/chain-budget.json", mustRun(t, newSimulateCommand(), chainBudget, "--format", "json"))
}

// B6 and B10, both tables as they stand in the requirements: the file's chain,
// cycles and configurations are the lesson's.
func TestSimulatePrintsTheTablesOfTheLesson(t *testing.T) {
	text := mustRun(t, newSimulateCommand(), chainBudget)
	for _, row := range []string{
		"416.67 requests/s become 1666.68 calls/s inside, and 5000.04 when every step is tried 3 times",
		"no budget (200 ms, 3 attempts) 30 10 0 71 233 1.06 1770.85",
		"+ deadline propagation 30 0 10 71 200 1.00 1666.68",
		"+ divided timeouts (30 ms, 3) 40 0 0 62 63 1.14 1895.85",
		"+ retry budget 0.30 40 0 0 62 63 1.14 1895.85",
		"normal: the retry budget of 0.30 is not binding (multiplier 1.14 < 1.30)",
		"no budget (200 ms, 3 attempts) 0 0 40 626 626 2.00 3333.36",
		"+ deadline propagation 0 0 40 200 200 0.67 1114.59",
		"+ divided timeouts (30 ms, 3) 0 0 40 116 116 2.00 3333.36",
		"+ retry budget 0.30 0 0 40 86 86 0.97 1614.60",
		"widespread slowdown: the retry budget of 0.30 is binding (multiplier 2.00 -> 0.97)",
		"The retry budget of 0.30 is sized right",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), row) {
			t.Errorf("the tables lack %q:\n%s", row, text)
		}
	}
}

func TestSimulateJSONIsNotRounded(t *testing.T) {
	var got struct {
		Kind    string
		Regimes []struct {
			Name string
			Rows []struct {
				Configuration string
				InTime        int `json:"in_time"`
				Late, Failed  int
				MedianMs      float64 `json:"median_ms"`
				WorstMs       float64 `json:"worst_ms"`
				Multiplier    float64
				InnerRPS      float64 `json:"inner_rps"`
				BudgetBound   bool    `json:"budget_bound"`
			}
		}
	}
	text := mustRun(t, newSimulateCommand(), chainBudget, "--format", "json")
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	last := got.Regimes[1].Rows[3]
	if got.Kind != "walk" || got.Regimes[1].Name != "widespread slowdown" || last.Failed != 40 || last.WorstMs != 86 ||
		last.Multiplier != 155.0/160 || last.InnerRPS != 416.67*4*(155.0/160) || !last.BudgetBound {
		t.Errorf("last row %+v of %s", last, text)
	}
}

// All mistakes at once, each with its place, and nothing is played.
func TestSimulateRefusesBadFiles(t *testing.T) {
	out, err := run(newSimulateCommand(), "testdata/simulate/broken.yaml", chainBudget)
	var coded interface{ ExitCode() int }
	if !errors.As(err, &coded) || coded.ExitCode() != 2 || out != "" {
		t.Fatalf("%v, output %q; want exit code 2 and nothing else", err, out)
	}
	golden.File(t, "testdata/simulate/broken.txt", err.Error()+"\n")
}

func TestSimulateRefuses(t *testing.T) {
	good, err := os.ReadFile(chainBudget)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                           "the file is empty",
		"kind: walks\nnonsense: 1\n": `1:7: kind: "walks" is not a kind of scenario; write events for a system under load`,
		"kind: [":                    "1:",
		strings.Replace(string(good), "requests: 40", "requests: 1000000", 1):       "write fewer requests",
		strings.Replace(string(good), "requests: 40", "requests: -1", 1):            "requests: -1 is out of range",
		strings.Replace(string(good), "kind: walk", "", 1):                          "kind: ",
		strings.Replace(string(good), "cycle: [6ms, 1000ms", "cycle: [0x6, 25h", 1): "cycle[1]: 25h0m0s is longer than a call lasts",
		strings.Replace(string(good), "ratio: 0.30", "ratio: .inf", 1):              "configurations[3].budget.ratio",
		strings.Replace(string(good), "attempts: 3", "attempts: -3", 1):             "configurations[0].retry.attempts",
	} {
		file := filepath.Join(t.TempDir(), "scenario.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := run(newSimulateCommand(), file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q...: %v\nwant %q", text, err, want)
		}
	}
	for _, args := range [][]string{{filepath.Join(t.TempDir(), "none.yaml")}, {t.TempDir()}, {chainBudget, "--format", "xml"}} {
		var coded interface{ ExitCode() int }
		if _, err := run(newSimulateCommand(), args...); !errors.As(err, &coded) || coded.ExitCode() != 2 {
			t.Errorf("%v: %v, want exit code 2", args, err)
		}
	}
}

// One replication says nothing about how exact a figure is, and 0 would say that
// it is.
func TestOneReplicationHasNoInterval(t *testing.T) {
	file := filepath.Join(t.TempDir(), "one.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(standstill, "replications: 2", "replications: 1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(mustRun(t, newSimulateCommand(), file)), " ")
	if !strings.Contains(text, "standstill 47.6 47.6 - 47.6") {
		t.Error(text)
	}
	if text := mustRun(t, newSimulateCommand(), file, "--format", "json"); !strings.Contains(text, `"ci95": null`) {
		t.Error(text)
	}
}
