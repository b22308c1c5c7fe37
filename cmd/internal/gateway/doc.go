// Package gateway carries HTTP/1.1 requests from callers to upstreams, each
// upstream behind a kalan.Guard of its own.
//
// It is the wall-clock driver's biggest user: `kalan serve` is this package
// and a configuration. net/http serves; requests are forwarded by hand over
// http.Transport, since a reverse proxy out of the box costs half as much again
// and decides for itself what is retried.
//
// # The way of a request
//
//	enter     may it be served at all: framing, protocol, route, remaining time, key
//	workers   the cap over all upstreams, if there is one
//	guard     breaker, throttle, rate, limit and its room; each attempt is forward
//	deliver   head, body and trailers of the answer
//
// A request that is refused on the way gets application/problem+json with the
// reason (RFC 9457) before any upstream has heard of it. An answer that breaks
// after it has begun, or runs past its deadline, ends as a broken connection,
// never as a clean one (O-33).
//
// # Who may leave whom
//
// Attempts run in the guard's flight mode: when the caller leaves or its time
// is up, it is answered at once, and the exchange runs on without it until the
// upstream has really finished, up to a bound. Its slot stays taken as long,
// and so does its worker. An exchange whose request is still arriving cannot
// outlive its caller and is aborted. One that waits for its client for a while,
// to send the rest of the request or to read the answer, says nothing of the
// upstream.
//
// # What is repeated
//
// Idempotent methods, any method with an Idempotency-Key where the route
// allows it, and whatever failed before a byte of it was written. Bodies are
// kept for that up to 64 KiB. Requests that another layer repeats are not
// (F20). What may be repeated may also be hedged, where the file says when: a
// second attempt, at the next address, beside one that has not answered.
//
// # TLS
//
// A listener with TLS refuses what is over the rate of new connections before
// the handshake, and a handshake that is over its own limits when its hello has
// come: nothing has been computed by then. Handshakes run on the goroutines of
// their connections, each within a time. See secure.go.
//
// # Limits
//
// HTTP/1.1 only: gRPC, upgrades and HTTP/2 are answered 501. Requests are
// routed by method and path, not by host. Streams obey the same deadlines as
// other answers. A client that has closed its half of the connection has left:
// net/http does not tell one from the other.
package gateway
