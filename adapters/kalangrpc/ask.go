package kalangrpc

import (
	"context"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/carry"
)

// WithAsk returns a context whose calls through a [Client] bring the ask. A
// [Server] makes one for each request, so that what it was asked travels on.
func WithAsk(ctx context.Context, ask kalan.Ask) context.Context {
	return carry.With(ctx, carry.Asked[kalan.Ask]{Ask: ask})
}

// AskOf returns the ask that ctx carries.
func AskOf(ctx context.Context) kalan.Ask { return carry.Of[kalan.Ask](ctx).Ask }
