package kalangrpc

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy/deadline"
)

// The metadata that layers tell each other of their retries with. Those of gRPC
// itself are in gRFC A6.
const (
	pushbackKey = "grpc-retry-pushback-ms"
	previousKey = "grpc-previous-rpc-attempts"
	ownerKey    = "x-retry-owner"
)

// A sooner context has its parent's end and an earlier deadline: the guard and
// grpc-go plan with what is left of the time less the margin, and nothing is
// cut before the caller really leaves. It arms no timer.
type sooner struct {
	context.Context
	deadline time.Time
}

// Deadline returns the earlier one.
func (c sooner) Deadline() (time.Time, bool) { return c.deadline, true }

// keepBack returns ctx with margin taken off its deadline.
func keepBack(ctx context.Context, margin time.Duration) context.Context {
	until, limited := ctx.Deadline()
	if !limited || margin <= 0 {
		return ctx
	}
	return sooner{ctx, until.Add(-margin)}
}

// marked returns ctx with the metadata of its attempt: its number and who
// repeats the call.
func marked(ctx context.Context, n int, owner string) context.Context {
	var pairs []string
	if n > 1 {
		pairs = append(pairs, previousKey, strconv.Itoa(n-1))
	}
	if owner != "" {
		pairs = append(pairs, ownerKey, owner)
	}
	if pairs == nil {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// inherit reads who owns the retries of the incoming call and keeps it in the
// context of the handler, if the peer is trusted. Else the mark is taken away,
// so that no stranger switches our retries off.
func inherit(ctx context.Context, trusted bool) context.Context {
	in, ok := metadata.FromIncomingContext(ctx)
	if !ok {
		return ctx
	}
	owner := in.Get(ownerKey)
	switch {
	case len(owner) == 0:
		return ctx
	case trusted:
		return withOwner(ctx, owner[0])
	}
	in.Delete(ownerKey) // FromIncomingContext has made a copy
	return metadata.NewIncomingContext(ctx, in)
}

type ownerContextKey struct{}

func withOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerContextKey{}, owner)
}

// ownerOf returns who owns the retries of the call that ctx serves, "" when
// nobody has said so.
func ownerOf(ctx context.Context) string {
	owner, _ := ctx.Value(ownerContextKey{}).(string)
	return owner
}

// marginOf applies the default: 0 means it, a negative margin means none.
func marginOf(configured time.Duration) time.Duration {
	if configured == 0 {
		return deadline.DefaultMargin
	}
	return configured
}

// tell applies a caller's Ask.
func tell(ask func(context.Context, string) kalan.Ask, ctx context.Context, method string) kalan.Ask {
	if ask == nil {
		return kalan.Ask{}
	}
	return ask(ctx, method)
}
