// Package plan divides what a caller waits over the calls that are made for it,
// for everybody who has to choose a timeout before there is anything to
// measure, and to defend it afterwards.
//
// A gateway that promises an answer within 200 ms, and calls a chain of two
// services with three attempts each, cannot give every attempt 200 ms: its worst
// case is then 1220 ms, and nobody waits for the answer. Divided, an attempt has
// 30 ms. The table of package plan shows both, for every depth and number of
// attempts that was asked for, so that the choice between a deeper chain, more
// attempts and a longer timeout is made with the figures in hand.
//
// # How it computes
//
//	remaining = budget - share
//	timeout   = remaining / (depth x attempts)               (B1)
//	worst     = depth x attempts x budget + share            (when nobody divides)
//	deepest   = floor(remaining / (attempts x median))       (B2)
//
// The share is what the gateway itself needs; the sensitivity shows every row
// with the share doubled (B3), since it is the figure that is usually guessed.
// A timeout near the median of a step cuts ordinary calls: the table warns below
// twice the median (B11).
//
// Where there are measurements a timeout follows from them: p99 x 1.5, rounded
// up to one significant figure (F9). The sum of such timeouts must stay below
// what the caller waits, or the caller leaves first and the timeouts never fire.
//
// # What a configuration makes of a promise
//
// A Route is what kalan.yaml says of one kind of call, and its Division the same
// arithmetic the other way round: with these attempts, exchanges and waits, what
// is the worst, and what is left for each attempt?
//
//	needs  = margin + attempts x (checkout + exchange) + pauses
//	starts = n x checkout + (n - 1) x exchange + pauses before it
//	left   = min(exchange, promise - starts - margin)
//	each   = (promise - margin - attempts x checkout - pauses) / attempts
//
// Needs above the promise is no mistake by itself: attempts are made with the
// deadline in hand, so that a second one after a timeout has what is left, or
// does not start, and after a failure that came at once it has nearly
// everything. A promise in which not even one attempt has its exchange is a
// mistake (F9).
//
// Sizing says of a retry budget whether it binds, from what a model or a
// measurement saw (B10), and Multiply what several layers that retry make of
// one call (F20, O-14).
//
// # Limits
//
// The arithmetic assumes that steps follow one another and that each step's
// attempts do; a hedge makes a call shorter than its Division says, never
// longer. It knows nothing of how durations are distributed; package sim/walk
// plays the same chain with real durations.
package plan
