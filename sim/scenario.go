package sim

import "time"

// Kind is what a scenario file says it is, so that this simulator reads it.
const Kind = "events"

// A Scenario is a system, what is asked of it, what happens to it, and the
// arms that are compared: the system as it is, and with defences.
type Scenario struct {
	// Kind is "events".
	Kind string `yaml:"kind"`
	// Name names the scenario in its report.
	Name string `yaml:"name"`
	// About says what it shows; may be left out.
	About string `yaml:"about"`
	// Seed begins all random numbers. 0 means 1.
	Seed uint64 `yaml:"seed"`
	// Replications is how often each arm is played, each time with other random
	// numbers, the same for all arms. 0 means 5. More of them make the
	// intervals narrower and the run longer.
	Replications int `yaml:"replications"`
	// Duration is how long each replication lasts, on the virtual clock, at most
	// 720h. It must go on after the last trigger for ten stretches of a second
	// and twenty requests, or the verdict is undecided.
	Duration time.Duration `yaml:"duration"`
	// Warmup is when counting begins, at one instant for every counter. Left
	// out, it is a tenth of Duration, or when the first trigger begins where
	// that is earlier; 0 in the file, negative here, means at once. It must be
	// long enough for the queues to have filled.
	Warmup time.Duration `yaml:"warmup" zero:"none"`
	// Services are what is called.
	Services []Service `yaml:"services" keyed:"Name"`
	// Loads are who calls.
	Loads []Load `yaml:"loads" keyed:"Name"`
	// Triggers are what happens; none may be left out.
	Triggers []Trigger `yaml:"triggers" keyed:"Name"`
	// Expect is what must be true of every arm, or the scenario has failed.
	Expect []Claim `yaml:"expect"`
	// Arms are the variants that are compared. Without one the scenario itself
	// is played.
	Arms []Arm `yaml:"arms" keyed:"Name"`
	// Searches look for the value at which the verdict changes.
	Searches []Search `yaml:"searches" keyed:"Name"`
}

// An Arm is a variant of the scenario. What it says of a service, a load or a
// trigger replaces what the scenario says of it, key by key, also where that is
// 0, false or the first word of several; whatever it does not name stays. Lists
// are replaced as a whole. A block cannot be taken away: give it to the other
// arms alone.
type Arm struct {
	// Name names the arm in the report.
	Name string `yaml:"-"`
	// About says what is different; may be left out.
	About string `yaml:"about"`
	// Services are what is different of the services, or further ones.
	Services []Service `yaml:"services" keyed:"Name"`
	// Loads are what is different of the loads, or further ones.
	Loads []Load `yaml:"loads" keyed:"Name"`
	// Triggers are what is different of the triggers, or further ones.
	Triggers []Trigger `yaml:"triggers" keyed:"Name"`
	// Expect is what must be true of this arm, beside what must be of all.
	Expect []Claim `yaml:"expect"`
	// Zeros are the paths of values that the arm says are zero, such as
	// "loads.callers.client.retry.jitter" for full jitter: they cannot be told
	// from what it does not say. Whoever reads the scenario fills them in.
	Zeros []string `yaml:"-"`
}

// A Search bisects for a value: the smallest trigger that tips an arm, or the
// largest load from which it heals.
type Search struct {
	// Name names the search in the report.
	Name string `yaml:"-"`
	// Arm is where to search; the first when left out.
	Arm string `yaml:"arm"`
	// Trigger is the trigger whose length is varied: the result is the shortest
	// one after which at least half of the replications do not recover.
	Trigger string `yaml:"trigger"`
	// Load is the load whose rate is varied: the result is the highest one at
	// which more than half of the replications recover.
	Load string `yaml:"load"`
	// From is the least that is tried: seconds of the trigger, or requests a
	// second. 0 means a tenth of what the arm says.
	From float64 `yaml:"from"`
	// To is the most that is tried. 0 means ten times what the arm says.
	To float64 `yaml:"to"`
	// Within is how exact the result has to be, as a share of it, from 0.001 to
	// 0.5. 0 means 0.02. Less takes more trials.
	Within float64 `yaml:"within"`
}
