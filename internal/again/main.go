// Command again runs go test, and runs a test that failed once more by itself.
//
// It is for make test, which CI runs on two cores that others use too. Many of
// these tests drive real processes over real sockets in real time, and one
// among twelve hundred that misses a deadline because its machine stood still
// would refuse a change that has nothing to do with it. What failed beside the
// others and passes alone is therefore passed, and told at the end, with its
// output, to whoever mends it. It is no cure for a test that depends on luck,
// and not for work on a single package: there, run go test.
//
//	go run ./internal/again REPORT [flags of go test] PATTERN
//
// A test is run again once. What no busy machine explains is not run again: a
// data race, a panic, a leaked goroutine, a timeout, a process that ended
// early, a package that does not build, and more than a few failures at once.
// After the failed tests, the rest of their package is run again too, because a
// check for leaked goroutines is left out where a test has failed. What was
// forgiven is appended to the file REPORT. docs/adr/0053 has the reasons.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// mostAgain is how many failed tests may have had bad luck: more than these
// have a cause in common.
const mostAgain = 4

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: again REPORT [flags of go test] PATTERN, which is one: ./... or work")
		os.Exit(2)
	}
	flags, packages := os.Args[2:len(os.Args)-1], os.Args[len(os.Args)-1]
	forgiven, ok := again(os.Stdout, flags, packages)
	if err := note(os.Args[1], forgiven); err != nil {
		fmt.Fprintln(os.Stderr, "again:", err)
		ok = false
	}
	if !ok {
		os.Exit(1)
	}
}

// note appends what was forgiven to the report.
func note(report, forgiven string) error {
	if forgiven == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(report), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(report, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.WriteString(f, forgiven)
	return err
}

// again tests the packages, and once more what failed for no reason that
// counts. It returns what was forgiven, as text, and whether all is well. Its
// last lines tell what failed and how: a log is often seen from its end.
func again(out io.Writer, flags []string, packages string) (forgiven string, ok bool) {
	first := goTest(out, flags, packages)
	if first.ok() {
		return "", true
	}
	lost := first.refusals()
	if len(lost) == 0 {
		for _, p := range first.failed() {
			why, problems := second(out, flags, p)
			forgiven += why
			lost = append(lost, problems...)
		}
	}
	fmt.Fprint(out, forgiven)
	for _, problem := range lost {
		fmt.Fprint(out, problem)
	}
	return forgiven, len(lost) == 0
}

// second runs the failed tests of a package again, each by itself, and then the
// rest of them.
func second(out io.Writer, flags []string, p *tested) (forgiven string, lost []string) {
	tests := p.failures()
	for _, test := range tests {
		fmt.Fprintf(out, "again: %s failed in %s; it is run once more, by itself\n", test, p.name)
		r := goTest(out, with(flags, "-run", test), p.name)
		if r.ok() {
			forgiven += fmt.Sprintf("\nFAILED 1 OF 2 RUNS: %s in %s failed beside the others and passed by itself. Its output when it failed:\n%s", test, p.name, p.end(test))
			continue
		}
		lost = append(lost, fmt.Sprintf("\nFAILED TWICE: %s in %s, beside the others and by itself. Its output the first time:\n%sand the second time:\n%s", test, p.name, p.end(test), r.end()))
	}
	if len(lost) > 0 {
		return forgiven, lost
	}
	fmt.Fprintf(out, "again: and the rest of %s, whose goroutines nobody has counted\n", p.name)
	if r := goTest(out, with(flags, "-skip", tests...), p.name); !r.ok() {
		lost = append(lost, fmt.Sprintf("\nFAILED: the rest of %s, when it was run again after %s:\n%s", p.name, strings.Join(tests, ", "), r.end()))
	}
	return forgiven, lost
}

// with returns the flags with a choice of tests, which replaces one that is
// there. A result of before does not count: the cache keeps those that passed.
func with(flags []string, choice string, tests ...string) []string {
	quoted := make([]string, len(tests))
	for i, test := range tests {
		quoted[i] = regexp.QuoteMeta(test)
	}
	return append(append([]string{}, flags...), "-count=1", choice, "^("+strings.Join(quoted, "|")+")$")
}
