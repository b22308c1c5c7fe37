// Package deadline carries the time a call still has, in memory and on the
// wire, for everybody who calls on behalf of somebody that waits.
//
// A deadline that does not travel is lost at the first hop: the callee begins
// a timeout of its own and works on long after its caller has left (O-18). It
// travels as a duration and never as a timestamp, because clocks differ (F10).
//
// Remaining time is a time.Duration. 0 means that none is left: the work does
// not start. None, the longest duration, means that nobody said: it is the
// neutral element of min, so that no code needs a special case for it.
//
// # How it decides
//
//	effective = min(what came in, the route's promise)
//	outbound  = min(the attempt's limit, remaining - margin)
//
// What comes in can only shorten what was promised, so it is read from
// everyone. The margin is for the way back; without it the answer is ready when
// its caller has just left.
//
// A chain that must answer in time divides its budget before the first call:
//
//	timeout per step = (budget - gateway's own share) / (depth x attempts)
//
// # On the wire
//
//   - X-Remaining-Ms: 450, whole milliseconds. x-envoy-expected-rq-timeout-ms
//     has the same form.
//   - grpc-timeout: 450m, one to eight digits and a unit (H M S m u n).
//
// Both parsers refuse whatever is malformed with an error and never read it as
// "no deadline"; a number too large for a Duration is the longest one, never a
// negative (O-10). Both writers round down: no callee is promised more than
// there is. What is less than a millisecond is 0 in the first form, which a
// callee refuses, and exact in the second.
//
// # Limits
//
// Nothing here knows the time or waits; everything is a pure function that
// allocates only for its error.
package deadline
