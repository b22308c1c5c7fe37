package kalangrpc

import (
	"context"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/carry"
)

// WithAsk returns a context whose calls bring the ask, through a [Client] or any
// other of Kalan's. A [Server] makes one for each request, so that what it was
// asked travels on, whatever protocol it goes on in.
func WithAsk(ctx context.Context, ask kalan.Ask) context.Context { return carry.WithAsk(ctx, ask) }

// AskOf returns the ask that ctx carries.
func AskOf(ctx context.Context) kalan.Ask { return carry.Of[kalan.Ask](ctx).Ask }
