package kalanhttp

import (
	"context"

	"github.com/kalan-go/kalan"
)

// askKey is where a context carries what its calls ask.
type askKey struct{}

type asked struct {
	kalan.Ask
	owner string // who repeats, when it is somebody before us
}

// WithAsk returns a context whose calls through a [Transport] bring the ask:
// their priority, their tenant, and whether another layer repeats them. A
// [Handler] makes one for each request, so that what it was asked travels on.
func WithAsk(ctx context.Context, ask kalan.Ask) context.Context {
	return context.WithValue(ctx, askKey{}, asked{Ask: ask})
}

// AskOf returns the ask that ctx carries.
func AskOf(ctx context.Context) kalan.Ask { return askedOf(ctx).Ask }

func askedOf(ctx context.Context) asked {
	a, _ := ctx.Value(askKey{}).(asked)
	return a
}
