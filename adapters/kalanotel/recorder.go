package kalanotel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/kalan-go/kalan"
)

// The attributes.
const (
	guardKey      = attribute.Key("kalan.guard")
	attemptKey    = attribute.Key("kalan.attempt")
	reasonKey     = attribute.Key("kalan.reason")
	stateKey      = attribute.Key("kalan.state")
	retryAfterKey = attribute.Key("kalan.retry_after_s")
	errorTypeKey  = attribute.Key("error.type") // general conventions
)

// A Recorder records with one tracer. It is safe for concurrent use. Use [New].
type Recorder struct {
	tracer trace.Tracer

	mu       sync.Mutex
	breakers map[*kalan.Guard]trace.Span // of those that are not closed
}

// New returns a recorder.
func New(tracer trace.Tracer) *Recorder {
	return &Recorder{tracer: tracer, breakers: make(map[*kalan.Guard]trace.Span)}
}

// Do is kalan.Do, recorded.
func Do[T any](ctx context.Context, r *Recorder, g *kalan.Guard, fn func(context.Context) (T, error)) (T, error) {
	value, err := kalan.Do(ctx, g, Attempts(r, g, fn))
	r.refused(ctx, err)
	return value, err
}

// Hold is kalan.Hold, recorded.
func Hold[T any](ctx context.Context, r *Recorder, g *kalan.Guard, way kalan.Way[T], fn func(context.Context) (T, error)) (T, kalan.Held, error) {
	value, held, err := kalan.Hold(ctx, g, way, Attempts(r, g, fn))
	r.refused(ctx, err)
	return value, held, err
}

// Attempts returns fn with a span around each run of it, for a guard's Do or
// Hold. A panic in fn ends the span and goes on.
func Attempts[T any](r *Recorder, g *kalan.Guard, fn func(context.Context) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (value T, err error) {
		n := kalan.AttemptOf(ctx).Number
		if n > 1 {
			trace.SpanFromContext(ctx).AddEvent("kalan.retry", trace.WithAttributes(guardKey.String(g.Name()), attemptKey.Int(n)))
		}
		ctx, span := r.tracer.Start(ctx, g.Name(), trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(guardKey.String(g.Name()), attemptKey.Int(n)))
		returned := false
		defer func() {
			if !returned {
				span.SetStatus(codes.Error, "the function did not return")
			}
			span.End()
		}()
		value, err = fn(ctx)
		returned = true
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
			span.SetAttributes(errorType(err))
		}
		return value, err
	}
}

// refused tells the caller's span that its guard refused, or ended the call.
func (r *Recorder) refused(ctx context.Context, err error) {
	var rejected *kalan.Rejection
	if err == nil || !errors.As(err, &rejected) {
		return
	}
	attributes := []attribute.KeyValue{
		guardKey.String(rejected.Guard), reasonKey.String(rejected.Reason.String()), errorType(rejected),
	}
	if rejected.RetryAfter > 0 {
		attributes = append(attributes, retryAfterKey.Float64(rejected.RetryAfter.Seconds()))
	}
	trace.SpanFromContext(ctx).AddEvent("kalan.refused", trace.WithAttributes(attributes...))
}

// errorType is low in cardinality: a reason, or a type.
func errorType(err error) attribute.KeyValue {
	var rejected *kalan.Rejection
	if errors.As(err, &rejected) {
		return errorTypeKey.String(rejected.Reason.String())
	}
	return errorTypeKey.String(fmt.Sprintf("%T", err))
}
