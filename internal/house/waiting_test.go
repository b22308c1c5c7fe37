package house

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// waits are the names of package time by which code waits or is woken.
var waits = []string{"Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc"}

// sockets are the functions that open a real one.
var sockets = map[string][]string{
	"net":               {"Listen", "ListenTCP", "ListenUDP", "ListenPacket", "Dial", "DialTimeout", "DialTCP", "DialUDP"},
	"net/http/httptest": {"NewServer", "NewTLSServer", "NewUnstartedServer"},
}

var waitingRules = []rule{{
	name: "whoever waits lives in hold.go",
	why: "every race of the library is then at one address: one file to read when a wake-up is lost, one to check when a caller " +
		"leaves while it is granted a slot. Declare here what is to be awaited, and let a hold*.go file wait.",
	check: func(r *room, out *report) {
		if r.dir != "" {
			return
		}
		for _, s := range r.code() {
			if !strings.HasPrefix(path.Base(s.path), "hold") {
				running(s, out)
				waitsByTheClock(s, out)
			}
		}
	},
	bad: []string{
		"-- kalan.go --\npackage kalan\nimport \"time\"\nvar f = time.NewTimer\n",
		"-- kalan.go --\npackage kalan\nfunc f(c chan int) { select { case <-c: } }\n",
		"-- rejection.go --\npackage kalan\nfunc f() { go f() }\n",
	},
	good: "-- hold.go --\npackage kalan\nimport \"time\"\nfunc f() { select { case <-time.After(1): } }\n" +
		"-- hold_ghost.go --\npackage kalan\nfunc g() { go g() }\n" +
		"-- kalan.go --\npackage kalan\nimport \"time\"\nvar epoch = time.Now()\ntype guard struct { wakes []chan struct{}; timer *time.Timer }\n",
}, {
	name: "tests do not sleep",
	why: "a sleep in a test is a guess about a busy machine: too short and it fails by night, too long and nobody runs it. Sleep inside " +
		"synctest.Test, or in a function that is called from there alone, where time is exact and free; on a real socket wait for the thing itself.",
	check: func(r *room, out *report) {
		inside := bubbles(r)
		for _, s := range r.tests() {
			sleeps(s, inside, out)
		}
	},
	bad: []string{
		"-- x_test.go --\npackage x\nimport \"time\"\nfunc f() { time.Sleep(1) }\n",
		"-- x_test.go --\npackage x\nimport clock \"time\"\nvar nap = clock.Sleep\n",
		"-- x_test.go --\npackage x\nimport \"time\"\nfunc f() { <-time.After(1) }\n",
		"-- x_test.go --\npackage x\nimport (\"time\"; \"testing\")\nfunc f(t *testing.T) { t.Run(\"x\", func(t *testing.T) { time.Sleep(1) }) }\n",
		"-- x_test.go --\npackage x\nimport (\"time\"; \"testing\"; \"testing/synctest\")\nfunc f(t *testing.T) { synctest.Test(t, func(t *testing.T) { nap() }); nap() }\nfunc nap() { time.Sleep(1) }\n",
	},
	good: "-- x_test.go --\npackage x\nimport (\"time\"; \"testing\"; \"testing/synctest\")\nfunc f(t *testing.T) { synctest.Test(t, func(t *testing.T) { go func() { time.Sleep(1) }() }) }\n" +
		"-- z_test.go --\npackage x\nimport (\"time\"; \"testing\"; \"testing/synctest\")\nfunc h(t *testing.T) { synctest.Test(t, func(t *testing.T) { deep() }) }\nfunc deep() { nap() }\nfunc nap() { time.Sleep(1) }\n" +
		"-- y_test.go --\npackage x\nimport \"time\"\nfunc g(c chan int) { select { case <-c: case <-time.After(1): panic(\"no answer\") } }\n",
}, {
	name: "no real socket inside a bubble",
	why: "a goroutine that waits for the kernel is not durably blocked, so the bubble's clock stands still and the test hangs or " +
		"measures nothing. Use net.Pipe inside synctest.Test, or leave the bubble.",
	check: func(r *room, out *report) {
		inside := bubbles(r)
		for _, s := range r.tests() {
			for target, names := range sockets {
				opened(s, inside, target, names, out)
			}
		}
	},
	bad: []string{"-- x_test.go --\npackage x\nimport (\"net\"; \"testing\"; \"testing/synctest\")\nfunc f(t *testing.T) { synctest.Test(t, func(t *testing.T) { net.Listen(\"tcp\", \"\") }) }\n"},
	good: "-- x_test.go --\npackage x\nimport (\"net\"; \"testing\"; \"testing/synctest\")\nfunc f(t *testing.T) { synctest.Test(t, func(t *testing.T) { net.Pipe() }) }\n" +
		"func g() { net.Listen(\"tcp\", \"\") }\n",
}, {
	name: "a skipped test says why",
	why:  "a skip without a reason is a test that nobody will ever bring back. Write t.Skip(\"what is missing, and how to get it\").",
	check: eachTest(func(s *source, out *report) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if ok && (sel.Sel.Name == "SkipNow" || sel.Sel.Name == "Skip" && len(call.Args) == 0) {
				out.add(n.Pos(), "%s without a reason", sel.Sel.Name)
			}
			return true
		})
	}),
	bad: []string{
		"-- x_test.go --\npackage x\nimport \"testing\"\nfunc f(t *testing.T) { t.SkipNow() }\n",
		"-- x_test.go --\npackage x\nimport \"testing\"\nfunc f(t *testing.T) { t.Skip() }\n",
	},
	good: "-- x_test.go --\npackage x\nimport \"testing\"\nfunc f(t *testing.T) { t.Skip(\"needs a redis-server: apt-get install redis-server\") }\n",
}}

func eachTest(check func(*source, *report)) func(*room, *report) {
	return func(r *room, out *report) {
		for _, s := range r.tests() {
			check(s, out)
		}
	}
}

func waitsByTheClock(s *source, out *report) {
	uses(s, "time", func(sel *ast.SelectorExpr) {
		if slices.Contains(waits, sel.Sel.Name) {
			out.add(sel.Pos(), "time.%s", sel.Sel.Name)
		}
	})
}

// sleeps reports what waits for nothing but the real clock.
func sleeps(s *source, inside regions, out *report) {
	name := s.local("time")
	if name == "" {
		return
	}
	choices := make(map[ast.Stmt]bool) // what a select chooses from: a limit to a wait, not a sleep
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CommClause:
			choices[n.Comm] = true
		case *ast.SelectorExpr:
			if isIdent(n.X, name) && n.Sel.Name == "Sleep" && !inside.contain(n) {
				out.add(n.Pos(), "time.Sleep")
			}
		case *ast.ExprStmt:
			if !choices[n] && receivesFromAfter(n.X, name) && !inside.contain(n) {
				out.add(n.Pos(), "a sleep, written as a receive from time.After")
			}
		}
		return true
	})
}

// receivesFromAfter reports whether the expression is <-time.After(...).
func receivesFromAfter(e ast.Expr, time string) bool {
	receive, ok := e.(*ast.UnaryExpr)
	if !ok || receive.Op != token.ARROW {
		return false
	}
	call, ok := receive.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && isIdent(sel.X, time) && sel.Sel.Name == "After"
}

func opened(s *source, inside regions, target string, names []string, out *report) {
	uses(s, target, func(sel *ast.SelectorExpr) {
		if slices.Contains(names, sel.Sel.Name) && inside.contain(sel) {
			out.add(sel.Pos(), "%s.%s", target, sel.Sel.Name)
		}
	})
}
