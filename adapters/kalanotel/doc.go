// Package kalanotel records what guards do as OpenTelemetry spans: one span for
// each attempt, events for retries and refusals, and a span for the time that a
// breaker is not closed.
//
// In one line where a call is made:
//
//	price, err := kalanotel.Do(ctx, recorder, guard, fetch) // for kalan.Do(ctx, guard, fetch)
//
// and one where the program starts, for the breakers:
//
//	go kalan.Watch(ctx, recorder, guards...)
//
// with recorder := kalanotel.New(otel.Tracer("...")).
//
// # What is recorded
//
//	span   the guard's name        each attempt; kind client; child of the caller's span
//	event  kalan.retry             on the caller's span, when an attempt is not the first
//	event  kalan.refused           on the caller's span, when the guard refused or ended the call
//	span   breaker <guard>         from opening until closed; kind internal; a root
//	event  kalan.breaker.moved     on that span, for each move
//
// Attributes: kalan.guard, kalan.attempt (from 1), kalan.reason, kalan.state,
// kalan.retry_after_s, and error.type by the general conventions: the reason of
// a refusal, else the error's Go type. An attempt's span has the status Error
// when the attempt returned an error, whatever the breaker made of it.
//
// # When not
//
// For HTTP, gRPC and Redis the instrumentation of the client itself knows more:
// put it inside the guard, so that it sees attempts (otelhttp as the transport
// under kalanhttp's, otelgrpc as a stats handler), and record the breakers here.
//
// # Limits
//
// At most 4,096 breakers have a span open at once; one more ends another's.
// An attempt's span ends when its function returns; a body that is held by
// kalan.Hold may still be read after that. Tracing costs what the tracer costs,
// which is more than the guard does.
package kalanotel
