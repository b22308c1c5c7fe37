package settings

import (
	"slices"
	"strings"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
)

func (f File) checkRoutes(c *field.Check) {
	if len(f.Routes) == 0 {
		c.Refuse("routes", `are missing; write at least one, such as [{match: "/", upstream: bridge}]`)
	}
	if len(f.Routes) > mostRoutes {
		c.Refuse("routes", "%d of them; %d is the most that one gateway takes", len(f.Routes), mostRoutes)
		return
	}
	upstreams := make([]string, len(f.Upstreams))
	for i, u := range f.Upstreams {
		upstreams[i] = u.Name
	}
	stages := make([]string, len(f.Accept.Stages))
	for i, s := range f.Accept.Stages {
		stages[i] = s.Name
	}
	known := levels
	if f.Priority != nil {
		known = f.Priority.Levels
	}
	first := make(map[Match]int)
	for i, r := range f.Routes {
		path := keys.Item("routes", i)
		same := Match{r.Match.Method, strings.TrimRight(r.Match.Prefix, "/")}
		if j, twice := first[same]; twice && r.Match != (Match{}) {
			c.Refuse(keys.Join(path, "match"), "%s takes the same requests as routes[%d]; remove one of the two", r.Match, j)
		} else {
			first[same] = i
		}
		r.check(c, path, upstreams, known, stages)
		if m := f.Deadline.Margin; r.Promise > 0 && r.Promise <= m && r.Promise != f.Deadline.Default {
			c.Refuse(keys.Join(path, "promise"), "%v is not above the margin of %v, so that every request would be refused; write more", r.Promise, m)
		}
	}
}

func (r Route) check(c *field.Check, path string, upstreams, levels, stages []string) {
	r.Match.check(c, keys.Join(path, "match"))
	switch {
	case r.Upstream == "":
		c.Refuse(keys.Join(path, "upstream"), "is missing; write the name of one under upstreams")
	case !slices.Contains(upstreams, r.Upstream):
		c.Refuse(keys.Join(path, "upstream"), "there is no upstream %.60q; %s", r.Upstream, instead(r.Upstream, upstreams, "the name of one under upstreams"))
	}
	if r.Priority != "" && !slices.Contains(levels, r.Priority) {
		c.Refuse(keys.Join(path, "priority"), "%.60q is not a level; %s", r.Priority, instead(r.Priority, levels, "one of "+strings.Join(levels, ", ")))
	}
	if r.Stage != "" && !slices.Contains(stages, r.Stage) {
		c.Refuse(keys.Join(path, "stage"), "there is no stage %.60q; %s", r.Stage, instead(r.Stage, stages, "the name of one under accept.stages"))
	}
	if r.IdempotencyKey != "" && !slices.Contains(keyings, r.IdempotencyKey) {
		c.Refuse(keys.Join(path, "idempotency_key"), "%.60q is not known; %s", r.IdempotencyKey, instead(r.IdempotencyKey, keyings, "accepted or required"))
	}
}

// methods are the methods that a route may name. CONNECT asks for a tunnel,
// which a gateway of requests does not dig.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}

func (m Match) check(c *field.Check, path string) {
	if m == (Match{}) {
		c.Refuse(path, `is missing; write a method and a path, such as "POST /orders/"`)
		return
	}
	if m.Method != "" && !slices.Contains(methods, m.Method) {
		c.Refuse(path, "%.40q is not a method; %s", m.Method, instead(m.Method, methods, "one of "+strings.Join(methods, ", ")+", or only the path for every method"))
	}
	switch p := m.Prefix; {
	case !strings.HasPrefix(p, "/"):
		c.Refuse(path, "the path %.60q does not begin with a slash; write %.60q", p, "/"+p)
	case strings.ContainsAny(p, "?#"):
		c.Refuse(path, "%.60q has a query or a fragment; routes match paths only", p)
	case strings.ContainsAny(p, "*{}"):
		c.Refuse(path, "%.60q has a pattern in it; a route matches everything that begins with its path, so end it before", p)
	case strings.ContainsAny(p, "%\\;") || strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		c.Refuse(path, "%.60q has characters that a path has only escaped; routes match plain paths", p)
	case strings.Contains(p, "//") || strings.Contains(p+"/", "/./") || strings.Contains(p+"/", "/../"):
		c.Refuse(path, "%.60q has empty segments or dots, which clients remove; write the path without them", p)
	}
}
