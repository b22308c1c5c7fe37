package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kalan-go/kalan/internal/golden"
)

// run executes a command as main does and returns what it wrote.
func run(c *cobra.Command, args ...string) (string, error) {
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs(args)
	err := c.Execute()
	return out.String(), err
}

func mustRun(t *testing.T, c *cobra.Command, args ...string) string {
	t.Helper()
	out, err := run(c, args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

var lesson = []string{"--budget", "200ms", "--share", "20ms", "--median", "8ms", "--depth", "1-4", "--attempts", "1,3"}

// B1, B2, B3, B11 and F9 as they are printed.
func TestPlanText(t *testing.T) {
	golden.File(t, "testdata/plan/lesson.txt", mustRun(t, newPlanCommand(), lesson...))
	golden.File(t, "testdata/plan/measured.txt", mustRun(t, newPlanCommand(), append(lesson, "--p99", "120ms,500ms", "--layers", "4,3")...))
}

func TestPlanJSON(t *testing.T) {
	golden.File(t, "testdata/plan/lesson.json", mustRun(t, newPlanCommand(), append(lesson, "--p99", "120ms,500ms", "--format", "json")...))
}

// The figures, without the help of a file that could be rewritten.
func TestPlanJSONIsNotRounded(t *testing.T) {
	var got struct {
		Rows []struct {
			Depth, Attempts int
			WorstMs         float64 `json:"worst_ms"`
			WorstRatio      float64 `json:"worst_ratio"`
			TimeoutMs       float64 `json:"timeout_ms"`
			MedianRatio     float64 `json:"median_ratio"`
		}
		Deepest     []struct{ Attempts, Depth int }
		Sensitivity []struct {
			Depth, Attempts int
			ShareMs         float64 `json:"share_ms"`
			TimeoutMs       float64 `json:"timeout_ms"`
		}
	}
	text := mustRun(t, newPlanCommand(), append(lesson, "--format", "json")...)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-12*want }
	if r := got.Rows[7]; r.Depth != 4 || r.Attempts != 3 || r.WorstMs != 2420 || !near(r.WorstRatio, 12.1) || r.TimeoutMs != 15 || r.MedianRatio != 1.875 {
		t.Errorf("last row %+v", r)
	}
	if s := got.Sensitivity[3]; s.Depth != 2 || s.Attempts != 3 || s.ShareMs != 40 || !near(s.TimeoutMs, 80.0/3) {
		t.Errorf("sensitivity %+v, want 26.666...", s)
	}
	if d := got.Deepest; len(d) != 2 || d[1].Attempts != 3 || d[1].Depth != 7 {
		t.Errorf("deepest %+v, want 7 with 3 attempts", d)
	}
	for _, key := range []string{`"timeouts"`, `"layers"`, "NaN", "Inf"} {
		if strings.Contains(text, key) {
			t.Errorf("%s in the JSON of a plain question", key)
		}
	}
}

// Who reads the document finds the keys that the help text names, and further
// ones only where they say something.
func TestPlanJSONKeys(t *testing.T) {
	const always = "deepest rows sensitivity"
	quiet := []string{"--budget", "200ms", "--share", "20ms", "--median", "8ms", "--depth", "1-2", "--attempts", "1"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{quiet, always},
		{append(quiet, "--p99", "50ms"), always + " timeouts"},
		{append(quiet, "--layers", "3,3"), always + " warnings"},
		{lesson, always + " warnings"},
	} {
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(mustRun(t, newPlanCommand(), append(c.args, "--format", "json")...)), &got); err != nil {
			t.Fatal(err)
		}
		if keys := strings.Join(slices.Sorted(maps.Keys(got)), " "); keys != c.want {
			t.Errorf("%v: %s, want %s", c.args, keys, c.want)
		}
		for key, want := range map[string]string{
			"rows":        "attempts depth median_ratio timeout_ms worst_ms worst_ratio",
			"deepest":     "attempts depth",
			"sensitivity": "attempts depth share_ms timeout_ms",
		} {
			var rows []map[string]float64
			if err := json.Unmarshal(got[key], &rows); err != nil || len(rows) == 0 {
				t.Fatalf("%s: %d rows, %v", key, len(rows), err)
			}
			if keys := strings.Join(slices.Sorted(maps.Keys(rows[0])), " "); keys != want {
				t.Errorf("%s has %s, want %s", key, keys, want)
			}
		}
	}
}

// Everything that is wrong is said in one run, and the command ends with 2.
func TestPlanRefusesBadFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string // flags that are complained of, in order
	}{
		{[]string{}, []string{"--budget", "--share", "--median"}},
		{[]string{"--budget", "200", "--share", "-20ms", "--median", "", "--depth", "0", "--attempts", "3-1", "--p99", "1ms,x", "--layers", "0", "--format", "xml"},
			[]string{"--budget", "--share", "--median", "--depth", "--attempts", "--p99", "--layers", "--format"}},
		{[]string{"--budget", "20ms", "--share", "20ms", "--median", "8ms"}, []string{"--share"}},
		{[]string{"--budget", "20ms", "--share", "30ms", "--median", "8ms", "--depth", "-1"}, []string{"--depth", "--share"}},
		{[]string{"--budget", "0", "--share", "0", "--median", "0s"}, []string{"--budget", "--median"}},
		{[]string{"--budget", "1s", "--share", "0", "--median", "1ms", "--depth", "1-1000000000"}, []string{"--depth"}},
		{[]string{"--budget", "1s", "--share", "0", "--median", "1ms", "--depth", "1-1000", "--attempts", "1-1000"}, []string{"--depth"}},
		{[]string{"--budget", "99999h", "--share", "0", "--median", "1ms", "--attempts", strings.Repeat("1,", 1000) + "1"}, []string{"--attempts", "--budget"}},
		{[]string{"--budget", "99999999999999999999h", "--share", "0", "--median", "1ms"}, []string{"--budget"}},
	} {
		out, err := run(newPlanCommand(), c.args...)
		var coded interface{ ExitCode() int }
		if !errors.As(err, &coded) || coded.ExitCode() != 2 || out != "" {
			t.Errorf("%.200v: %v, output %q; want exit code 2 and nothing else", c.args, err, out)
			continue
		}
		var flags []string
		for line := range strings.SplitSeq(err.Error(), "\n") {
			flag, _, _ := strings.Cut(line, ":")
			flags = append(flags, flag)
		}
		if strings.Join(flags, " ") != strings.Join(c.want, " ") {
			t.Errorf("%.200v:\n%v\nwant problems of %v", strings.Join(c.args, " "), err, c.want)
		}
	}
}
