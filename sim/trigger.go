package sim

import (
	"time"
)

// A Trigger is something that happens to the system.
type Trigger struct {
	// Name is its key in the file.
	Name string `yaml:"-"`
	// What is what happens; it is needed.
	What Trouble `yaml:"what"`
	// Of is what it happens to: a service, for a spike a load, for a flush
	// "service/cache".
	Of Target `yaml:"of"`
	// At is when it begins, from the beginning of the run.
	At time.Duration `yaml:"at"`
	// For is how long it lasts; of a restart, how long each instance is gone. 0
	// means to the end; a flush has no length.
	For time.Duration `yaml:"for"`
	// Factor is how many times slower a service is (latency), or how many times
	// more requests come (spike). 0 means 1, as before.
	Factor float64 `yaml:"factor"`
	// Add is what comes on top of each piece of work (latency). 0: nothing.
	Add time.Duration `yaml:"add"`
	// Share is the share of requests that fail (errors). 0 means all.
	Share float64 `yaml:"share"`
	// Instances is how many instances it happens to, the first ones. 0 means all.
	Instances int `yaml:"instances"`
	// Every is how long after one instance the next is restarted. 0 means all
	// at once.
	Every time.Duration `yaml:"every"`
	// Notice is how long the balancer goes on sending requests to an instance
	// that has left the list, or is gone (restart). 0: it knows at once.
	Notice time.Duration `yaml:"notice"`
	// Drain lets an instance leave in order (restart): it leaves the list, goes
	// on serving for this long, then takes no new requests and finishes those
	// it has, for at most Finish. 0: it is killed with all that it has.
	Drain time.Duration `yaml:"drain"`
	// Finish is how long it may finish what it has. 0: not at all.
	Finish time.Duration `yaml:"finish"`
}

// end returns when the trigger is over for a run of that length.
func (t *Trigger) end(duration time.Duration) time.Duration {
	if t.For == 0 && t.What != Flush {
		return duration
	}
	return t.At + t.For
}
