package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// A round is one run of go test.
type round struct {
	out    io.Writer
	err    error // how go test ended
	byName map[string]*tested
	all    []*tested
	builds strings.Builder // what the compiler said
}

// An event is a line of go test -json; go doc test2json and go help buildjson
// say what its fields mean.
type event struct {
	Action, Package, Test, Output, FailedBuild string
}

// goTest runs go test and prints what it prints without -json: a line of every
// package, and of those that failed what they wrote.
func goTest(out io.Writer, flags []string, packages string) *round {
	r := &round{out: out, byName: make(map[string]*tested)}
	command := exec.Command("go", append(append([]string{"test", "-json"}, flags...), packages)...)
	command.Stderr = os.Stderr
	lines, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		r.err = err
		return r
	}
	r.read(lines)
	r.err = command.Wait()
	return r
}

// read takes the events. A line that is none is printed as it is.
func (r *round) read(lines io.Reader) {
	in := bufio.NewReader(lines)
	for {
		line, err := in.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			r.take(e)
		} else {
			r.out.Write(line)
		}
		if err != nil {
			return
		}
	}
}

func (r *round) take(e event) {
	if e.Action == "build-output" {
		r.builds.WriteString(e.Output)
		io.WriteString(r.out, e.Output)
	}
	if e.Package == "" {
		return
	}
	p := r.byName[e.Package]
	if p == nil {
		p = &tested{name: e.Package, state: make(map[string]string)}
		r.byName[e.Package] = p
		r.all = append(r.all, p)
	}
	if p.take(e) {
		io.WriteString(r.out, p.told())
	}
}

// ok reports whether every test passed.
func (r *round) ok() bool { return r.err == nil }

// failed returns the packages that failed.
func (r *round) failed() (failed []*tested) {
	for _, p := range r.all {
		if p.state[""] == "fail" {
			failed = append(failed, p)
		}
	}
	return failed
}

// refusals returns why nothing is run again, with what there is to see of it:
// nothing when every failure may have been bad luck.
func (r *round) refusals() (why []string) {
	tests, refused := 0, len(r.failed()) == 0
	for _, p := range r.failed() {
		reason := p.refusal()
		tests += len(p.failures())
		refused = refused || reason != ""
		why = append(why, fmt.Sprintf("\nFAILED, and not run again: %s%s\n%s", p.name, reason, p.end("")))
	}
	if tests > mostAgain {
		why = append(why, fmt.Sprintf("\nFAILED: %d tests, which is more than bad luck\n", tests))
	} else if !refused {
		return nil
	}
	return append(why, fmt.Sprintf("\n%sgo test: %v\n", shorten(r.builds.String()), r.err))
}

// end returns what of the failures is told at the end.
func (r *round) end() string {
	text := shorten(r.builds.String())
	for _, p := range r.failed() {
		text += p.end("")
	}
	return fmt.Sprintf("%sgo test: %v\n", text, r.err)
}
