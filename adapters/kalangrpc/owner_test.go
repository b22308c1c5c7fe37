package kalangrpc_test

import (
	"context"
	"testing"

	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"

	"github.com/kalan-go/kalan/adapters/kalangrpc"
)

// A client without a name, or with one that metadata cannot hold, marks its
// calls all the same: without the mark others would retry too (F20), and with
// that name no call would be sent.
func TestEveryClientCanMarkItsCalls(t *testing.T) {
	for name, want := range map[string]string{"prices": "prices", "": "kalan", "Preisbrücke": "kalan", "a\nb": "kalan"} {
		owner := "no call"
		s := &service{empty: func(ctx context.Context, _ int64) error {
			md, _ := metadata.FromIncomingContext(ctx)
			owner = first(md, "x-retry-owner")
			return nil
		}}
		client := call(t, s, kalangrpc.Client{Guard: guard(t, nil), Repeatable: always, Owner: name})
		if _, err := client.EmptyCall(t.Context(), &grpc_testing.Empty{}); err != nil || owner != want {
			t.Errorf("%q: marked as %q, %v; want %q", name, owner, err, want)
		}
	}
}
