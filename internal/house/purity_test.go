package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// pure are the packages of the standard library that a policy may import:
// none of them waits, reads a clock, or keeps anything that is shared.
var pure = []string{
	"cmp", "errors", "fmt", "iter", "math", "math/bits", "math/rand/v2",
	"slices", "sort", "strconv", "strings", "time", "unicode/utf8",
}

// vocabulary are the packages of the house that every policy may import.
var vocabulary = []string{module + "/policy", module + "/policy/span"}

// timeNames are the names of package time that say how long, and none that
// says when or waits.
var timeNames = []string{
	"Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour", "ParseDuration",
}

// randNames are the names of math/rand/v2 that need a source of one's own.
var randNames = []string{"Rand", "New", "Source", "PCG", "NewPCG", "ChaCha8", "NewChaCha8", "Zipf", "NewZipf"}

const whyPure = "a policy is told the time and never waits. That is why the gateway and the simulator can run the same machine, " +
	"and why its tests are instant. Take now as an argument, return when to ask again, and let hold.go wait (docs/adr/0001)."

var purityRules = []rule{{
	name:  "policies import pure packages only",
	why:   whyPure + " A package that belongs on the list goes into internal/house/purity_test.go with the reason in the commit.",
	check: eachPolicy(impureImports),
	bad: []string{
		"-- policy/x/x.go --\npackage x\nimport \"os\"\nvar _ = os.Args\n",
		"-- policy/x/x.go --\npackage x\nimport \"sync\"\nvar _ sync.Mutex\n",
		"-- policy/x/x.go --\npackage x\nimport . \"strings\"\nvar _ = Repeat\n",
		"-- policy/x/x.go --\npackage x\nimport \"github.com/kalan-go/kalan\"\nvar _ = kalan.New\n",
		"-- policy/x/x.go --\npackage x\nimport \"example.com/y\"\nvar _ = y.Z\n",
		"-- policy/x.go --\npackage policy\nimport \"github.com/kalan-go/kalan/policy/breaker\"\nvar _ = breaker.New\n",
		"-- policy/retry/x.go --\npackage retry\nimport \"github.com/kalan-go/kalan/policy/breaker\"\nvar _ = breaker.New\n",
	},
	good: "-- policy/retry/x.go --\npackage retry\nimport (\n\"math\"\n\"github.com/kalan-go/kalan/policy\"\n\"github.com/kalan-go/kalan/policy/budget\"\n)\n" +
		"-- policy/stack/x.go --\npackage stack\nimport \"github.com/kalan-go/kalan/policy/breaker\"\n" +
		"-- policy/x/x_test.go --\npackage x\nimport \"os\"\n" +
		"-- hold.go --\npackage kalan\nimport \"sync\"\n",
}, {
	name:  "policies start nothing and wait for nothing",
	why:   whyPure,
	check: eachPolicy(concurrency),
	bad: []string{
		"-- policy/x/x.go --\npackage x\nfunc f() { go f() }\n",
		"-- policy/x/x.go --\npackage x\ntype t struct { c chan int }\n",
		"-- policy/x/x.go --\npackage x\nfunc f() { select {} }\n",
	},
	good: "-- policy/x/x.go --\npackage x\nfunc f() { switch {} }\n-- policy/x/x_test.go --\npackage x\nfunc g() { go g() }\n",
}, {
	name:  "policies read no clock",
	why:   whyPure + " Of package time a policy may name lengths (" + strings.Join(timeNames, ", ") + ").",
	check: eachPolicy(namesOutside("time", timeNames)),
	bad: []string{
		"-- policy/x/x.go --\npackage x\nimport \"time\"\nvar start = time.Now()\n",
		"-- policy/x/x.go --\npackage x\nimport clock \"time\"\nvar f = clock.Since\n",
		"-- policy/x/x.go --\npackage x\nimport \"time\"\nfunc f() { <-time.After(time.Second) }\n",
		"-- policy/x/x.go --\npackage x\nimport \"time\"\ntype t struct { at time.Time; timer *time.Timer }\n",
	},
	good: "-- policy/x/x.go --\npackage x\nimport \"time\"\nconst least = 2 * time.Second\nfunc f(d time.Duration) float64 { return d.Seconds() }\n",
}, {
	name:  "policies draw from their own source",
	why:   "results depend on configuration, verbs, times and seeds alone, or a run cannot be repeated. Give the machine a seed and keep a rand.PCG in it.",
	check: eachPolicy(namesOutside("math/rand/v2", randNames)),
	bad:   []string{"-- policy/x/x.go --\npackage x\nimport \"math/rand/v2\"\nvar f = rand.Float64()\n"},
	good:  "-- policy/x/x.go --\npackage x\nimport \"math/rand/v2\"\nfunc f(seed uint64) float64 { return rand.New(rand.NewPCG(seed, 0)).Float64() }\n",
}}

// eachPolicy applies check to the code of the rooms below policy.
func eachPolicy(check func(*room, *source, *report)) func(*room, *report) {
	return func(r *room, out *report) {
		if !r.in("policy") {
			return
		}
		for _, s := range r.code() {
			check(r, s, out)
		}
	}
}

func impureImports(r *room, s *source, out *report) {
	for _, spec := range s.file.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name != nil && spec.Name.Name == "." {
			out.add(spec.Pos(), "dot import of %s hides where its names come from", target)
		}
		if !mayImport(r.dir, target) {
			out.add(spec.Pos(), "%s may not import %s", r.dir, target)
		}
	}
}

func mayImport(dir, target string) bool {
	switch {
	case slices.Contains(pure, target):
		return true
	case dir == "policy/span":
		return false
	case dir == "policy":
		return target == module+"/policy/span"
	case slices.Contains(vocabulary, target):
		return true
	case dir == "policy/retry":
		return target == module+"/policy/budget"
	case dir == "policy/stack":
		return strings.HasPrefix(target, module+"/policy/")
	}
	return false
}

func concurrency(_ *room, s *source, out *report) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if n, ok := n.(*ast.ChanType); ok {
			out.add(n.Pos(), "channel")
		}
		return true
	})
	running(s, out)
}

// running reports what starts a goroutine or waits for one.
func running(s *source, out *report) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out.add(n.Pos(), "go statement")
		case *ast.SelectStmt:
			out.add(n.Pos(), "select")
		case *ast.SendStmt:
			out.add(n.Pos(), "send")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				out.add(n.Pos(), "receive")
			}
		}
		return true
	})
}

// namesOutside reports the names of a package that are not on the list.
func namesOutside(target string, list []string) func(*room, *source, *report) {
	return func(_ *room, s *source, out *report) {
		uses(s, target, func(sel *ast.SelectorExpr) {
			if !slices.Contains(list, sel.Sel.Name) {
				out.add(sel.Pos(), "%s.%s", target, sel.Sel.Name)
			}
		})
	}
}
