// Package stack composes the policies that stand between a caller and one
// dependency. The composition is a machine too, told the time like the rest,
// so that the library, the gateway and the simulator run not only the same
// policies but the same order of policies, the same undoing and the same
// decisions about who hears of which outcome.
//
// The order is fixed, outside in:
//
//	retry -> breaker -> [throttle] -> [rate] -> time limit -> limit with its room -> call
//
// The two in brackets are there when they are asked for. Retry stands outside, so
// the breaker hears of every attempt. A refusal by an inner gate undoes the outer
// ones in the same step: it spends no attempt, no probe, no token and no budget,
// and it ends the call; an open breaker and a full room are never retried.
//
// # Who hears of a refusal
//
// An answer that says that there is no room (Report.Refused) is heard by the limit,
// and where there is a throttle by that: how much is refused is its business. The
// breaker takes such an answer for an answer then. Otherwise it would open at the
// share that a throttle leaves over by design, one refused for each accepted, and
// refuse what would have been served (docs/adr/0052).
//
// # Verbs
//
// A driver owns a [Call] for each call and a [Ticket] for each attempt, and
// holds a lock around every verb:
//
//	Begin     a call arrives
//	Next      what to do now: start an attempt, wait until an instant, or stop;
//	          to be asked until it says Wait or Done, as early and often as one likes
//	Judge     an attempt's result is known; its slot stays occupied
//	Free      an attempt's slot comes free
//	Settle    both at once
//	Cancel    the caller left
//	Woken     tickets whose owners should ask Next again; drained before unlocking
//	Look      time has passed; nobody called
//
// The stack owns no timer. Every timed thing is the Until of somebody's Step,
// and expiry is decided by now alone, so early and repeated wake-ups are
// harmless. A wake-up means "look again"; the truth is read by Next.
//
// # What occupies a slot
//
//	waiting    a place in the room, no slot        until granted, refused or cancelled
//	granted    a slot                              until its owner looks
//	running    a slot                              until judged
//	kept       a slot: a held body, or a ghost     until freed
//
// A ghost is an attempt whose caller left, or whose time limit passed, while
// the dependency still works. It keeps its slot until the dependency has
// really finished: slots that were freed early would let a fresh load onto a
// server that is still busy with the old one.
//
// # A hang is seen without an answer
//
// Running and kept attempts are watched in the order of their start. One that
// passes the breaker's slow threshold unanswered counts as slow at that moment,
// also when its caller has left: callers with tight deadlines do not hide a
// hang. An attempt is good only when its slot comes free with a success, at its
// last byte.
//
// In half-open one slot beyond the limit is reserved for a probe, so that
// ghosts can never keep a breaker from recovering. Probes do not wait: one that
// finds neither a slot nor the reserve is refused as open, soon to come back.
//
// # How long the work takes
//
// An attempt's time is told, when its slot comes free, to three that ask
// different questions of it. They are not one, because their answers differ:
//
//   - The limit (package limit) asks what its slots do to the dependency: every
//     time that a slot was held counts, also that of a call that came too late,
//     beside the number that were in flight. What it predicts is the whole
//     work's, and its percentiles stand beside the number (F17).
//   - The record (package latency) asks how long the dependency takes when it
//     answers: what a cut attempt is held against, when a hedge is due, how long
//     a ghost is believed.
//   - The route asks how one kind of work differs from the whole.
//
// The three together cost nothing that can be seen behind a lock: leaving out
// any of them changed the time of a guarded call by 1 % at most.
package stack
