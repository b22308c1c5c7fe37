// Package sim rehearses what happens to a system of services under load and
// trouble, with and without defences, for whoever has to choose them.
//
// A [Scenario] says which services there are, who calls them, what goes wrong
// and which arms are compared. [Run] plays each arm several times on a virtual
// clock and says what became of it: how much was answered in time, how many
// attempts that took, whether the system came back after the trouble or stayed
// down although the trouble was over.
//
//	scenario := sim.Scenario{...}
//	if err := scenario.Validate().Err(); err != nil { ... }
//	result, err := sim.Run(scenario, sim.Options{})
//
// # What is real in it
//
// Guards are policy/stack, the machine that the library and the gateway run,
// told the virtual time by a driver that does the same verbs in the same order
// as the one on the wall clock. The same script through both gives the same
// decisions, one by one. Clients without the library run the same machine with
// its gates open. Services, queues, networks and callers are models.
//
// # How it judges
//
// A replication is compared with itself before the first trigger, by when
// requests came, in stretches of at least a second and twenty requests; what so
// few may differ by chance is no difference, where not all are answered. It is
// [Stable] if goodput stayed above nine tenths of that, and [Recovers] if it
// came back, stayed for ten stretches and had not fallen again at the end.
// Otherwise it is a [SlowDrain] when there are fewer and fewer requests at the
// services after the last trigger, and [Metastable] when there are not. Under a
// trigger that does not end it [Suffers]; so it does, or has [Collapsed], when
// load grows past what it can answer. One that answers less than half of what it
// could before anything has happened has collapsed.
//
// What a run cannot know it does not say. If it ends within ten stretches of the
// last trigger, or all is well at the end and has not been for that long, it is
// [Undecided], and ArmResult.Doubt says how long it would have to be. Replications
// that differ are counted, not outvoted (ArmResult.Outcome), and a claim about
// verdicts is met only if none of them is otherwise or undecided. A request that
// is asked for at the very end, and could not be answered by then, is not looked
// at.
//
// # Who got what
//
// Goodput is over everybody, and one who asks in a loop can have most of it. So
// a result says what each load got, each priority, and the tenants that ask
// most; what would have been fair: as much in all, given to the most important
// priority first and within one to each tenant by its weight, nobody more than
// was asked for; and how evenly the loads were held to that (Jain's index). Load
// that goes to different services is taken for one: where one of them is down,
// its callers get less than that, and nobody took it from them.
//
// # What it is not
//
// A scenario is as good as its service times. Answers do not depend on what is
// asked; networks lose nothing; a service that is slow is slow for everybody.
// Processors, memory, garbage collection and connections do not exist unless a
// scenario says so with workers, triggers and work. Averages over a few
// replications have intervals: look at them.
//
// # Limits
//
// A scenario that may need more than 10^10 events, in which more than four
// million requests may wait at once (about four gigabytes), whose results, guards,
// bursts and caches may take more than two gigabytes, or a request of which causes
// more than 10,000 calls, is refused by Validate with the estimate; one that outgrows that
// while it runs ends with an error. As many replications are played at the same
// time as do not take more memory than one may. Of a load's tenants the first
// thousand are told apart and stand for the others. Queueing theory and
// published experiments are reproduced by this package's tests, within one per
// cent where theory is exact.
//
// Sources: Law, Simulation Modeling and Analysis; Kleinrock, Queueing Systems;
// Bronson and others, Metastable failures in distributed systems (HotOS 2021);
// Jain, Chiu and Hawe, A quantitative measure of fairness (DEC-TR-301, 1984);
// Bertsekas and Gallager, Data Networks, 6.5.2.
package sim
