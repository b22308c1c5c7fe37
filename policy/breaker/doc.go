// Package breaker stops calls to a dependency that keeps failing or answers
// too slowly, and finds out by itself when it has recovered.
//
// Use one breaker for each dependency, never one for all: the failure of one
// must not cut off the others. Do not use one for calls that only compute, nor
// as a limit on concurrency: until it opens, a breaker lets everything pass.
// Most callers want package kalan, which drives a breaker together with a
// limit and a retry plan.
//
// # How it decides
//
// Closed, every attempt passes, and its end counts: a failure, a slow answer,
// or a good one. An attempt that is still unanswered past the slow threshold
// counts as slow at that moment ([Breaker.Overdue]), because a dependency that
// hangs delivers no ends to count. It opens, always on a bad attempt,
//
//   - when the window holds enough calls and the failure rate is reached;
//   - when the score is full, see below;
//   - when the window holds enough calls and the slow rate is reached (or slow
//     and failed attempts together reach the larger of the two rates), and
//     that is no moment's bad luck: the score agrees, with that share of its
//     points and no 0 for two exchange timeouts, or the rate has been that
//     high for a whole window.
//
// The score sees in about two seconds what a window full of healthy traffic
// shows after half a minute. A bad attempt adds 1 the moment it is known, a
// good one takes 2 off. It is full at Config.Calls points, and opens when it is
// full and has not been at 0 for two exchange timeouts, so that a pause of one
// second opens nothing. A stretch without a 0 that is longer than the window is
// forgotten.
//
// Open, every call is refused at no cost until the open time is over. The move
// to half-open needs no call: every method makes it first, and a snapshot shows
// it.
//
// Half-open, a few probes pass and everybody else is refused. When all probes
// have counted, or enough of them are bad, the breaker closes or opens again.
// A probe that ends without a verdict gives its place back. A half-open state
// that lasts too long, counted from its first probe, is judged by what is
// known; a probe that is still out then is a failure.
//
// What recovers carefully is configured: the open time may grow with each
// half-open state that fails and be spread at random, and after closing a ramp
// may admit a tenth of the calls first. A Mode overrules it all by hand, or lets
// it decide without refusing anything. Configuration and mode may change while
// running.
//
// Each change of state begins a new generation, and news from an older one
// changes nothing: neither the successes of calls that were begun before the
// trip nor their failures decide about the probes.
//
// # Sources
//
// Nygard, Release It!, names the pattern. The figures are F18's: 60 s window,
// 20 calls, 50 %, slow at half of the exchange timeout, 10 s open, 5 probes.
// The score is Kalan's own; a random walk with steps of +1 and -2 drifts down
// while fewer than two thirds of the attempts are bad.
//
// # Limits
//
// A dependency that answers fewer than Config.Calls attempts within a window
// is never judged. One that hurts less than half of its calls stays in use; a
// retry is what helps there. A normal tail just below a rate opens it by chance
// where calls are few: 45 % slow answers, of which 50 % are too many, about once
// in half an hour at 5 calls a second, once in a day at 20, and not within hours
// at 50. Nothing here is safe for concurrent use: the owner, usually
// policy/stack, serialises.
package breaker
