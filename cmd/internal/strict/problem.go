package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kalan-go/kalan/policy"
)

// A Position is a place in a file. Lines and columns count from 1, columns in
// characters.
type Position struct {
	File         string
	Line, Column int
}

// String returns "file:line:column", which editors and terminals can follow.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// A Problem is one thing that is wrong with a file, where, and what to write
// instead.
type Problem struct {
	Position
	policy.Problem
}

// String returns "file:line:column: path: text".
func (p Problem) String() string {
	if p.Warning {
		return p.Position.String() + ": warning: " + p.Problem.String()
	}
	return p.Position.String() + ": " + p.Problem.String()
}

// Problems is everything that is wrong with a file.
type Problems []Problem

// Split returns the errors and the warnings apart.
func (ps Problems) Split() (errs, warnings Problems) {
	for _, p := range ps {
		if p.Warning {
			warnings = append(warnings, p)
		} else {
			errs = append(errs, p)
		}
	}
	return errs, warnings
}

// Err returns nil when no problem is more than a warning, and otherwise the
// errors as one error.
func (ps Problems) Err() error {
	if errs, _ := ps.Split(); len(errs) > 0 {
		return errs
	}
	return nil
}

// shown is how many problems are printed: more than anybody works through
// before the next run, less than drowns a terminal.
const shown = 200

// Error lists the problems, one a line, and counts those beyond the first 200.
func (ps Problems) Error() string {
	var lines []string
	for _, p := range ps[:min(len(ps), shown)] {
		lines = append(lines, p.String())
	}
	if rest := len(ps) - shown; rest > 0 {
		lines = append(lines, fmt.Sprintf("and %d more problems", rest))
	}
	return strings.Join(lines, "\n")
}

// Sort orders the problems by position; those at one place stay as they were
// found.
func (ps Problems) Sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int { return a.Position.compare(b.Position) })
}
