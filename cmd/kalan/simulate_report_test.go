package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const standstill = `kind: events
name: standstill
duration: 5s
replications: 2
services: {server: {workers: 1, work: constant 5ms}}
loads: {callers: {to: server, rate: 50, deadline: 1s}}
triggers: {stop: {what: stall, of: server, at: 2s, for: 500ms}}
`

func TestSimulateWritesAReport(t *testing.T) {
	dir := t.TempDir()
	file, page := filepath.Join(dir, "standstill.yaml"), filepath.Join(dir, "out.html")
	if err := os.WriteFile(file, []byte(standstill), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, newSimulateCommand(), file, "--report", page)
	first, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<!DOCTYPE html>", "Simulation of <bdi>standstill</bdi>", "kalan simulate " + file, "</html>"} {
		if !strings.Contains(string(first), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	mustRun(t, newSimulateCommand(), file, "--report", page, "--parallel", "1")
	if second, err := os.ReadFile(page); err != nil || string(second) != string(first) {
		t.Errorf("the same scenario makes another page on one processor (%v)", err)
	}
}

// Another seed is another run, and the same one whether the file says it or the
// command; the page says how to repeat it.
func TestSimulateTakesAnotherSeed(t *testing.T) {
	dir := t.TempDir()
	file, seven, page := filepath.Join(dir, "standstill.yaml"), filepath.Join(dir, "seven.yaml"), filepath.Join(dir, "out.html")
	for path, text := range map[string]string{file: standstill, seven: standstill + "seed: 7\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	other := mustRun(t, newSimulateCommand(), file, "--seed", "7", "--report", page)
	if want := mustRun(t, newSimulateCommand(), seven); other != want || other == mustRun(t, newSimulateCommand(), file) {
		t.Errorf("with --seed 7\n%s\nand with seed: 7\n%s", other, want)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "kalan simulate "+file+" --seed 7<") {
		t.Errorf("the page does not say how to repeat it (%v)", err)
	}
}

func TestSimulateReportsOneScenarioOfEvents(t *testing.T) {
	for _, args := range [][]string{{chainBudget, "--report", "x.html"}, {chainBudget, chainBudget, "--report", "x.html"}} {
		if _, err := run(newSimulateCommand(), args...); err == nil || !strings.Contains(err.Error(), "--report: a page is of") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
