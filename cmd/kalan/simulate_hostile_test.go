package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim"
)

// What people and scripts give it instead of a scenario: each has one line that
// says what it is, at once.
func TestSimulateRefusesWhatIsNoScenario(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bomb := "kind: events\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	for path, want := range map[string]string{
		dir:                                "is a directory; write the name of a file",
		filepath.Join(dir, "none.yaml"):    "there is no such file",
		file("binary.yaml", "\x7fELF\x02"): "control character",
		file("large.yaml", "# "+strings.Repeat("x", 2<<20)):                    "more than 1048576 bytes, which is the most that is read",
		file("deep.yaml", "kind: events\nname: "+strings.Repeat("[", 100_000)): "max depth of 64",
		file("itself.yaml", "kind: events\nservices: &a {s: *a}\n"):            "contains itself",
		file("two.yaml", "kind: events\n---\nkind: events\n"):                  "a second document",
		file("bomb.yaml", bomb): "a12: unknown key",
	} {
		out, errOut, status := tell("simulate", path)
		if status != statusBad || out != "" || !strings.Contains(errOut, want) || !strings.HasPrefix(errOut, path) || len(errOut) > 4000 {
			t.Errorf("%s: status %d, %q%.4000q; want %q", filepath.Base(path), status, out, errOut, want)
		}
	}
}

const system = `kind: events
name: x
duration: 10s
replications: 1
services: {s: {workers: 1, work: 1ms}, t: {script: [{call: s}]}}
loads: {l: {to: t, rate: 1}}
searches: {most: {load: l}}
`

// Numbers that nobody means, and runs that nobody waits for, are refused with
// the estimate before anything is played.
func TestSimulateRefusesWhatWouldNotEnd(t *testing.T) {
	calls := strings.TrimSuffix(strings.Repeat("{call: s}, ", 1000), ", ")
	again := strings.TrimSuffix(strings.Repeat("{call: t}, ", 20), ", ")
	stopped, stop := context.WithCancel(t.Context())
	stop() // what is not refused is not played either
	for _, test := range [][]string{
		{"rate: 1", "rate: .nan", "loads.l.rate: .nan is not a number"},
		{"rate: 1", "rate: .inf", "loads.l.rate: .inf is not a number"},
		{"rate: 1", "rate: 1e300", "loads.l.rate: 1e+300 is out of range"},
		{"duration: 10s", "duration: 9999999h", "duration: "},
		{"duration: 10s", "duration: -1s", `duration: "-1s" has a sign`},
		{"replications: 1", "replications: -3", "replications: -3 is out of range"},
		{"replications: 1", "replications: 99999999999999999999", "is out of range"},
		{"rate: 1", "rate: 900", "duration: 10s", "duration: 700h", "requests would wait at once"}, // the search's ten times as many
		{"rate: 1", "rate: 900", "duration: 10s", "duration: 700h", "load: l", "load: l, to: 950", "the run may need "},
		{"rate: 1", "rate: 5000", "duration: 10s", "duration: 1h", "duration: up to 1.44e+07 requests would wait at once, some 14.4 GB, and 4.19e+06 are the most"},
		{"duration: 10s", "duration: 10m", "replications: 1", "replications: 10000", "replications: the results, guards, bursts and caches may take "},
		{"{script: [{call: s}]}", "{script: [" + calls + "]}, u: {script: [" + again + "]}", "services.u: a request to u causes 2e+04 calls"},
		{"{script: [{call: s}]}", "{script: [" + calls + "], instances: 1000}, u: {processes: 0}", "u.processes: unknown key"},
		{"name: x", `name: "\e[31mred"`, `name: "\x1b[31mred" cannot be shown`},
		{"{s: {workers", `{"\e[1ms": {workers`, "is not a name"},
		{"load: l", "load: l, to: 1e7", "searches.most.to: up to 1e+08 requests would wait"},
		{"load: l", "load: l, within: 1e-300", "searches.most.within: 1e-300 is out of range"},
		{"load: l", "load: l, from: 10", "searches.most.to: 10 is not above from, 10"},
	} {
		text, want := system, test[len(test)-1]
		for i := 0; i+1 < len(test); i += 2 {
			text = strings.Replace(text, test[i], test[i+1], 1)
		}
		file := filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		s := simulation{out: &out, errOut: &out, format: "text"}
		err := s.run(stopped, []string{file})
		var coded interface{ ExitCode() int }
		if !errors.As(err, &coded) || coded.ExitCode() != statusBad || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%.60q: %.500v; want %q", test[1], err, want)
		}
	}
}

