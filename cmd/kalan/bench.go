package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kalan-go/kalan/cmd/internal/overload"
	"github.com/kalan-go/kalan/cmd/internal/overload/backend"
	"github.com/kalan-go/kalan/cmd/internal/overload/relay"
)

// newOverloadCommands is what scripts/bench-overload.sh is made of: processes of
// their own, so that each gets the processor that it should.
func newOverloadCommands() []*cobra.Command {
	return []*cobra.Command{newOverloadBackend(), newOverloadRelay(), newOverloadLoad(), newOverloadTable()}
}

func newOverloadBackend() *cobra.Command {
	var address string
	c := &cobra.Command{
		Use:    "overload-backend",
		Hidden: true,
		Short:  "Be an upstream of a fixed capacity",
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			b := backend.New(backend.Setting{Workers: 4, Service: 20 * time.Millisecond}, "X-Remaining-Ms")
			return backend.Serve(ctx, address, b)
		},
	}
	c.Flags().StringVar(&address, "listen", "127.0.0.1:9000", "where to listen")
	return c
}

func newOverloadRelay() *cobra.Command {
	var address, upstream string
	c := &cobra.Command{
		Use:    "overload-relay",
		Hidden: true,
		Short:  "Be a gateway that does nothing but pass on",
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return relay.Serve(ctx, address, upstream)
		},
	}
	c.Flags().StringVar(&address, "listen", "127.0.0.1:8080", "where to listen")
	c.Flags().StringVar(&upstream, "upstream", "127.0.0.1:9000", "where to pass it on to")
	return c
}

func newOverloadLoad() *cobra.Command {
	var name, label string
	var detail bool
	var s overload.Subject
	c := &cobra.Command{
		Use:    "overload-load",
		Hidden: true,
		Short:  "Play one case and print its figures as one line",
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all := overload.Cases()
			i := slices.IndexFunc(all, func(c overload.Case) bool { return c.Name == name })
			if i < 0 {
				for _, c := range all {
					fmt.Fprintf(os.Stderr, "%-10s %s\n", c.Name, c.About)
				}
				return failure{fmt.Errorf("kalan: there is no case %.40q; write one of these", name), statusBad}
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			run, err := all[i].Play(ctx, s)
			if err != nil {
				return err
			}
			if detail {
				run.Detail(c.ErrOrStderr())
			}
			return json.NewEncoder(c.OutOrStdout()).Encode(overload.Line{Subject: label, Case: name, Figures: all[i].Judge(run)})
		},
	}
	c.Flags().StringVar(&name, "case", "", "the `name` of the case")
	c.Flags().StringVar(&label, "label", "kalan", "what to call the gateway")
	c.Flags().BoolVar(&detail, "detail", false, "write each stage, second by second, to stderr")
	c.Flags().StringVar(&s.URL, "url", "http://127.0.0.1:8080", "where the gateway listens")
	c.Flags().StringVar(&s.Metrics, "metrics", "", "where its metrics are")
	c.Flags().StringVar(&s.Backend.Base, "backend", "http://127.0.0.1:9000", "where the upstream listens")
	return c
}

func newOverloadTable() *cobra.Command {
	var how, page, readme string
	c := &cobra.Command{
		Use:    "overload-table",
		Hidden: true,
		Short:  "Print the medians of lines on stdin; exit 1 when Kalan has missed a mark",
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			lines, err := overload.Read(c.InOrStdin())
			if err != nil {
				return failure{fmt.Errorf("kalan: %w", err), statusBad}
			}
			table := overload.NewTable(lines)
			var text strings.Builder
			if err := table.Write(&text); err != nil {
				return err
			}
			fmt.Fprint(c.OutOrStdout(), text.String())
			if err := errors.Join(
				putTable(page, how+"\n\n```\n"+text.String()+"```\n"),
				putTable(readme, how+"\n\n"+table.Summary())); err != nil {
				return err
			}
			if missed := table.Missed("kalan"); len(missed) > 0 {
				return fmt.Errorf("%d marks are missed: %q", len(missed), missed)
			}
			return nil
		},
	}
	c.Flags().StringVar(&how, "how", "", "how it was measured, in one `line`")
	c.Flags().StringVar(&page, "page", "", "the `file` to put the table into")
	c.Flags().StringVar(&readme, "readme", "", "the `file` to put a summary into")
	return c
}

// putTable puts text into its place in the document, if there is one.
func putTable(document, text string) error {
	if document == "" {
		return nil
	}
	old, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	renewed, err := overload.Put(string(old), text)
	if err != nil {
		return fmt.Errorf("%s %w", document, err)
	}
	return os.WriteFile(document, []byte(renewed), 0o644)
}
