package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// A rule is something that holds in every room, and why.
type rule struct {
	name  string
	why   string
	check func(*room, *report)
	// bad are samples that break the rule, each by itself; good one that is
	// near to it and keeps it.
	bad  []string
	good string
}

// A report collects where a rule is broken.
type report struct {
	fset  *token.FileSet
	found []string
}

func (r *report) add(at token.Pos, format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf("%s: %s", r.fset.Position(at), fmt.Sprintf(format, args...)))
}

// in reports what is wrong with the room as a whole.
func (r *report) in(room *room, format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf("%s/: %s", room.dir, fmt.Sprintf(format, args...)))
}

func (r rule) over(h *house) []string {
	broken := report{fset: h.fset}
	for _, room := range h.rooms {
		r.check(room, &broken)
	}
	return broken.found
}

// rules returns every rule that needs nothing but the syntax.
func rules() []rule {
	var all []rule
	for _, some := range [][]rule{purityRules, directionRules, waitingRules, shapeRules} {
		all = append(all, some...)
	}
	return all
}

func TestTheHouseKeepsItsRules(t *testing.T) {
	h := standing(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			if found := r.over(h); len(found) > 0 {
				t.Errorf("%s\n\nWhy: %s", strings.Join(found, "\n"), r.why)
			}
		})
	}
}

func TestEveryRuleStillSees(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			if len(r.bad) == 0 || r.good == "" || r.why == "" {
				t.Fatal("a rule states its reason, shows what breaks it, and shows what keeps it")
			}
			for _, text := range r.bad {
				if len(r.over(sample(t, text))) == 0 {
					t.Errorf("nothing found in\n%s", text)
				}
			}
			if found := r.over(sample(t, r.good)); len(found) > 0 {
				t.Errorf("found %v in\n%s", found, r.good)
			}
		})
	}
}

// calls calls visit for every use of a name of the package at target.
func uses(s *source, target string, visit func(*ast.SelectorExpr)) {
	name := s.local(target)
	if name == "" {
		return
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && isIdent(sel.X, name) {
			visit(sel)
		}
		return true
	})
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
