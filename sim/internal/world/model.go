package world

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim/random"
)

// A Model is what is played. References are places in its lists; -1 is none.
type Model struct {
	Services []Service
	Ops      []Op
	Edges    []Edge
	Guards   []Guard
	Loads    []Load
	Caches   []Cache
	Upsets   []Upset
	Gate     policy.Instant // from when on is counted
	End      policy.Instant
	Bin      time.Duration // of the series
	Visits   int           // the most that may be in the world at once
	Journals bool          // keep the guards' decisions
	// Watch is told the time, once in Watched events, and says whether to go on.
	// nil: to the end.
	Watch func(policy.Instant) bool
}

// A Service is what requests go to.
type Service struct {
	Name      string
	Instances int
	Workers   int // of each instance; 0: as many as come
	Shared    bool
	Queue     Queue
	Accept    *bucket.Config // nil: everybody may knock
	GoAway    span.Range     // what those are told who are refused
	Cancels   bool           // work stops when its caller leaves
	Crowding  time.Duration  // more work for each request already in service
	Errors    []Share
	Business  float64
	Speeds    []Speed // how fast it works, where it is not 1
	Extra     []Extra // work that comes on top
	Replay    []Reply
	Network   random.Law // one way
}

// A Queue is what stands before an instance's workers.
type Queue struct {
	Newest   bool          // newest first
	Places   int           // below 0: no bound
	Expired  bool          // what is past its deadline is dropped
	Needs    time.Duration // what has less time left than this is dropped
	Target   time.Duration // CoDel's; 0: none
	Interval time.Duration
}

// A Share is a probability for a time.
type Share struct {
	From, To policy.Instant
	P        float64
}

// A Speed is how much work is done in a time, for each unit of it.
type Speed struct {
	From, To policy.Instant
	Rate     float64
	Instance int // -1: of every instance
}

// Extra is work that comes on top in a time.
type Extra struct {
	From, To policy.Instant
	Add      time.Duration
}

// A Reply is a recorded answer.
type Reply struct {
	Takes      time.Duration
	Result     Result
	RetryAfter time.Duration
}

// An OpKind is what a script does next.
type OpKind uint8

const (
	// Done ends the script.
	Done OpKind = iota
	// Work keeps the worker for a time.
	Work
	// Ask calls over an edge, and over those of the N-1 operations behind it
	// at the same time.
	Ask
	// Look asks a cache, and goes on at Jump if the value is there.
	Look
	// Store keeps what was looked for.
	Store
)

// An Op is one operation of a script.
type Op struct {
	Kind     OpKind
	Law      random.Law // Work
	Edge     int32      // Ask
	N        int32      // Ask: how many; Look and Store: the cache
	Jump     int32
	Optional bool // Ask: a failure is no failure of the script

	Optimistic bool // Work: it fails if another one of its key has ended meanwhile
}

// An Edge is a way to a service: from where, through which guard, to which
// script.
type Edge struct {
	Guard   int32 // -1: none, and no time limit
	Service int32
	Script  int32
	Promise time.Duration // the longest time that the service gives itself; 0: none
	Route   uint8         // the kind of work, for the guard
}

// A Guard is what stands before a dependency in each process of a caller.
type Guard struct {
	Config    stack.Config
	Owner     int32 // service; -1: a load
	Processes int
	Carry     bool // the remaining time travels with the request
	Margin    time.Duration
	Inline    bool // the caller runs the attempt itself, as kalan.Do does
	Blame     bool // business errors count as failures
	Mark      bool // requests are marked: retries belong to this caller
}

// A Load is where requests come from.
type Load struct {
	Name     string
	Edge     int32
	Rates    []Rate // empty: none come by themselves
	Even     bool   // at even distances, instead of at random
	Trace    []Arrival
	Clients  int // closed loop
	Think    random.Law
	Deadline time.Duration
	Tenants  int
	Weight   uint8
	Level    uint8
	Keys     int
	Unsafe   bool
}

// A Rate is how many requests come, from an instant on.
type Rate struct {
	From      policy.Instant
	PerSecond float64
	Slope     float64 // by how much the rate changes each second
}

// An Arrival is one request of a trace.
type Arrival struct {
	At       policy.Instant
	Deadline time.Duration // 0: the load's
	Leaves   time.Duration // after which the caller cancels; 0: not
	Count    int           // how many come
	Over     time.Duration // spread over this time
}

// A Cache keeps values of a service, for all of its instances.
type Cache struct {
	Name      string // of its service, too: its random numbers are drawn by it
	Keys      int
	Lifetime  time.Duration
	Spread    float64
	Beta      float64 // early refresh; 0: none
	OneFlight bool
	Warm      bool
	Loading   time.Duration // what a value took to load that was there from the start
}

// An UpsetKind is something that happens to an instance or a cache at an
// instant.
type UpsetKind uint8

const (
	// Unlist: no new requests are sent to the instance.
	Unlist UpsetKind = iota
	// List: requests are sent to it again.
	List
	// Close: it accepts no request; those that it has go on.
	Close
	// Kill: it is gone with everything that it had.
	Kill
	// Rise: it is there again, new.
	Rise
	// Freeze: the process stands still until To.
	Freeze
	// Flush: the cache is empty.
	Flush
)

// An Upset is one thing that happens.
type Upset struct {
	Kind UpsetKind
	At   policy.Instant
	To   policy.Instant
	Of   int32 // the instance, counted over all services in order; or the cache
}

// A Result is how a request ended.
type Result uint8

const (
	// OK: it was answered.
	OK Result = iota
	// Business: it was answered with an error of the caller's.
	Business
	// Failed: it was not answered, or with an error of the service's.
	Failed
	// Refused: it was refused before any work was done.
	Refused
)
