// Package overload puts gateways under more load than their upstream can serve
// and tells what came of it: for `make bench-overload`, where Kalan stands
// beside others in one run, and for a smoke test.
//
// A case is what an operator is afraid of: twice the load, callers who retry, an
// upstream that slows down, one tenant that floods. Its figures are fractions
// of what the upstream could have served, so that they mean the same on a slow
// machine, and each has a mark that Kalan has to reach with no number
// configured. The generator is an open loop (package openloop), the upstream has
// a fixed capacity (package backend), and both should have the processor before
// everybody else (`chrt -r 1`), or it is the machine that is measured.
//
// When not to use it: to find how many requests a second a gateway can pass on.
package overload

import (
	"time"

	"github.com/kalan-go/kalan/cmd/internal/overload/backend"
)

// A Case is a load and what is to be seen under it.
type Case struct {
	Name string
	// About says what happens in it, in one line.
	About string
	// Setting is what the upstream begins with.
	Setting backend.Setting
	// Callers are the kinds of callers there are.
	Callers []Callers
	// Retries is how often each of them asks again.
	Retries int
	// Stages follow one another.
	Stages []Stage
	// Direct compares the first stage with the upstream itself.
	Direct bool
	// Judge tells the figures.
	Judge func(*Run) []Figure
}

// Callers are one kind of callers.
type Callers struct {
	Share            float64
	Deadline         time.Duration
	Tenant, Priority string
}

// A Stage is a stretch of one load.
type Stage struct {
	// Load is in parts of the capacity that the case begins with.
	Load float64
	For  time.Duration
	// Rest lets the stage begin with an upstream that has nothing to do.
	Rest bool
	// Setting changes the upstream as the stage begins; zero leaves it.
	Setting backend.Setting
}

// A Figure is what a case comes to.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Mark is to be reached: at least, or with Most at most.
	Mark float64 `json:"mark"`
	Most bool    `json:"most"`
	// Unit is printed behind the value: "%", "ms" or "s".
	Unit string `json:"unit"`
}

// Reached reports whether the figure is as good as its mark.
func (f Figure) Reached() bool {
	if f.Most {
		return f.Value <= f.Mark
	}
	return f.Value >= f.Mark
}

func least(name string, part, mark float64) Figure {
	return Figure{Name: name, Value: 100 * part, Mark: mark, Unit: "%"}
}

func most(name string, value, mark float64, unit string) Figure {
	return Figure{Name: name, Value: value, Mark: mark, Most: true, Unit: unit}
}

var (
	usual  = backend.Setting{Workers: 4, Service: 20 * time.Millisecond} // 200 a second
	slow   = backend.Setting{Workers: 4, Service: 80 * time.Millisecond}
	wide   = backend.Setting{Workers: 8, Service: 20 * time.Millisecond} // 400 a second
	narrow = backend.Setting{Workers: 2, Service: 20 * time.Millisecond}
	long   = backend.Setting{Workers: 8, Service: 80 * time.Millisecond}
)

var alike = []Callers{{Share: 1, Deadline: 200 * time.Millisecond}}

// Cases are all there are.
func Cases() []Case {
	return []Case{{
		Name: "light", About: "below capacity", Setting: usual, Callers: alike, Direct: true,
		Stages: []Stage{{Load: .5, For: 6 * time.Second, Rest: true}, {Load: .9, For: 6 * time.Second, Rest: true}},
		Judge:  judgeLight,
	}, {
		Name: "overload", About: "1.5x, 2x and 4x of capacity", Setting: usual, Callers: alike,
		Stages: []Stage{{Load: 1.5, For: 8 * time.Second, Rest: true}, {Load: 2, For: 8 * time.Second, Rest: true}, {Load: 4, For: 8 * time.Second, Rest: true}},
		Judge:  judgeOverload,
	}, {
		Name: "retries", About: "the same with 3 retries of each caller, then back to .7x", Setting: usual, Callers: alike, Retries: 3,
		Stages: []Stage{
			{Load: 1.5, For: 8 * time.Second, Rest: true}, {Load: .7, For: 5 * time.Second},
			{Load: 2, For: 8 * time.Second, Rest: true}, {Load: .7, For: 5 * time.Second},
			{Load: 4, For: 8 * time.Second, Rest: true}, {Load: .7, For: 5 * time.Second},
		},
		Judge: judgeRetries,
	}, {
		Name: "brown-out", About: "service 20 to 80 ms and back at 140 a second", Setting: usual, Callers: alike,
		Stages: []Stage{{Load: .7, For: 5 * time.Second, Rest: true}, {Load: .7, For: 10 * time.Second, Setting: slow}, {Load: .7, For: 6 * time.Second, Setting: usual}},
		Judge:  judgeBrownOut,
	}, {
		Name: "deadlines", About: "80 and 400 ms mixed at 2x", Setting: usual,
		Callers: []Callers{{Share: .5, Deadline: 80 * time.Millisecond}, {Share: .5, Deadline: 400 * time.Millisecond}},
		Stages:  []Stage{{Load: 2, For: 12 * time.Second, Rest: true}},
		Judge:   judgeKind("80 ms class served", 43),
	}, {
		Name: "priority", About: "critical 20 %, bulk 80 % at 2x", Setting: usual,
		Callers: []Callers{{Share: .2, Deadline: 200 * time.Millisecond, Priority: "critical"}, {Share: .8, Deadline: 200 * time.Millisecond, Priority: "bulk"}},
		Stages:  []Stage{{Load: 2, For: 12 * time.Second, Rest: true}},
		Judge:   judgeKind("critical served", 99),
	}, {
		Name: "tenants", About: "quiet 10 %, noisy 90 % at 2x", Setting: usual,
		Callers: []Callers{{Share: .1, Deadline: 200 * time.Millisecond, Tenant: "quiet"}, {Share: .9, Deadline: 200 * time.Millisecond, Tenant: "noisy"}},
		Stages:  []Stage{{Load: 2, For: 12 * time.Second, Rest: true}},
		Judge:   judgeKind("quiet served", 95),
	}, {
		Name: "leavers", About: "clients leave at their deadline at 4x, the upstream works on; then .7x", Setting: usual, Callers: alike,
		Stages: []Stage{{Load: 4, For: 8 * time.Second, Rest: true}, {Load: .7, For: 6 * time.Second}},
		Judge:  judgeLeavers,
	}, {
		Name: "service", About: "capacity 400 > 100 > 400 by service time, at 600 a second", Setting: wide, Callers: alike,
		Stages: []Stage{{Load: 1.5, For: 8 * time.Second, Rest: true}, {Load: 1.5, For: 10 * time.Second, Setting: long}, {Load: 1.5, For: 10 * time.Second, Setting: wide}},
		Judge:  judgeChange,
	}, {
		Name: "workers", About: "capacity 400 > 100 > 400 by workers, at 600 a second", Setting: wide, Callers: alike,
		Stages: []Stage{{Load: 1.5, For: 8 * time.Second, Rest: true}, {Load: 1.5, For: 10 * time.Second, Setting: narrow}, {Load: 1.5, For: 10 * time.Second, Setting: wide}},
		Judge:  judgeChange,
	}}
}
