package demo

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is a bridge when a test has started this binary as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == BridgeCommand {
		if err := Bridge(context.Background(), os.Args[len(os.Args)-1], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
