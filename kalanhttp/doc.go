// Package kalanhttp puts guards into net/http: before the requests that a
// program sends ([Transport]), and before the ones that it serves ([Handler]).
//
//	bridge, err := kalan.New(config)
//	client := &http.Client{Transport: &kalanhttp.Transport{Guard: bridge}}
//
//	admission, err := kalan.New(kalanhttp.ForServer(config))
//	server := &http.Server{Handler: &kalanhttp.Handler{Guard: admission, Next: mux}}
//
// It is for services that call services. A program that fetches one page has
// nothing to protect; a browser-like client that calls a different host each
// time gets little from a breaker.
//
// # What Transport decides
//
// A request is refused, waits for its turn, is sent, or is sent again, as its
// guard says ([kalan.Hold]). One guard stands before one dependency: give
// Transport one, or [Hosts], which makes one for each host.
//
//	502, 503, 504             failure, repeated
//	other 5xx                 failure, not repeated: the same request would fail again
//	429                       says nothing; repeated only when Retry-After says when
//	everything else           success
//	no answer                 failure; see "What net/http raises"
//
// Only what may be repeated is (RFC 9110, 9.2.2): GET, HEAD, OPTIONS, TRACE,
// PUT and DELETE, what carries an Idempotency-Key where Transport.Keyed is set,
// and any request of which no byte was written, which httptrace tells (O-17). A
// Retry-After, in seconds or as a date, is obeyed or ends the call; it is never
// shortened. A body comes again from Request.GetBody; where there is none, up
// to 64 KiB of it are kept as it streams (O-16).
//
// An attempt lasts until the last byte of its answer. The slot is held, and the
// context lives, until then: a caller owes Body.Close as with any http.Client.
// When the time is up the body breaks with an error; it never ends cleanly. Time
// in which the program reads nothing of it, or in which its own request has not
// come yet, is not the dependency's: when that adds up to a quarter of the slow
// threshold, the attempt says nothing, neither how it ends nor how long it took.
//
// # What Handler decides
//
// A request waits for a slot, or is refused with a status for each reason,
// application/problem+json and a Retry-After that is not the same for everybody.
// Its remaining time is read, put into its context, and nothing is begun that
// has none. [Refuse] gives the same answers for what a handler asks by itself. See
// [ForServer] for why a server has no breaker on itself. With a Drain it leaves in
// order: what is in flight is finished, and what comes is sent elsewhere.
//
// # Streams
//
// A WebSocket and an event stream do not end, so they are no attempts: once
// begun they give their slot back, escape the exchange's time limit, and are
// counted against a limit of their own (docs/adr/0031).
//
// # What net/http raises
//
// These come out of http.Transport for the real events, each held by a test;
// Transport keeps them as the cause of its own error.
//
//	nobody listens            *net.OpError "dial", syscall.ECONNREFUSED     not sent
//	no such name              *net.OpError "dial", *net.DNSError            not sent
//	it does not connect       *net.OpError "dial", Timeout() true           not sent
//	it does not speak TLS     http.ErrSchemeMismatch                        not sent
//	it is not trusted         *tls.CertificateVerificationError             not sent
//	it hangs                  context.DeadlineExceeded, from the guard's limit
//	it resets                 *net.OpError "read", syscall.ECONNRESET
//	it closes                 io.EOF before the head, io.ErrUnexpectedEOF within the body;
//	                          before the head of a kept connection also the latter
//	it does not speak HTTP    "malformed HTTP response", an error without a type
//	the request is malformed  an error without a type, before anybody was asked: ignored
//
// # One attempt is one request
//
// When a kept connection breaks after the request has gone out and before an
// answer, http.Transport by itself sends a GET again on the next that it has
// kept: a server that dies of a request gets it once for every connection, and
// all that is one attempt. Here the attempt ends with the first, and the guard
// decides about another (O-14). That holds for the base transport that Transport
// makes, and for every other Base that calls the hooks of httptrace, as
// http.Transport and what wraps it do.
//
// What is not bounded: a Base that repeats by itself and does not call them.
// What is left to net/http: another connection for a request of which nothing
// was written, and HTTP/2 streams that the server says it has not processed.
//
// # Limits
//
// Nothing is done about redirects: http.Client follows them, and each hop is a
// request of its own. A base transport's MaxConnsPerHost is a second queue that
// nobody sees (F8); leave it at 0 and let the guard's limit do that. Hedging
// needs Retry.Hedge in the guard's configuration and is for requests that
// change nothing. An attempt that is excused for its program's pauses is excused
// for all: of a dependency that hangs within a body, programs who paused before it
// did say nothing.
//
// Handler counts what its handler waits for, clients included: of one that takes a
// second to send its request or to take its answer, the limit hears that a second
// is what the work takes, and by that it finds others with less time infeasible.
// The read and write timeouts of http.Server bound it.
package kalanhttp
