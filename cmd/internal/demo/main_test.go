package demo

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan/cmd/internal/config"
	"github.com/kalan-go/kalan/cmd/internal/gateway"
)

// TestMain is a bridge, or a gateway, when a test has started this binary as
// one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(child(os.Args[1], os.Args[len(os.Args)-1]))
	}
	goleak.VerifyTestMain(m)
}

// child is what this binary does as one of the demo's processes, and its exit
// status.
func child(command, last string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if command == BridgeCommand {
		if err := Bridge(context.Background(), last, os.Stdin, os.Stdout); err != nil {
			return fail(err)
		}
		return 0
	}
	file, _, err := config.Load(last)
	if err != nil {
		return fail(err)
	}
	g, err := gateway.New(file, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return fail(err)
	}
	return g.Run(context.Background())
}
