// Package world is the simulator's world: services, callers and the machines
// between them, on a virtual clock.
//
// It plays a [Model], in which every name has become a number, once for one
// seed, and returns a [Tally]. Package sim makes models of scenarios and results
// of tallies.
//
// # Who does what
//
//	load      asks: at random, at fixed times, or again after each answer
//	guard     decides: one policy/stack a process and dependency, the very
//	          machine of the library, driven as hold_flight.go drives it
//	call      is one call through a guard, with its attempts
//	visit     is one request at a service: in its queue, with a worker, waiting
//	          for others, on its way back
//	instance  is one process of a service: workers, queue, windows of time in
//	          which it is slow, stopped or gone
//
// An attempt that was left by its caller is a visit whose ticket is still held:
// the ghost. Whoever waits for a visit is its origin, named by place and
// generation, so that an answer for somebody who has gone finds nobody.
//
// # What it costs
//
// Everything lives in slices and is named by its place in them; events carry
// places and generations. Nothing is allocated once the slices have grown to
// what is in use at the same time, and no map is walked, so that a run is the
// same to the last event for the same model and seed.
//
// # Random numbers
//
// Each request carries a stream that was derived from its load and its number;
// what is drawn for it (work, fate, instance, network) is derived from that
// stream and the purpose, not from who came before. So the n-th request of a
// load is the same request in every arm of a comparison.
package world
