package kalangrpc

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/kalan-go/kalan/policy/deadline"
)

// The metadata that layers tell each other of their retries with. Those of gRPC
// itself are in gRFC A6.
const (
	pushbackKey = "grpc-retry-pushback-ms"
	previousKey = "grpc-previous-rpc-attempts"
	ownerKey    = "x-retry-owner"
)

// anyOwner marks the calls of a client that has no name, or one that cannot be
// written.
const anyOwner = "kalan"

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
		pairs = append(pairs, ownerKey, printable(owner))
	}
	if pairs == nil {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// printable returns the owner where metadata can hold it: grpc-go fails a call,
// as INTERNAL, for one letter beyond ASCII. That there is a mark matters, and
// not whose it is.
func printable(owner string) string {
	for i := range len(owner) {
		if owner[i] < ' ' || owner[i] > '~' {
			return anyOwner
		}
	}
	return owner
}

// inherit reads who owns the retries of the incoming call, "" when nobody says
// so. The mark of a peer that is not trusted is taken away, so that no stranger
// switches our retries off.
func inherit(ctx context.Context, trusted bool) (context.Context, string) {
	in, _ := metadata.FromIncomingContext(ctx)
	owner := in.Get(ownerKey)
	switch {
	case len(owner) == 0:
		return ctx, ""
	case trusted:
		return ctx, owner[0]
	}
	in.Delete(ownerKey) // FromIncomingContext has made a copy
	return metadata.NewIncomingContext(ctx, in), ""
}

// marginOf applies the default: 0 means it, a negative margin means none.
func marginOf(configured time.Duration) time.Duration {
	if configured == 0 {
		return deadline.DefaultMargin
	}
	return configured
}
