package main

import (
	"fmt"
	"io"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/config"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/internal/nearest"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/internal/travel"
	"github.com/kalan-go/kalan/plan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
)

// inFile says of the flags that a file stands for where it does. They are
// refused beside one and do not override it: what is planned is what the gateway
// does, and the flags are there to plan what no file says yet.
var inFile = [...]struct{ flag, says string }{
	{"budget", "the file says it: promise of a route, or deadline.default"},
	{"share", "the file says it: deadline.margin"},
	{"depth", "a route is one step"},
	{"attempts", "the file says it: retry.attempts of an upstream"},
	{"p99", "the file says what follows from it: exchange of an upstream"},
	{"layers", "the file is one layer"},
}

// A filePlan divides the promises of a file's routes.
type filePlan struct {
	only   settings.Match // the zero Match: every route
	median time.Duration
	routes []routePlan
}

// A routePlan is what the file says of a route, and what that comes to.
type routePlan struct {
	settings.Route
	plan.Division
	says plan.Route
}

// runPlanFile plans what a kalan.yaml says. Given reports which flags were.
func runPlanFile(out io.Writer, flags planFlags, given func(flag string) bool) error {
	p, problems := flags.filePlan(given)
	if len(problems) > 0 {
		return failure{problems, statusBad}
	}
	file, warnings, err := config.Load(flags.config, p.divide)
	if err != nil {
		return failure{named(err), statusBad}
	}
	if len(p.routes) == 0 {
		return failure{p.nowhere(file.Routes), statusBad}
	}
	if flags.format == "json" {
		return writeJSON(out, p.document(warnings))
	}
	return p.write(out, flags.config, warnings)
}

// filePlan reads the flags that stand beside a file.
func (flags planFlags) filePlan(given func(flag string) bool) (*filePlan, policy.Problems) {
	var r flagReader
	p := new(filePlan)
	if flags.config == "" {
		r.wrong("config", "is empty; write the name of a file, such as kalan.yaml")
	}
	for _, f := range inFile {
		if given(f.flag) {
			r.wrong(f.flag, f.says+"; leave out this flag, or --config to plan without a file")
		}
	}
	if given("median") {
		p.median = r.duration("median", flags.median, "8ms")
		if p.median == 0 && !r.broken("median") {
			r.wrong("median", "0s is no time at all; write a duration such as 8ms")
		}
	}
	if given("route") {
		if err := p.only.UnmarshalText([]byte(flags.route)); err != nil {
			r.wrong("route", err.Error())
		}
	}
	r.format(flags.format)
	return p, r.found
}

// nowhere says that the file has no route of that name.
func (p *filePlan) nowhere(routes []settings.Route) policy.Problems {
	names := make([]string, len(routes))
	for i, r := range routes {
		names[i] = r.Match.String()
	}
	instead := "the file has " + few(names)
	if near, ok := nearest.Word(p.only.String(), names); ok {
		instead = fmt.Sprintf("did you mean %q?", near)
	}
	return policy.Problems{{Path: "--route", Text: fmt.Sprintf("there is no route %.60q; %s", p.only.String(), instead)}}
}

// divide plans the routes, and returns what is odd about them. It is a
// config.Check, so that the loader finds the places; of a file with mistakes it
// plans what it can, and nobody sees it.
func (p *filePlan) divide(f settings.File) policy.Problems {
	var found policy.Problems
	said := make(map[policy.Problem]bool) // routes have their upstream's values in common
	for i, r := range f.Routes {
		u, known := f.Upstream(r.Upstream)
		if !known || p.only != (settings.Match{}) && p.only != r.Match {
			continue
		}
		says := saysOf(f, r, u)
		says.Median = p.median
		d := says.Divide()
		p.routes = append(p.routes, routePlan{r, d, says})
		for _, w := range says.Warnings(d) {
			under := keys.Join("upstreams", u.Name)
			if w.Path == "promise" {
				under = keys.Item("routes", i)
			}
			w.Path = under + "." + w.Path // a path, and no name to be quoted
			if !said[w] {
				said[w], found = true, append(found, w)
			}
		}
	}
	return found
}

// saysOf is what the file says of one of its routes. Requests that may not be
// repeated are, all the same, when they were never sent.
func saysOf(f settings.File, r settings.Route, u settings.Upstream) plan.Route {
	says := plan.Route{
		Promise: max(r.Promise, 0), Margin: max(f.Deadline.Margin, 0),
		Checkout: max(u.Checkout, 0), Exchange: u.Exchange, Retry: u.Retry,
	}
	if u.Limit.Kind == limit.Unlimited || u.Room.Waiting < 0 { // nobody waits for a slot
		says.Checkout = 0
	}
	if !travel.Idempotent(r.Match.Method) && r.IdempotencyKey == "" {
		says.Connect, says.Retry.Hedge = u.Connect, retry.Hedge{}
	}
	return says
}
