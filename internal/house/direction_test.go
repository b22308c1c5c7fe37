package house

import (
	"slices"
	"strconv"
	"strings"
)

var directionRules = []rule{{
	name: "the library imports the standard library only",
	why: "whoever imports Kalan to protect one call must not inherit a client, a parser or a metrics library with it, nor their " +
		"security notices. What needs a dependency lives in adapters/ or cmd/ (docs/adr/0008).",
	check: eachImport(func(r *room, target string) string {
		if r.module() == "" && !isStandard(target) && !isOurs(target) {
			return "the library may not depend on " + target
		}
		return ""
	}),
	bad: []string{
		"-- kalan.go --\npackage kalan\nimport \"go.uber.org/goleak\"\n",
		"-- kalanhttp/x.go --\npackage kalanhttp\nimport \"golang.org/x/net/http2\"\n",
		"-- internal/x/x.go --\npackage x\nimport \"pgregory.net/rapid\"\n",
	},
	good: "-- kalanhttp/x.go --\npackage kalanhttp\nimport (\n\"net/http\"\n\"github.com/kalan-go/kalan\"\n)\n" +
		"-- kalanhttp/x_test.go --\npackage kalanhttp\nimport \"go.uber.org/goleak\"\n" +
		"-- cmd/x/x.go --\npackage x\nimport \"github.com/spf13/cobra\"\n",
}, {
	name: "imports point inwards",
	why: "policy <- kalan <- adapters <- cmd. An arrow the other way makes a circle of what should be replaceable parts: " +
		"a policy that knows its driver cannot be simulated, an adapter that knows another cannot be used alone (ARCHITECTURE.md).",
	check: eachImport(outwards),
	bad: []string{
		"-- kalanhttp/x.go --\npackage kalanhttp\nimport \"github.com/kalan-go/kalan/cmd/x\"\n",
		"-- kalan.go --\npackage kalan\nimport \"github.com/kalan-go/kalan/kalanhttp\"\n",
		"-- kalan.go --\npackage kalan\nimport \"github.com/kalan-go/kalan/sim\"\n",
		"-- kalanhttp/x.go --\npackage kalanhttp\nimport \"github.com/kalan-go/kalan/kalansql\"\n",
		"-- adapters/kalangrpc/x.go --\npackage kalangrpc\nimport \"github.com/kalan-go/kalan/adapters/kalanredis\"\n",
		"-- adapters/kalangrpc/x.go --\npackage kalangrpc\nimport \"github.com/kalan-go/kalan/cmd/x\"\n",
	},
	good: "-- cmd/internal/gateway/x.go --\npackage gateway\nimport (\n\"github.com/kalan-go/kalan\"\n\"github.com/kalan-go/kalan/adapters/kalanprom\"\n)\n" +
		"-- adapters/kalangrpc/x.go --\npackage kalangrpc\nimport \"github.com/kalan-go/kalan\"\n" +
		"-- kalan.go --\npackage kalan\nimport \"github.com/kalan-go/kalan/policy/stack\"\n",
}, {
	name: "the simulator never meets the driver",
	why: "sim runs the machines on a virtual clock. One import of package kalan and a simulated call could wait in real time, " +
		"and the simulation would no longer be the same machine under another clock (docs/adr/0001). It stands on policy, plan and internal, " +
		"which stand on nothing that waits.",
	check: eachImport(func(r *room, target string) string {
		dir, ours := strings.CutPrefix(target+"/", module+"/")
		first, _, _ := strings.Cut(dir, "/")
		if (r.in("sim") || r.in("plan") || r.in("internal")) && ours && !slices.Contains(timeless, first) {
			return r.dir + " may not import " + target
		}
		return ""
	}),
	bad: []string{
		"-- sim/x.go --\npackage sim\nimport \"github.com/kalan-go/kalan\"\n",
		"-- sim/walk/x.go --\npackage walk\nimport \"github.com/kalan-go/kalan/cut\"\n",
		"-- internal/x/x.go --\npackage x\nimport \"github.com/kalan-go/kalan\"\n",
	},
	good: "-- sim/x.go --\npackage sim\nimport \"github.com/kalan-go/kalan/policy/stack\"\n-- sim/x_test.go --\npackage sim\nimport \"github.com/kalan-go/kalan\"\n",
}}

// timeless are the first folders of what the simulator may import.
var timeless = []string{"policy", "plan", "sim", "internal"}

// eachImport asks judge about every import of the code that is not a test.
func eachImport(judge func(*room, string) string) func(*room, *report) {
	return func(r *room, out *report) {
		for _, s := range r.code() {
			for _, spec := range s.file.Imports {
				target, _ := strconv.Unquote(spec.Path.Value)
				if wrong := judge(r, target); wrong != "" {
					out.add(spec.Pos(), "%s", wrong)
				}
			}
		}
	}
}

// outwards says what is wrong with an import of the house's own that leads to
// a room further out, or to a neighbour.
func outwards(r *room, target string) string {
	dir, ours := strings.CutPrefix(target, module+"/")
	if !ours {
		return ""
	}
	to := &room{dir: dir}
	switch {
	case to.module() != "" && r.module() == "":
		return "the library may not import the " + to.module() + " module"
	case r.module() == "adapters" && (to.module() == "cmd" || to.module() == "bench"):
		return "adapters may not import the " + to.module() + " module"
	case isAdapter(dir) && r.module() != "cmd" && r.module() != "bench" && !r.in(dir):
		return "only cmd and bench put adapters together; " + r.dir + " may not import " + dir
	case r.dir == "" && !strings.HasPrefix(dir, "policy") && !strings.HasPrefix(dir, "internal/"):
		return "package kalan stands on policy alone; it may not import " + dir
	}
	return ""
}

// isAdapter reports whether the directory is an adapter to somebody's client.
func isAdapter(dir string) bool {
	return strings.HasPrefix(strings.TrimPrefix(dir, "adapters/"), "kalan")
}

// isStandard reports whether the import path is one of the standard library's:
// those have no dot in the first element.
func isStandard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return !strings.Contains(first, ".")
}

func isOurs(target string) bool {
	dir, ours := strings.CutPrefix(target+"/", module+"/")
	first, _, _ := strings.Cut(dir, "/")
	return ours && !slices.Contains(nested, first)
}
