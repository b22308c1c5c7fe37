package sim

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/internal/world"
)

// The bounds of how large a system may be.
const (
	mostCalls = 10_000 // that a request causes, when each is made once
	mostPaths = 1e7    // of all loads, through every service
	mostBytes = 2e9    // that results take, and what there is from the beginning
)

// checkSize refuses scripts that call each other so often that a request would
// never end, though they do not go in a circle. What estimates the cost of a
// run walks all that a request causes; this does not.
func (s *Scenario) checkSize(c *field.Check) {
	known := map[Target]float64{}
	var count func(t Target) float64
	count = func(t Target) float64 {
		if n, ok := known[t]; ok {
			return n
		}
		n := 1.0
		for _, to := range s.calls(t) {
			n += count(to)
		}
		known[t] = n
		return n
	}
	for i := range s.Services {
		for _, t := range s.Services[i].targets() {
			if n := count(t); n > mostCalls {
				c.Refuse(keys.Join("services", t.Service), "a request to %v causes %.3g calls, and %d are the most; take calls out of the scripts", t, n, mostCalls)
				return
			}
		}
	}
	paths := 0.0
	for i := range s.Loads {
		paths += count(s.Loads[i].To) * float64(len(s.Services))
	}
	if paths > mostPaths {
		c.Refuse("loads", "%d loads cause %.3g different calls over %d services, more than is simulated; write fewer of them", len(s.Loads), paths/float64(len(s.Services)), len(s.Services))
	}
}

// What results take, in bytes: measured, and rounded up.
const (
	binBytes       = 16
	histogramBytes = 35_000
	momentBytes    = 96
	tenantBytes    = 20
	guardBytes     = 20_000
	burstBytes     = 64 // a call of a burst or a trace, which is pending from the start
	keyBytes       = 32 // a value in a cache
	atOnce         = 8  // replications that are played at the same time
)

// memory estimates what the results and the guards of an arm take.
func (s *Scenario) memory() float64 {
	bins := float64(s.Duration / s.bin())
	tally, result := 0.0, bins*momentBytes
	for i := range s.Loads {
		tally += bins*binBytes + histogramBytes + float64(min(s.Loads[i].Tenants, world.MostTenants))*tenantBytes
		result += bins*momentBytes + histogramBytes
	}
	for i := range s.Services {
		v := &s.Services[i]
		tally += bins*binBytes + 2*histogramBytes + bins*binBytes*float64(len(v.Guards))
		result += 2 * histogramBytes
	}
	return tally*float64(s.Replications) + result + s.held()*float64(min(s.Replications, atOnce))
}

// held estimates what a replication has from its beginning.
func (s *Scenario) held() float64 {
	bytes, asked := s.stacks()*guardBytes, 0
	for i := range s.Loads {
		l := &s.Loads[i]
		asked = max(asked, l.Keys)
		bytes += burstBytes * float64(len(l.Trace))
		for _, b := range l.Bursts {
			bytes += burstBytes * float64(b.Calls)
		}
	}
	for i := range s.Services {
		for _, c := range s.Services[i].Caches {
			if c.Keys == 0 {
				c.Keys = asked
			}
			bytes += keyBytes * float64(c.Keys)
		}
	}
	return bytes
}

// stacks is how many guards and clients there are, each with a stack of its own.
func (s *Scenario) stacks() (n float64) {
	for i := range s.Loads {
		n += float64(max(s.Loads[i].Processes, 1))
	}
	for i := range s.Services {
		v := &s.Services[i]
		n += float64(max(v.Instances, 1)) * float64(len(v.Guards)+len(v.Script)+len(v.Routes))
	}
	return n
}

// abreast is how many replications may be played at the same time, so that all
// of them together take no more than one alone may take.
func (s *Scenario) abreast() int {
	each := s.pile()*bytesEach + s.held()
	return max(int(mostVisits*bytesEach/max(each, 1)), 1)
}

// looks is how often the state of a guard is noted for the series.
func (s *Scenario) looks() float64 {
	return s.stacks() * float64(s.Duration/s.bin()) * float64(s.Replications)
}

// checkMemory refuses what would take more memory than there may be.
func checkMemory(bytes float64, duration time.Duration) policy.Problems {
	var c field.Check
	if bytes > mostBytes {
		c.Refuse("replications", "the results, guards, bursts and caches may take %.3g GB, and %.3g are the most; write fewer replications, arms, loads, services, processes, instances, calls or keys, or a shorter duration than %v",
			bytes/1e9, mostBytes/1e9, duration)
	}
	return c.Problems()
}
