package scenario

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/config"
	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim"
)

// A resolver fills in what a scenario says by reference to a kalan.yaml.
type resolver struct {
	beside string // the scenario's name
	doc    *strict.Doc
	read   map[string]gateway
	found  strict.Problems
}

// A gateway is a kalan.yaml that was read.
type gateway struct {
	file settings.File
	ok   bool
}

// all resolves the references of the scenario and of its arms. An arm's gateway
// is laid over the scenario's like everything that an arm says.
func (r *resolver) all(s *sim.Scenario) {
	for i := range s.Services {
		r.service(s, &s.Services[i], keys.Join("services", s.Services[i].Name))
	}
	for i := range s.Arms {
		under := keys.Join(keys.Join("arms", s.Arms[i].Name), "services")
		for j := range s.Arms[i].Services {
			r.service(s, &s.Arms[i].Services[j], keys.Join(under, s.Arms[i].Services[j].Name))
		}
	}
}

func (r *resolver) service(s *sim.Scenario, v *sim.Service, path string) {
	if v.Kalan == "" {
		return
	}
	g := r.load(v.Kalan, keys.Join(path, "kalan"))
	if !g.ok {
		return
	}
	used := 0
	for _, u := range g.file.Upstreams {
		if !has(s.Services, u.Name) {
			continue
		}
		used++
		if !guarded(v, u.Name) {
			v.Guards = append(v.Guards, sim.Guard{To: u.Name, Config: u.Config, Margin: max(g.file.Deadline.Margin, 0)})
		}
	}
	if used == 0 {
		r.refuse(keys.Join(path, "kalan"), "none of its upstreams has the name of a service here; name the services as the upstreams are named")
	}
	if v.Workers == 0 {
		v.Workers = g.file.Workers
	}
	if v.Promise == 0 {
		v.Promise = promise(&g.file)
	}
	if a := g.file.Accept; a != nil && v.Accept == nil && a.Rate > 0 {
		v.Accept = &sim.Accept{Rate: a.Rate, Burst: a.Burst}
		if v.RetryAfter.IsZero() {
			v.RetryAfter = a.RetryAfter
		}
	}
}

// promise returns the longest that any route of the gateway gives itself. A
// scenario whose routes differ says so itself.
func promise(f *settings.File) time.Duration {
	longest := time.Duration(0)
	for _, route := range f.Routes {
		if route.Promise <= 0 {
			return 0
		}
		longest = max(longest, route.Promise)
	}
	return longest
}

// load reads a kalan.yaml once, however many refer to it.
func (r *resolver) load(name, path string) gateway {
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(r.beside), filepath.FromSlash(file))
	}
	if g, known := r.read[file]; known {
		return g
	}
	f, _, err := config.Load(file) // its warnings are for whoever serves it
	var wrong strict.Problems
	switch {
	case errors.As(err, &wrong):
		r.found = append(r.found, wrong...)
	case err != nil:
		r.refuse(path, err.Error())
	}
	g := gateway{f, err == nil}
	r.read[file] = g
	return g
}

func (r *resolver) refuse(path, text string) {
	r.found = append(r.found, strict.Problem{Position: r.doc.Locate(path), Problem: policy.Problem{Path: path, Text: text}})
}

func has(services []sim.Service, name string) bool {
	for i := range services {
		if services[i].Name == name {
			return true
		}
	}
	return false
}

func guarded(v *sim.Service, to string) bool {
	for i := range v.Guards {
		if v.Guards[i].To == to {
			return true
		}
	}
	return false
}
