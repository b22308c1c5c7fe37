// Package retry plans the attempts and the waits of one call, for drivers that
// run them.
//
// A Plan is what the configuration says, shared by all calls. A Call is one
// call's place in it: a small value that the driver keeps, told what happened,
// and asked what comes next. Nothing here sleeps, and nothing is random: the
// jitter is drawn from the seed that the call began with, so that a simulation
// and the real thing wait equally long.
//
// Retry what may be repeated (idempotent requests, those that carry a
// uniqueness key, those of which no byte was written; B9) and what is probably
// bad luck. Do not retry in two layers: three layers of three attempts are 27
// calls (F20). Do not retry what an open breaker or a full bulkhead refused
// (F19): the answer would be the same, and later.
//
// # How it decides
//
// When an attempt has ended, Settle decides at once whether there will be
// another, and the order of the questions is the order of their cost:
//
//  1. Did it succeed, or was its failure a business error, or final? The call
//     ends. (An answer that says nothing about the dependency is retried only
//     if it came with a Retry-After: 429.)
//  2. Are there attempts left? Otherwise Spent.
//  3. The wait is the backoff with its jitter, or what the dependency asked
//     for if that is longer. Does it end before the deadline? Otherwise
//     Expired, now and not after the sleep (O-15).
//  4. Is what the dependency asked for within Cap? It is never shortened;
//     beyond Cap its answer is final.
//  5. Does the budget allow it? Otherwise Budget. What is taken is held from
//     here, through the backoff, until the attempt ends (O-13).
//
// Expired, Spent and Budget are never what a caller is told: it gets the last
// real error.
//
// # Backoff
//
// Before attempt n+1 the schedule says Base x Factor^n, at most Cap, for any n
// (O-08). Jitter spreads callers that failed together: without it they come
// back together. Full jitter draws from nothing up to the schedule's wait and
// needs the fewest calls for the same work (Brooker, "Exponential backoff and
// jitter", 2015); Equal keeps half of the wait; Decorrelated grows from the
// wait before; Constant has no jitter and AtOnce does not wait.
//
// # Limits
//
// One attempt of a call runs at a time, unless HedgeAt allows another beside
// it; then the first that succeeds, or whose failure is final, ends the call,
// and one that fails waits for what the others say. A Call is 64 bytes and holds no
// pointer; every method is O(1) and allocates nothing.
package retry
