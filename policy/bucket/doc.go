// Package bucket limits the rate of calls, for whoever must keep a dependency,
// an accept loop or a tenant under so many a second.
//
// It is not a protection against overload: a rate says nothing of how long the
// calls take. What bounds the work under way is package limit.
//
// The algorithm is the generic cell rate algorithm (ITU-T I.371, 1996), which
// keeps one instant: when a bucket that leaks one call an interval would be
// empty again. A call adds an interval to it and is allowed while it lies no
// more than burst intervals ahead. That is a token bucket without a counter to
// refill, so nothing drifts while nobody calls, and a step of the clock can
// neither fill nor empty it beyond its burst (O-12).
//
// Rate 0 has a meaning of its own: the burst is all there is, for ever (O-11).
//
// The spacing of calls is rounded up to a nanosecond, so that the rate is
// never exceeded; at 1,000,000 a second that costs at most .1 %.
//
// A Bucket is one limit. For a limit a key, keep a Level a key in a keyed set
// and ask one Rule about all of them.
package bucket
