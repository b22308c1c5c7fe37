package kalanotel_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanotel"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A studio records spans.
type studio struct {
	*tracetest.SpanRecorder
	*kalanotel.Recorder
	tracer trace.Tracer
}

func record(t testing.TB) *studio {
	spans := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	tracer := provider.Tracer("test")
	return &studio{spans, kalanotel.New(tracer), tracer}
}

func guard(t testing.TB, change func(*kalan.Config)) *kalan.Guard {
	t.Helper()
	c := kalan.Config{Name: "bridge-a"}
	c.Exchange = time.Second
	c.Retry.Base = time.Millisecond
	c.Breaker.Calls, c.Breaker.Open, c.Breaker.Probes = 3, 20*time.Millisecond, 1
	if change != nil {
		change(&c)
	}
	g, err := kalan.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// value returns an attribute's value as text.
func value(attributes []attribute.KeyValue, key attribute.Key) string {
	for _, a := range attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

func names(events []sdk.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.Name)
	}
	return all
}

// The first attempt fails, the second answers: two spans below the caller's,
// and an event that says so.
func TestEachAttemptIsASpan(t *testing.T) {
	s := record(t)
	ctx, caller := s.tracer.Start(t.Context(), "caller")
	n := 0
	got, err := kalanotel.Do(ctx, s.Recorder, guard(t, nil), func(context.Context) (int, error) {
		if n++; n == 1 {
			return 0, io.ErrUnexpectedEOF
		}
		return 42, nil
	})
	caller.End()
	if got != 42 || err != nil {
		t.Fatal(got, err)
	}
	spans := s.Ended()
	if len(spans) != 3 {
		t.Fatalf("%d spans, want two attempts and the caller's", len(spans))
	}
	for i, span := range spans[:2] {
		if span.Name() != "bridge-a" || span.SpanKind() != trace.SpanKindClient || span.Parent().SpanID() != caller.SpanContext().SpanID() ||
			value(span.Attributes(), "kalan.attempt") != []string{"1", "2"}[i] {
			t.Errorf("attempt %d: %s, %v, %v", i+1, span.Name(), span.SpanKind(), span.Attributes())
		}
	}
	if spans[0].Status().Code != codes.Error || value(spans[0].Attributes(), "error.type") != "*errors.errorString" || spans[1].Status().Code == codes.Error {
		t.Errorf("statuses %v and %v, %v", spans[0].Status(), spans[1].Status(), spans[0].Attributes())
	}
	if got := names(spans[2].Events()); !slices.Equal(got, []string{"kalan.retry"}) {
		t.Errorf("events %v", got)
	}
}

// A refusal is an event of the caller's, with its reason.
func TestARefusalIsAnEvent(t *testing.T) {
	s := record(t)
	ctx, caller := s.tracer.Start(t.Context(), "caller")
	shut := guard(t, func(c *kalan.Config) { c.Breaker.Mode = 1 })
	_, _, err := kalanotel.Hold(ctx, s.Recorder, shut, kalan.Way[int]{}, func(context.Context) (int, error) { return 0, nil })
	caller.End()
	if !errors.Is(err, policy.Open) {
		t.Fatal(err)
	}
	spans := s.Ended()
	if len(spans) != 1 || len(spans[0].Events()) != 1 {
		t.Fatalf("%d spans", len(spans))
	}
	refused := spans[0].Events()[0]
	if refused.Name != "kalan.refused" || value(refused.Attributes, "kalan.reason") != "open" || value(refused.Attributes, "error.type") != "open" {
		t.Errorf("%+v", refused)
	}
}

// A panic ends the span and reaches the caller.
func TestAPanicEndsTheSpan(t *testing.T) {
	s := record(t)
	defer func() {
		if p := recover(); p != "a defect" {
			t.Errorf("recovered %v", p)
		}
		if spans := s.Ended(); len(spans) != 1 || spans[0].Status().Code != codes.Error {
			t.Errorf("%d spans", len(spans))
		}
	}()
	_, _ = kalanotel.Do(t.Context(), s.Recorder, guard(t, nil), func(context.Context) (int, error) { panic("a defect") })
}

// A breaker that opens, probes and closes is one span with every move in it;
// one that is still open at the end is a span too.
func TestABreakerThatOpensIsASpan(t *testing.T) {
	s := record(t)
	g := guard(t, func(c *kalan.Config) { c.Retry.Attempts = 1 })
	for range 10 {
		_, _ = kalan.Do(t.Context(), g, func(context.Context) (int, error) { return 0, io.ErrUnexpectedEOF })
	}
	for g.Snapshot().Breaker.State != 0 {
		_, _ = kalan.Do(t.Context(), g, func(context.Context) (int, error) { return 0, nil })
	}
	told, cancel := context.WithCancel(t.Context())
	cancel()
	kalan.Watch(told, s.Recorder, g) // tells what was kept and returns
	spans := s.Ended()
	if len(spans) != 1 {
		t.Fatalf("%d spans, want the breaker's", len(spans))
	}
	span := spans[0]
	var states []string
	for _, e := range span.Events() {
		states = append(states, value(e.Attributes, "kalan.state"))
	}
	if span.Name() != "breaker bridge-a" || span.Parent().IsValid() || !slices.Equal(states, []string{"open", "half-open", "closed"}) {
		t.Errorf("%s, states %v", span.Name(), states)
	}
	if open := span.EndTime().Sub(span.StartTime()); open < 20*time.Millisecond {
		t.Errorf("the span is %v long, the open time is 20ms", open)
	}

	other := guard(t, func(c *kalan.Config) { c.Retry.Attempts = 1 })
	for range 10 {
		_, _ = kalan.Do(t.Context(), other, func(context.Context) (int, error) { return 0, io.ErrUnexpectedEOF })
	}
	kalan.Watch(told, s.Recorder, other)
	if n := len(s.Ended()); n != 1 {
		t.Errorf("%d spans have ended while the breaker is open, want 1", n)
	}
	s.Recorder.End()
	if n := len(s.Ended()); n != 2 {
		t.Errorf("%d spans have ended, want 2", n)
	}
}

// O-24: guards that are gone while their breakers are open do not pile up.
func TestAFloodOfBreakersIsBounded(t *testing.T) {
	s := record(t)
	for range 5000 {
		s.Recorder.Observe(new(kalan.Guard), []policy.Event{{Kind: policy.Moved, Count: int64(breaker.Open)}}, 0)
	}
	if n := len(s.Ended()); n != 5000-4096 {
		t.Errorf("%d of 5000 have ended", n)
	}
	s.Recorder.End()
	if n := len(s.Ended()); n != 5000 {
		t.Errorf("%d of 5000 have ended", n)
	}
}