// All mistakes of all files, and nothing is played.
func TestSimulateNamesTheMistakesOfAllFiles(t *testing.T) {
	out, errOut, status := tell("simulate", "none.yaml", "testdata/simulate/broken.yaml", chainBudget, t.TempDir())
	for _, want := range []string{"none.yaml: there is no such file", "testdata/simulate/broken.yaml:", ": is a directory"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("lacks %q:\n%s", want, errOut)
		}
	}
	if status != statusBad || out != "" {
		t.Errorf("status %d, output %q", status, out)
	}
}

// A run that is stopped says so, with the arms that were played to their end,
// and keeps its page and its JSON to itself.
func TestSimulateStops(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	dir := t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(file, []byte(standstill), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		s := simulation{out: &out, errOut: &out, format: format, report: filepath.Join(dir, "r.html")}
		err := s.run(stopped, []string{file})
		var coded interface{ ExitCode() int }
		if !errors.As(err, &coded) || coded.ExitCode() != statusStopped || !errors.Is(err, sim.ErrStopped) ||
			!strings.HasSuffix(err.Error(), "s.yaml: stopped before its end: 0 of 1 arm played to the end") {
			t.Errorf("%s: %v", format, err)
		}
		if _, err := os.Stat(s.report); err == nil || out.Len() > 0 {
			t.Errorf("%s: wrote a page, or %q", format, out.String())
		}
	}
}

func TestProgressLines(t *testing.T) {
	for want, got := range map[string]string{
		"storm [                    ]   0 %":                                           progressLine("storm", 0, time.Second),
		"storm [=====               ]  25 %, about 30s left":                           progressLine("storm", .25, 10*time.Second),
		"storm [====================] 100 %, about 0s left":                            progressLine("storm", 1.5, 10*time.Second),
		"aaaaaaaaaaaaaaaaaaaaaaa… [==========          ]  50 %, about 277h46m40s left": progressLine(strings.Repeat("a", 99), .5, 1e6*time.Second),
	} {
		if got != want || len([]rune(got)) > 79 {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	p := progress{out: &out, name: "storm", began: now, now: func() time.Time { return now }}
	p.end()
	for i := range 100 { // ten seconds
		p.tell()(float64(i) / 100)
		now = now.Add(100 * time.Millisecond)
	}
	p.end()
	if drawn := strings.Count(out.String(), "storm"); drawn != 18 || !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("drawn %d times: %q", drawn, out.String())
	}
	if (&progress{}).tell() != nil || newProgress(&out, "storm").tell() != nil {
		t.Error("it tells somebody who is no terminal")
	}
}

// A page that cannot be written is known before anything is played, and one that
// was there stays until there is another.
func TestThePageIsOpenedFirst(t *testing.T) {
	dir := t.TempDir()
	file, old := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "old.html")
	for path, text := range map[string]string{file: standstill, old: strings.Repeat("old ", 100_000)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, errOut, status := tell("simulate", file, "--report", filepath.Join(dir, "none", "r.html")); status != statusBad || out != "" ||
		!strings.Contains(errOut, "--report: open ") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
	if _, _, status := tell("simulate", filepath.Join(dir, "none.yaml"), "--report", old); status != statusBad {
		t.Errorf("status %d", status)
	}
	if text, err := os.ReadFile(old); err != nil || !strings.HasPrefix(string(text), "old old") {
		t.Errorf("%v, %.20q", err, text)
	}
	if out, _, status := tell("simulate", file, "--report", old); status != 0 || !strings.Contains(out, "standstill: 2 replications") {
		t.Errorf("status %d, %q", status, out)
	}
	if text, err := os.ReadFile(old); err != nil || !strings.HasSuffix(string(text), "</html>\n") {
		t.Errorf("%v, a page of %d bytes", err, len(text))
	}
}
