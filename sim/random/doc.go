// Package random draws for simulations: streams of numbers that belong to one
// purpose each, and laws of durations.
//
// # Streams
//
// A [Stream] is begun from words that say what it is for: the seed of the run,
// the number of the replication, the entity, the purpose. Streams of different
// words have nothing to do with each other, so adding a service to a scenario
// changes no number that another one draws, and two arms of a comparison meet
// the same requests at the same instants with the same work (common random
// numbers: Law, Simulation Modeling and Analysis, chapter 11).
//
// A stream is the state of splitmix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014): eight bytes, and any number of them.
//
// # Laws
//
// A [Law] says how long something takes. It has a text form, which is what
// scenario files hold:
//
//	10ms                            always that long
//	exponential 10ms                mean 10 ms
//	lognormal p50 8ms p99 120ms     by any two percentiles
//	lognormal mean 10ms sigma 1     by its mean and the deviation of its logarithm
//	erlang 4 10ms                   four exponential phases, mean 10 ms together
//	hyper 0.9 5ms 0.1 200ms         exponential with mean 5 ms in 9 of 10 cases, else 200 ms
//	normal 50ms 12.5ms              mean and deviation, cut off at 0
//	uniform 5ms 15ms                between the two
//	values 0.9 5ms 0.1 200ms        5 ms in 9 of 10 cases, else 200 ms
//	histogram 90 5ms 10 200ms       90 measured up to 5 ms, 10 more up to 200 ms
//	cycle 6ms 7ms 1000ms            one after the other, over and over
//
// All but the Erlang law turn one number of the stream into one duration by the
// inverse of the distribution function: exact, and streams stay in step when a
// law is exchanged for another.
//
// # Limits
//
// Not for keys: everything here can be predicted. Durations are rounded to the
// nanosecond; those beyond 292 years are that long.
package random
