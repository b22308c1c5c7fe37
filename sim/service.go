package sim

import (
	"time"

	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim/random"
)

// A Service is what requests go to. The zero one has no limit and answers at
// once.
type Service struct {
	// Name is its key in the file.
	Name string `yaml:"-"`
	// Instances is how many processes of it there are; each request goes to one
	// of them at random. 0 means 1.
	Instances int `yaml:"instances"`
	// Workers is how many requests each instance serves at a time. One that
	// waits for another service keeps its worker. 0 means as many as come.
	Workers int `yaml:"workers"`
	// Sharing lets all that come share the workers (processor sharing), and
	// nobody waits for one.
	Sharing bool `yaml:"sharing"`
	// Queue is where requests wait for a worker.
	Queue Queue `yaml:"queue"`
	// Work is what a request takes, for a service that calls nobody. It stands
	// for a Script of that one step.
	Work random.Law `yaml:"work"`
	// Script is what is done for a request, one step after the other.
	Script []Step `yaml:"script"`
	// Routes are further scripts: a request to "service/route" is served by it.
	Routes []Route `yaml:"routes" keyed:"Name"`
	// Promise is the longest that the service gives itself for a request. A
	// request that came with less keeps what it came with. 0 means no limit of
	// its own.
	Promise time.Duration `yaml:"promise"`
	// Network is how long a request travels to this service, and the answer
	// back, each. Left out: no time.
	Network random.Law `yaml:"network"`
	// Cancels lets work stop when its caller has left. Otherwise it is finished
	// for nobody, as most servers do.
	Cancels bool `yaml:"cancels"`
	// Crowding is how much longer work takes for each request that is in
	// service when it begins, itself included. 0: not at all.
	Crowding time.Duration `yaml:"crowding"`
	// Errors is the share of requests, from 0 to 1, that fail when they have been
	// worked on. 0: none.
	Errors float64 `yaml:"errors"`
	// Business is the share of requests that are answered with an error of the
	// caller's: correct, and unwelcome. 0: none; with Errors at most 1.
	Business float64 `yaml:"business"`
	// Accept limits how many requests are let in a second; without it all are
	// let in.
	Accept *Accept `yaml:"accept"`
	// RetryAfter is what those are told who are refused at the door. Zero: not
	// when to come back.
	RetryAfter span.Range `yaml:"retry_after"`
	// Caches are what the scripts look values up in.
	Caches []Cache `yaml:"caches" keyed:"Name"`
	// Client is how it calls services that it has no guard for. Without it:
	// once, with no time limit.
	Client *Client `yaml:"client"`
	// Guards are what stands before its calls, in each instance.
	Guards []Guard `yaml:"guards" keyed:"To"`
	// Kalan names a kalan.yaml. Its upstreams are the guards for the services
	// of these names. Whoever reads the scenario fills in Guards from it.
	Kalan string `yaml:"kalan"`
	// Replay answers requests as recorded, instead of Work, Errors and Business:
	// the first of a load with the first reply, the second with the second and
	// so on, over again. A further attempt gets the reply half the list further on.
	Replay []Reply `yaml:"replay"`
}

// A Queue is where requests wait for a worker.
type Queue struct {
	// Order is which of them is next. The zero value is the oldest.
	Order Order `yaml:"order"`
	// Places is how many may wait; the next is refused. Left out: any number; 0
	// in the file, negative here: none.
	Places int `yaml:"places" zero:"none"`
	// Expired drops requests whose deadline has passed, as far as it is known
	// here (Client.Carry), instead of working on them.
	Expired bool `yaml:"expired"`
	// Needs drops requests that have less time left than this. 0: none.
	Needs time.Duration `yaml:"needs"`
	// Target drops requests while they have all waited longer than this for an
	// Interval (CoDel, as first published). 0: not.
	Target time.Duration `yaml:"target"`
	// Interval is CoDel's. 0 means 100 ms.
	Interval time.Duration `yaml:"interval"`
}

