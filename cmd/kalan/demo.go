package main

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kalan-go/kalan/cmd/internal/demo"
	"github.com/kalan-go/kalan/examples"
)

var (
	bareExample  = demo.Config{Name: "examples/trading/bare.yaml", Text: examples.TradingBare}
	kalanExample = demo.Config{Name: "examples/trading/kalan.yaml", Text: examples.Trading}
)

func newDemoCommand() *cobra.Command {
	var quick, serve bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Tell the story of one bridge that hangs, without and with the defences",
		Long: `Tell the story of one bridge that hangs, without and with the defences.

Four bridges, a gateway and their callers, as processes on free loopback ports: 200
orders and prices a second, and after five seconds bridge-a stops answering. Each
line is one second. The gateway of the first telling has no defences, that of the
second has them. Then what is claimed is held against what was seen: exit 1, and
the claim, when it did not hold. It takes about forty seconds.`,
		Example: `  kalan demo
  kalan demo --serve   # keep bridges and gateway running, to try things by hand`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if serve {
				return demo.Serve(ctx, c.OutOrStdout(), kalanExample)
			}
			return demo.Tell(ctx, c.OutOrStdout(), bareExample, kalanExample, quick)
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "tell a shorter story, of about twenty seconds")
	c.Flags().BoolVar(&serve, "serve", false, "start the bridges and a gateway with the defences, and keep them running")
	c.MarkFlagsMutuallyExclusive("quick", "serve")
	return c
}

// newBridgeCommand is one bridge of the demo, as a process of its own.
func newBridgeCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:    demo.BridgeCommand,
		Short:  "Be one bridge of the demo",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return demo.Bridge(c.Context(), name, c.InOrStdin(), c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&name, "name", "bridge", "what to answer with")
	return c
}
