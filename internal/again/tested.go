package main

import (
	"slices"
	"strings"
)

// signs are what stands at the beginning of a line, or in it, when a test
// failed for a reason that no busy machine explains.
var signs = []struct {
	text, means string
	begins      bool
}{
	{"WARNING: DATA RACE", "there is a data race", true},
	{"race detected during execution of test", "there is a data race", false},
	{"panic: ", "something panicked", true},
	{"fatal error: ", "something panicked", true},
	{"found unexpected goroutines", "a goroutine has leaked", false},
}

// mostLines is how much of an output is told again at the end of the log.
const mostLines = 40

// A tested package is one whose tests have run.
type tested struct {
	name  string
	lines []line
	state map[string]string // of a test, of the package under "": the last action
	sign  string            // what the first of the signs means
	build bool              // it did not build
}

// A line of output, and the test that wrote it: "" is the package.
type line struct{ test, text string }

// take notes an event, and reports whether it is the package's last.
func (p *tested) take(e event) (ended bool) {
	switch e.Action {
	case "output":
		p.lines = append(p.lines, line{e.Test, e.Output})
		for _, s := range signs {
			if p.sign == "" && (strings.HasPrefix(e.Output, s.text) || !s.begins && strings.Contains(e.Output, s.text)) {
				p.sign = s.means
			}
		}
	case "run", "pass", "skip", "fail":
		p.state[e.Test] = e.Action
		p.build = p.build || e.FailedBuild != ""
		return e.Test == "" && e.Action != "run"
	}
	return false
}

// told returns what go test prints of the package without -v.
func (p *tested) told() string {
	if p.state[""] == "fail" {
		return p.text("")
	}
	for _, l := range slices.Backward(p.lines) {
		if l.test == "" {
			return l.text
		}
	}
	return ""
}

// text returns what a test wrote, or, for "", all of the package. It leaves out
// what go test -v adds, and what tests and subtests wrote that passed, unless
// there is a sign: nobody can tell whose output a data race interrupts.
func (p *tested) text(test string) string {
	var text strings.Builder
	for _, l := range p.lines {
		root, _, _ := strings.Cut(l.test, "/")
		passed := l.test != "" && p.state[l.test] != "fail" && p.state[l.test] != "run"
		if test != "" && root != test || passed && p.sign == "" || strings.HasPrefix(l.text, "=== ") {
			continue
		}
		text.WriteString(l.text)
	}
	return text.String()
}

// end returns what of the text is told at the end.
func (p *tested) end(test string) string { return shorten(p.text(test)) }

// shorten leaves out the middle of a long text.
func shorten(text string) string {
	lines := slices.Collect(strings.Lines(text))
	if len(lines) <= mostLines {
		return text
	}
	const half = mostLines / 2
	return strings.Join(lines[:half], "") + "[and more, which stands above]\n" + strings.Join(lines[len(lines)-half:], "")
}

// failures returns the names of the tests that failed, without subtests.
func (p *tested) failures() []string { return p.inState("fail") }

func (p *tested) inState(state string) (tests []string) {
	for test, is := range p.state {
		if is == state && test != "" && !strings.Contains(test, "/") {
			tests = append(tests, test)
		}
	}
	slices.Sort(tests)
	return tests
}

// refusal returns why a package that failed is not run again; "" when it may
// have been bad luck.
func (p *tested) refusal() string {
	switch unfinished := p.inState("run"); {
	case p.build:
		return " does not build"
	case len(unfinished) > 0:
		return " ended before " + strings.Join(unfinished, ", ")
	case p.sign != "":
		return ": " + p.sign
	case len(p.failures()) == 0:
		return " failed, and none of its tests did"
	}
	return ""
}