// A Route is a further script of a service.
type Route struct {
	// Name is its key.
	Name string `yaml:"-"`
	// Work is what a request on this route takes; it stands for a Script of that
	// one step.
	Work random.Law `yaml:"work"`
	// Script is what is done for a request on this route.
	Script []Step `yaml:"script"`
	// Promise is the longest that the service gives itself for such a request. 0
	// means no limit of its own.
	Promise time.Duration `yaml:"promise"`
}

// A Step is one thing that a script does: exactly one of its keys.
type Step struct {
	Action `yaml:",inline"`
	// Cache looks a value up in that cache of the service. If it is not there,
	// Miss is done and the value is kept.
	Cache string `yaml:"cache"`
	// Miss is what loads the value.
	Miss []Action `yaml:"miss"`
}

// An Action is work, a call, or several calls at the same time.
type Action struct {
	// Work keeps the worker for a time.
	Work random.Law `yaml:"work"`
	// Optimistic work reads a version when it begins and writes the next one when
	// it ends: the request fails if another one for the same key (Load.Keys) has
	// written in between, and can be tried again.
	Optimistic bool `yaml:"optimistic"`
	// Call calls a service, "service" or "service/route", and waits.
	Call Target `yaml:"call"`
	// Parallel calls several services at once, and waits for all.
	Parallel []Target `yaml:"parallel"`
	// Optional goes on without the answer when the call fails.
	Optional bool `yaml:"optional"`
}

// An Accept is the door of a service.
type Accept struct {
	// Rate is how many requests are let in a second; it is needed.
	Rate float64 `yaml:"rate"`
	// Burst is how many may come at once. 0 means one second's worth.
	Burst int `yaml:"burst"`
}

// A Cache keeps values for all instances of a service.
type Cache struct {
	// Name is its key.
	Name string `yaml:"-"`
	// Keys is how many values there are. 0 means as many as the load asks for.
	Keys int `yaml:"keys"`
	// Lifetime is how long a value is good; it is needed.
	Lifetime time.Duration `yaml:"lifetime"`
	// Spread is how far a lifetime may lie from that, as a share. 0: not at all.
	Spread float64 `yaml:"spread"`
	// Beta refreshes values before their end, in the background and at random
	// (XFetch); 1 is usual. 0: not.
	Beta float64 `yaml:"beta"`
	// OneFlight lets those wait who want a value that is being loaded already.
	// Otherwise each loads it.
	OneFlight bool `yaml:"one_flight"`
	// Warm fills the cache before the beginning, with values that are anywhere
	// in their lives.
	Warm bool `yaml:"warm"`
}

// A Guard is a policy/stack before one service.
type Guard struct {
	// To is the service; its key in the file.
	To string `yaml:"-"`
	// Config is the stack's. Its defaults are those of the library.
	stack.Config `yaml:",inline"`
	// Mute keeps the remaining time to itself: the service cannot know that
	// nobody waits any more. Otherwise it is told, as by the gateway.
	Mute bool `yaml:"mute"`
	// Margin is kept back of the remaining time at each hop. 0: nothing.
	Margin time.Duration `yaml:"margin"`
	// Blame counts errors of the caller's as failures of the service, as
	// clients do that know no difference.
	Blame bool `yaml:"blame"`
	// Owner marks requests, so that no service behind this one retries for
	// them: retries have one owner (F20).
	Owner bool `yaml:"owner"`
	// Inline runs attempts as kalan.Do does, on the caller's own account: one
	// that hangs is not left behind but ends at its limit.
	Inline bool `yaml:"-"`
}

// A Reply is a recorded answer.
type Reply struct {
	// Takes is how long it took. 0: no time.
	Takes time.Duration `yaml:"takes"`
	// Failed says that it was a failure of the service's.
	Failed bool `yaml:"failed"`
	// Business says that it was an error of the caller's.
	Business bool `yaml:"business"`
	// RetryAfter is what a failure said of when to come back. 0: nothing.
	RetryAfter time.Duration `yaml:"retry_after"`
}
