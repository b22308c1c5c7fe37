package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scratch is packages that fail in every way there is.
var scratch = map[string]string{
	"fine":    "func TestFine(t *testing.T) {}",
	"fails":   "func TestFine(t *testing.T) { t.Log(\"noise\") }; func TestFails(t *testing.T) { t.Run(\"x\", func(t *testing.T) { t.Log(\"noise\") }); t.Error(\"always\") }",
	"many":    "func TestMany(t *testing.T) { t.Error() }; func " + strings.Join([]string{"TestA", "TestB", "TestC", "TestD"}, "(t *testing.T) { t.Error() }; func ") + "(t *testing.T) { t.Error() }",
	"races":   "func TestRaces(t *testing.T) { c := make(chan bool); go func() { leaked = true; c <- true }(); leaked = false; <-c }",
	"panics":  "func TestPanics(t *testing.T) { panic(\"oh\") }",
	"exits":   "func TestExits(t *testing.T) { os.Exit(1) }",
	"hangs":   "func TestHangs(t *testing.T) { select {} }",
	"builds":  "func TestBuilds(t *testing.T) { missing() }",
	"leaks":   "func TestFine(t *testing.T) {}; func TestMain(m *testing.M) { m.Run(); os.Exit(1) }",
	"unclean": "func TestUnclean(t *testing.T) { t.Error(\"found unexpected goroutines: [x]\") }",
	"flaky":   "func TestFine(t *testing.T) {}; func TestFlaky(t *testing.T) { t.Run(\"a b\", once) }",
	"covered": "func TestLeaks(t *testing.T) { leaked = true }; func TestFlaky(t *testing.T) { once(t) }; func TestMain(m *testing.M) { if m.Run() != 0 || leaked { os.Exit(1) } }",
}

// common is what each of them has. What fails once leaves a mark of it.
const common = `package x

import (
	"os"
	"testing"
)

var leaked bool

func once(t *testing.T) {
	if f, err := os.OpenFile("mark", os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
		t.Fatal("by chance")
	}
}

`

// enter goes to a module with the scratch packages, and one that has no test.
func enter(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "off")
	write(t, "go.mod", "module scratch\n\ngo 1.26\n")
	write(t, "nothing/nothing.go", "package nothing\n")
	for name, text := range scratch {
		write(t, name+"/x_test.go", common+text+"\n")
	}
}

func write(t *testing.T, name, text string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNoBadLuckIsNotRunAgain(t *testing.T) {
	enter(t)
	failed := goTest(io.Discard, []string{"-skip", "TestHangs"}, "./...").failed()
	failed = append(failed, goTest(io.Discard, []string{"-timeout", "1s"}, "./hangs").failed()...)
	why := make(map[string]string)
	for _, p := range failed {
		why[strings.TrimPrefix(p.name, "scratch/")] = p.refusal()
	}
	for name, want := range map[string]string{
		"panics": ": something panicked", "exits": " ended before TestExits", "hangs": " ended before TestHangs", "builds": " does not build",
		"leaks": " failed, and none of its tests did", "unclean": ": a goroutine has leaked", "fails": "", "flaky": "", "covered": "", "many": "",
	} {
		if got, failed := why[name]; got != want || !failed {
			t.Errorf("%s is refused because of %q", name, got)
		}
		delete(why, name)
	}
	if len(why) != 0 {
		t.Errorf("failed without reason: %v", why)
	}
}

func TestTheSecondChance(t *testing.T) {
	enter(t)
	for _, c := range []struct {
		name, packages, last string
		ok, forgiven         bool
	}{
		{"nothing failed", "./fine", "ok  \tscratch/fine", true, false},
		{"no tests", "./nothing", "?   \tscratch/nothing\t[no test files]\n", true, false},
		{"bad luck", "./flaky", "FAILED 1 OF 2 RUNS: TestFlaky in scratch/flaky failed beside the others and passed by itself", true, true},
		{"a failure", "./fails", "FAILED TWICE: TestFails in scratch/fails", false, false},
		{"a leak behind bad luck", "./covered", "FAILED: the rest of scratch/covered", false, true},
		{"too many", "./many", "FAILED: 5 tests, which is more than bad luck\n", false, false},
		{"a refusal", "./leaks", "FAILED, and not run again: scratch/leaks failed, and none of its tests did\n", false, false},
		{"no package", "./nowhere", "FAILED, and not run again: ./nowhere does not build\n", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			forgiven, ok := again(&out, []string{"-run", "."}, c.packages)
			if ok != c.ok || (forgiven != "") != c.forgiven || !strings.Contains(out.String(), c.last) {
				t.Errorf("%v, forgiven %q, after\n%s", ok, forgiven, out.String())
			}
			if c.forgiven && !strings.Contains(forgiven, "x_test.go:") || strings.Contains(out.String(), "noise") {
				t.Errorf("it tells %q of\n%s", forgiven, out.String())
			}
		})
	}
}

func TestTheEndOfALongOutputHasItsBeginning(t *testing.T) {
	if text := strings.Repeat("x\n", mostLines); shorten(text) != text {
		t.Error("a short text is cut")
	}
	got := shorten("first\n" + strings.Repeat("x\n", 500) + "last\n")
	if n := strings.Count(got, "\n"); n != mostLines+1 || !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "last\n") {
		t.Errorf("%d lines: %s", n, got)
	}
}

func TestTheReportKeepsAllThatWasForgiven(t *testing.T) {
	report := filepath.Join(t.TempDir(), "bin", "again.txt")
	for _, text := range []string{"", "one\n", "", "two\n"} {
		if err := note(report, text); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(report); string(got) != "one\ntwo\n" {
		t.Errorf("%q %v", got, err)
	}
}
