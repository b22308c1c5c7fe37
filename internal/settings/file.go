package settings

import (
	"slices"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/stack"
)

// File is the one configuration, kalan.yaml: what the gateway enforces, the
// planner divides and the simulator rehearses.
//
// A field that is zero, a block that is missing, means its documented default.
// Where 0 itself is meaningful the file says 0 and the field holds a negative
// number. The smallest useful file names one upstream and one route.
type File struct {
	// Listen is the address that serves the routes, ":8080" when empty.
	Listen string `yaml:"listen"`
	// TLS has that listener speak TLS. Without it, it speaks plain HTTP.
	TLS *TLS `yaml:"tls"`
	// Admin is the address of probes and metrics, "127.0.0.1:9901" when empty.
	// Probes that come from outside the machine need ":9901". It must not be
	// reachable from where the callers are.
	Admin string `yaml:"admin"`
	// Defences can switch off everything that protects the upstreams, or have
	// it watched before it is in force: on, off or observe.
	Defences Defences `yaml:"defences"`
	// Workers is how many requests may be served at once, over all upstreams.
	// 0 means no such cap: each upstream has a limit of its own, and a cap that
	// all of them share lets one that hangs take the places of the others (F28).
	Workers int `yaml:"workers"`
	// Trust lists the peers whose priority, tenant, retry-owner and forwarded
	// headers are believed. Empty means nobody's.
	Trust []Network `yaml:"trust"`
	// Drain says how the gateway leaves.
	Drain Drain `yaml:"drain"`
	// Grace is the time from SIGTERM to SIGKILL that the platform gives, 30 s
	// when zero. It changes nothing; it is there to check Drain against.
	Grace time.Duration `yaml:"grace"`
	// Deadline says how remaining time travels.
	Deadline Deadline `yaml:"deadline"`
	// Accept limits new connections and what callers go through before they are
	// served. Without it only what one connection may hold is bounded.
	Accept *Accept `yaml:"accept"`
	// Tenant tells callers apart. Without it all are one.
	Tenant *Tenant `yaml:"tenant"`
	// Priority tells requests apart. Without it only the route's counts.
	Priority *Priority `yaml:"priority"`
	// Upstreams are the dependencies, in the order of the file.
	Upstreams []Upstream `yaml:"upstreams" keyed:"Name"`
	// Routes say which requests go to which upstream.
	Routes []Route `yaml:"routes"`
}

// Drain is the way out: leave the list of those who serve, finish what is in
// flight, close (F6).
type Drain struct {
	// Delay is how long to serve on after readiness has said no, so that the
	// balancers have noticed before the listener closes. 0 means 5 s, negative
	// none. Longer suits slower balancers.
	Delay time.Duration `yaml:"delay" zero:"none"`
	// Finish is how long requests in flight may take to finish before they are
	// cut. 0 means 20 s, negative none. Longer cuts fewer, and delays every
	// rollout.
	Finish time.Duration `yaml:"finish" zero:"none"`
}

// Deadline says how the remaining time of a request travels.
type Deadline struct {
	// Header carries it, in whole milliseconds; "X-Remaining-Ms" when empty.
	// "none" means that none is read and none is sent.
	Header string `yaml:"header"`
	// Default is what a request has that brings no remaining time, on a route
	// without a promise. 0 means 1 s, negative no limit.
	Default time.Duration `yaml:"default" zero:"none"`
	// Margin is what is kept back at every hop for the way back. 0 means 5 ms,
	// negative none. More suits longer distances; less leaves more for the work.
	Margin time.Duration `yaml:"margin" zero:"none"`
}

// NoHeader as Deadline.Header means that remaining time does not travel.
const NoHeader = "none"

// plainTimeout is the time limit of a proxy that nobody has configured.
const plainTimeout = time.Minute

// WithDefaults returns f with every zero field replaced by its default, and
// with Defences carried out. It does not change f.
func (f File) WithDefaults() File {
	field.Default(&f.Listen, ":8080")
	field.Default(&f.Admin, "127.0.0.1:9901")
	field.Default(&f.Drain.Delay, 5*time.Second)
	field.Default(&f.Drain.Finish, 20*time.Second)
	field.Default(&f.Grace, 30*time.Second)
	f.Deadline = f.Deadline.withDefaults(f.Defences)
	f.Accept, f.Tenant, f.Priority = f.Accept.withDefaults(), f.Tenant.withDefaults(), f.Priority.withDefaults()
	f.Upstreams, f.Routes = slices.Clone(f.Upstreams), slices.Clone(f.Routes)
	f.observe()
	for i, u := range f.Upstreams {
		if f.Defences == DefencesOff {
			u = u.plain()
		}
		f.Upstreams[i] = u.WithDefaults()
	}
	for i, r := range f.Routes {
		if f.Defences == DefencesOff {
			r.Promise = -1
		}
		field.Default(&r.Promise, f.Deadline.Default)
		f.Routes[i] = r
	}
	return f
}

func (d Deadline) withDefaults(is Defences) Deadline {
	if is == DefencesOff {
		return Deadline{Header: NoHeader, Default: -1, Margin: -1}
	}
	field.Default(&d.Header, "X-Remaining-Ms")
	field.Default(&d.Default, time.Second)
	field.Default(&d.Margin, 5*time.Millisecond)
	return d
}

// observe carries out DefencesObserve.
func (f *File) observe() {
	if f.Defences != DefencesObserve {
		return
	}
	f.Accept.Observe = true
	if f.Tenant != nil {
		f.Tenant.Observe = true
	}
	for i := range f.Upstreams {
		f.Upstreams[i].Observe = true
	}
}

// plain returns u as a proxy without defences forwards to it: one attempt of up
// to a minute, however many at once.
func (u Upstream) plain() Upstream {
	u.Connect = plainTimeout
	u.Config = stack.Config{
		Exchange: plainTimeout,
		Limit:    limit.None(),
		Breaker:  breaker.Config{Mode: breaker.Disabled},
		Retry:    retry.Config{Attempts: 1},
		Cancels:  u.Cancels,
	}
	return u
}

// Upstream returns the upstream of that name, and whether there is one.
func (f File) Upstream(name string) (Upstream, bool) {
	for _, u := range f.Upstreams {
		if u.Name == name {
			return u, true
		}
	}
	return Upstream{}, false
}
