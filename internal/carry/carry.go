// Package carry lets what a request asked travel with its context, from the
// server that received it to the clients that are called on its behalf, whatever
// protocol each of them speaks: its priority and tenant, and who repeats it
// (F20). It serves the adapters, which all carry a kalan.Ask; the type is a
// parameter so that nothing here knows the driver.
package carry

import "context"

// Asked is what a request asked.
type Asked[A any] struct {
	Ask A
	// Owner is who repeats the request, when it is a layer before this one: it
	// is handed on, and nothing is repeated here. "" means nobody has said so.
	Owner string
}

type key[A any] struct{}

// WithAsk returns a context that carries the ask, for the same owner of the
// retries as before: whoever changes a priority does not mean to repeat.
func WithAsk[A any](ctx context.Context, ask A) context.Context {
	return With(ctx, Asked[A]{Ask: ask, Owner: Of[A](ctx).Owner})
}

// With returns a context that carries a.
func With[A any](ctx context.Context, a Asked[A]) context.Context {
	return context.WithValue(ctx, key[A]{}, a)
}

// Of returns what ctx carries; the zero Asked when that is nothing.
func Of[A any](ctx context.Context) Asked[A] {
	a, _ := ctx.Value(key[A]{}).(Asked[A])
	return a
}
