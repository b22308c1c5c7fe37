// Package kalangrpc puts a guard before the methods that a gRPC client calls,
// and before the handlers of a gRPC server.
//
// The client, in one line where it dials:
//
//	conn, err := grpc.NewClient(target, append(kalangrpc.Client{Guard: guard}.Options(), credentials)...)
//
// The server, in one line where it is made:
//
//	server := grpc.NewServer(kalangrpc.Server{Guard: guard}.Options()...)
//
// # What the client does
//
// A call waits for a slot, is made, and is judged by its status. One Guard
// stands for each service that is called, never one for all. The deadline of an
// attempt is the sooner of the guard's exchange limit and the caller's own less
// a margin; grpc-go writes it as grpc-timeout, so no hop begins a timeout of
// its own (F10, O-18). Attempts after the first carry
// grpc-previous-rpc-attempts.
//
// Methods that Repeatable names are retried, and so are calls of which nothing
// was sent, because no connection took them. A payment that was sent is not
// sent again (O-17). grpc-retry-pushback-ms is obeyed: never a shorter wait,
// and no further attempt where the server asks for none. grpc-go's own retries,
// those of a service config, are switched off by Options: one layer owns them
// (F20, O-14). Its transparent retry, of what a server certainly has not seen,
// stays.
//
// # What a status says
//
//	OK                                   success
//	NOT_FOUND, ALREADY_EXISTS            success: it looked, and that is the answer
//	UNAVAILABLE                          failure; again if repeatable, or nothing was sent
//	DEADLINE_EXCEEDED                    failure; again if repeatable
//	INTERNAL, DATA_LOSS                  failure; not again
//	RESOURCE_EXHAUSTED                   ignored; again if repeatable and pushback says when
//	UNKNOWN                              ignored: what a plain error of a handler's becomes
//	CANCELLED, ABORTED, and the others   ignored: the caller's or the application's business
//
// The caller's own cancellation or deadline blames nobody, whatever the status
// says. Client.Judge replaces the table for a service that means something else
// by a code.
//
// # What grpc-go raises
//
// Held by a test on real sockets; all of them failures:
//
//	nobody listens               UNAVAILABLE "connection error", at once     not sent
//	it does not speak gRPC       UNAVAILABLE "connection error"              not sent
//	it does not connect          DEADLINE_EXCEEDED, from the guard's limit
//	it hangs                     DEADLINE_EXCEEDED, from the guard's limit
//	it closes or resets under
//	a call                       UNAVAILABLE "error reading from server"
//
// # What the caller gets
//
// The last attempt's own status; or, for a call that Kalan refused or ended, an
// error that is a [*kalan.Rejection] (errors.Is(err, policy.Open)) and has a
// gRPC status: RESOURCE_EXHAUSTED for rate; UNAVAILABLE for open, throttled, full,
// waited and shed; DEADLINE_EXCEEDED for timeout and expired; CANCELLED for gone.
// Where an attempt was made and failed, and the next was refused, the status is
// that attempt's, with its details and its text after the reason.
//
// # What the server does
//
// A request waits for a slot of the server's guard and is refused with the same
// codes, before its handler runs. Refusals tell when to come back in a
// grpc-retry-pushback-ms trailer, jittered; -1 where there is no point in
// coming back. What arrives with less time than the work needs is refused as
// expired. The health service bypasses the guard (O-36). A handler's error that
// is a Rejection of a guard further down is answered with its status too. With
// a Drain the server leaves in order: what is in flight is finished, what comes
// is sent elsewhere, and [Steps] says the protocol's farewell.
//
// # Retries have one owner
//
// A client that may retry marks its calls with x-retry-owner. A Server believes
// that mark if Trust says so of the peer, and takes it away otherwise; a Client
// used under such a handler's context repeats nothing and hands the mark on, and
// brings the request's priority and tenant. That a kalanhttp.Handler came before,
// or a kalanhttp.Transport comes after, makes no difference: they carry the same.
//
// # Streams
//
// A stream holds its slot until it ends, and the exchange limit ends it. For
// streams that live long, such as a watch, Long gives the slot back as soon as
// the first message has come (client) or the handler begins (server), and the
// exchange limit then no longer counts. A stream is retried only while it
// cannot be opened. Time in which nobody sends to a client's stream or receives
// from it is the program's: when that adds up to a quarter of the slow threshold,
// the stream says nothing of the service.
//
// # Limits
//
// A call that is cut at its limit is cancelled, and its slot comes free with
// it: the guard believes that a gRPC server stops when it is told to. Calls are
// not hedged, since a reply has one owner. A stream on which one goroutine
// receives while another one pauses before it sends waits for the service, as far
// as can be seen. A server's stream counts whatever its handler waits for, its
// client included: Long is for those that wait for it long.
package kalangrpc
