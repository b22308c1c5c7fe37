package sim

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/record"
)

// A Result is what a scenario's run found.
type Result struct {
	Name, About  string
	Seed         uint64
	Replications int
	Duration     time.Duration
	Warmup       time.Duration
	Arms         []ArmResult
	Searches     []SearchResult
	// Assumptions are what the model takes for granted, for whoever reads the
	// result.
	Assumptions []string
	// Events is how many events were played, Hash a number that depends on each
	// of them: two runs with one hash are the same run.
	Events uint64
	Hash   uint64
	// CPU is how long the replications took, added up. It is the only figure
	// that differs from one run to the next.
	CPU time.Duration
}

// An ArmResult is what an arm came to, as means over the replications.
type ArmResult struct {
	Name, About string
	// Offered, Goodput and Attempts are a second, over all loads: requests,
	// those of them that were answered in time, and attempts that were sent for
	// them.
	Offered, Goodput, Attempts record.Interval
	// Amplification is attempts for each request.
	Amplification record.Interval
	// Wasted is the share of the services' work that was done for nobody.
	Wasted record.Interval
	// Latency is that of the requests that were answered, in all replications,
	// from when their callers meant to send them.
	Latency record.Histogram
	// Capacity is what the system can answer a second at best; 0: no limit.
	Capacity float64
	// Verdict is the most frequent one of the replications, the worse of two
	// that are as frequent, and Verdicts how often each was: see Outcome.
	Verdict  Verdict
	Verdicts [verdicts]int
	// Doubt says why replications are undecided, and how long the run would have
	// to be; empty where none is.
	Doubt string
	// Recovery is how many seconds after the last trigger goodput was back, over
	// the replications that recovered.
	Recovery record.Interval
	// Amplifies is the edge that sends the most attempts for each call, where
	// that is more than one in twenty.
	Amplifies string
	Loads     []LoadResult
	// Levels are the requests by priority, where there is more than one, and
	// Tenants those of the ten tenants that ask most, where a load has several.
	Levels, Tenants []PartResult
	// Fair is how many requests a second of each load would have been answered,
	// had all that was answered been given to the most important level first and
	// within one to each tenant by its weight, none more than it asked for.
	Fair []record.Interval
	// Fairness is Jain's index over the loads, of what each got as a share of
	// what would have been fair: 1 when all got the same share of it, 1/n when
	// one of n got everything.
	Fairness record.Interval
	Services []ServiceResult
	Edges    []EdgeResult
	Guards   []GuardResult
	Caches   []CacheResult
	// Bin is how long the stretches of Series are.
	Bin    time.Duration
	Series []Moment
	// Troubles are the triggers, for shading.
	Troubles []Window
	// Checks are what was expected, and whether it is so.
	Checks []Check
}

// A LoadResult is what became of a load's requests.
type LoadResult struct {
	Name                           string
	Offered, Goodput, Attempts     record.Interval // a second
	Failed, Refused, Business      record.Interval // shares of the offered
	Late                           record.Interval // share of the offered: of those that failed, the ones that ran out of time
	Mean, P50, P95, P99            record.Interval // milliseconds, of the answered
	Latency                        record.Histogram
	Why                            [policy.Reasons]uint64 // of the failed and refused
	Requests, Answered, Unanswered uint64
	Series                         []Moment
	// ClosedLoop says that the callers waited for each other's answers.
	ClosedLoop bool
	// Priority and Weight are the load's, Tenants how many it is of.
	Priority, Weight uint8
	Tenants          int
	// Starved is the share of those tenants who asked that got nothing. Of more
	// than a thousand tenants the first thousand stand for all.
	Starved record.Interval
}

// A ServiceResult is what a service did.
type ServiceResult struct {
	Name string
	// Workers are those of all instances; 0: as many as come.
	Workers                             int
	Arrived, Refused, Dropped, Finished uint64
	Utilisation                         record.Interval  // of its workers, those included that wait for others
	Present                             record.Interval  // requests in it, on average
	Work, Wasted                        record.Interval  // seconds of work a second
	Wait, Stay                          record.Histogram // for a worker, and in all
	MeanWait, MeanStay                  record.Interval  // milliseconds
	Longest                             int              // queue
}

// An EdgeResult is what was called over an edge.
type EdgeResult struct {
	From, To                string
	Calls, Attempts, Failed uint64
	Why                     [policy.Reasons]uint64
	// Amplification is attempts for each call, Share attempts for each request
	// of a load.
	Amplification, Share float64
}

// A GuardResult is what a guard decided and how it looked.
type GuardResult struct {
	From, To string
	// Journals are its decisions in the first replication, by process, if they
	// were asked for.
	Journals [][]policy.Event
}

// A CacheResult is what a cache was asked.
type CacheResult struct {
	Name string
	// Hits found a value, Misses loaded it themselves, Waited waited for somebody
	// else who did, Early are loads of values that were still good.
	Hits, Misses, Waited, Early uint64
	// Rounds are loads that began when nobody was loading the same value, and
	// Lead is how long before the value's end they began, on average.
	Rounds uint64
	Lead   time.Duration
}

// A Moment is one stretch of time, averaged over the replications. Rates are a
// second; Good counts when the request came, Answered when the answer did.
type Moment struct {
	At                                time.Duration
	Offered, Good, Answered, Attempts float64
	Waiting, Busy                     float64 // requests at services
	Limit, InFlight, Queued, Open     float64 // of the guards: slots, those taken, who waits for one, breakers that are not closed
}

// A Window is when a trigger was on.
type Window struct {
	Name     string
	From, To time.Duration
}

// A SearchResult is what a search found.
type SearchResult struct {
	Name, Arm string
	// What is varied: "trigger" in seconds or "load" in requests a second.
	What string
	// Found is the value; Low and High are what it lies between.
	Found, Low, High float64
	// Runs is how many values were tried.
	Runs int
	// Always and Never say that the verdict did not change between the bounds.
	Always, Never bool
	// Trials are the values in the order in which they were tried.
	Trials []Trial
}

// A Trial is a value that a search tried: how many replications did not
// recover, how many of those were undecided or ended under the trigger, and how
// many there were in all.
type Trial struct {
	Value                 float64
	Tipped, Undecided, Of int
}

// A Check is one expectation and what it came to.
type Check struct {
	Claim Claim
	OK    bool
	// Got is what it was, in the claim's words.
	Got string
}

// Failed returns every expectation that was not met, by arm.
func (r *Result) Failed() []string {
	var failed []string
	for i := range r.Arms {
		for _, c := range r.Arms[i].Checks {
			if !c.OK {
				failed = append(failed, r.Arms[i].Name+": expected "+c.Claim.String()+", and it is "+c.Got)
			}
		}
	}
	return failed
}
