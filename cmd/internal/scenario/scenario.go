// Package scenario reads the files that `kalan simulate` plays: a call chain
// that is walked (kind: walk), or a system that is rehearsed (kind: events).
//
// It puts together what others know: strict how a file is read, sim and walk
// what the values mean, config how a kalan.yaml is read that a scenario refers
// to. One Read reports everything that all of them find, each with its place.
//
// A service with `kalan: FILE` is a gateway with that configuration. Its
// upstreams become the guards before the services of the same names; workers,
// accept, deadline.margin and the routes' promises become those of the service,
// where the scenario does not say otherwise. The file is looked for beside the
// scenario.
package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/walk"
)

// A File is a scenario of one kind or the other.
type File struct {
	// Walk is set when the kind is walk, Events when it is events.
	Walk   *walk.Scenario
	Events *sim.Scenario
}

// Read reads a scenario whose text is the content of the file of that name, and
// returns it with everything that is wrong with it, by position. With an error
// among the problems it must not be played.
func Read(name string, text []byte) (File, strict.Problems) {
	// The kind comes first: what a key means, and whether it exists, depends on
	// it.
	var head struct {
		Kind string `yaml:"kind"`
	}
	doc, _ := strict.Decode(name, text, &head)
	switch head.Kind {
	case walk.Kind:
		return readWalk(name, text)
	case sim.Kind:
		return readEvents(name, text)
	}
	// All mistakes are told at once, also here: those of the kind whose keys it
	// has.
	read := readEvents
	_, events := strict.Decode(name, text, &sim.Scenario{})
	if _, walks := strict.Decode(name, text, &walk.Scenario{}); len(walks) < len(events) {
		read = readWalk
	}
	f, found := read(name, text)
	if said := func(p strict.Problem) bool { return p.Path == "kind" || p.Path == "" }; !slices.ContainsFunc(found, said) {
		found = append(found, strict.Problem{Position: doc.Locate("kind"), Problem: policy.Problem{Path: "kind", Text: unkind(head.Kind)}})
		found.Sort()
	}
	return f, found
}

// unkind says what a kind that there is not should be.
func unkind(kind string) string {
	said := fmt.Sprintf("%.40q is not a kind of scenario", kind)
	if kind == "" {
		said = "is missing"
	}
	return fmt.Sprintf("%s; write %s for a system under load, or %s for requests along a call chain", said, sim.Kind, walk.Kind)
}

func readWalk(name string, text []byte) (File, strict.Problems) {
	var s walk.Scenario
	doc, found := strict.Decode(name, text, &s)
	s.Kind = walk.Kind // whoever read the head has seen to that
	found = append(found, doc.Place(s.Validate())...)
	found.Sort()
	return File{Walk: &s}, found
}

func readEvents(name string, text []byte) (File, strict.Problems) {
	var s sim.Scenario
	doc, found := strict.Decode(name, text, &s)
	s.Kind = sim.Kind
	noteZeros(doc, &s)
	r := resolver{beside: name, doc: doc, read: map[string]gateway{}}
	r.all(&s)
	found = append(found, r.found...)
	for _, p := range doc.Place(s.Validate()) {
		// A warning about what a kalan.yaml says, or about a default, is not
		// this file's.
		if !p.Warning || doc.Written(p.Path) {
			found = append(found, p)
		}
	}
	found.Sort()
	return File{Events: &s}, found
}

// noteZeros tells the arms which zeros were written in them.
func noteZeros(doc *strict.Doc, s *sim.Scenario) {
	for i := range s.Arms {
		a := &s.Arms[i]
		under := keys.Join("arms", a.Name) + "."
		for _, path := range doc.Paths() {
			if below, in := strings.CutPrefix(path, under); in && doc.WrittenZero(path) {
				a.Zeros = append(a.Zeros, below)
			}
		}
	}
}
