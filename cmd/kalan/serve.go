package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/kalan-go/kalan/cmd/internal/certs"
	"github.com/kalan-go/kalan/cmd/internal/config"
	"github.com/kalan-go/kalan/cmd/internal/gateway"
	"github.com/kalan-go/kalan/cmd/internal/strict"
)

// errEnded stands for what the gateway has logged already.
var errEnded = errors.New("the gateway did not end well; its log says why")

func newServeCommand() *cobra.Command {
	var file, level, format string
	c := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "Serve the routes of a configuration",
		Long: `Serve the routes of a configuration, each upstream behind its defences.

The file is read strictly: everything that is wrong with it is said at once, with
its place in the file, and nothing is started. An upstream that cannot be reached
is no mistake. "kalan schema" lists the keys.

SIGTERM, or an interrupt, makes it leave in order: readiness says no, requests are
served on for drain.delay and may finish within drain.finish. A second signal ends it
at once.`,
		Example: `  kalan serve --config examples/trading/kalan.yaml`,
		Args:    fileByFlag,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return failure{errors.New("--config: is empty; write the name of a file, such as kalan.yaml"), statusBad}
			}
			log, err := newLogger(c.ErrOrStderr(), level, format)
			if err != nil {
				return failure{err, statusBad}
			}
			captureLog(log)
			return serve(c.Context(), file, log, c.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&file, "config", "kalan.yaml", "the configuration `file`")
	c.Flags().StringVar(&level, "log-level", "info", "debug, info, warn or error; debug logs each request")
	c.Flags().StringVar(&format, "log-format", "text", "text or json")
	return c
}

// fileByFlag refuses the name of a file without its flag.
func fileByFlag(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%.60q stands alone; a flag names the file: --config %.60s", args[0], args[0])
	}
	return nil
}

// serve runs the gateway of one file until it has left.
func serve(ctx context.Context, name string, log *slog.Logger, errOut io.Writer) error {
	file, warnings, err := config.Load(name, certs.Check)
	if len(warnings) > 0 {
		fmt.Fprintln(errOut, warnings)
	}
	if err != nil {
		return failure{named(err), statusBad}
	}
	g, err := gateway.New(file, log)
	if err != nil {
		return err
	}
	if status := g.Run(ctx); status != 0 {
		return failure{errEnded, status}
	}
	return nil
}

// named puts the program's name before an error that does not begin with a
// place in a file.
func named(err error) error {
	if found := (strict.Problems)(nil); errors.As(err, &found) {
		return err
	}
	return fmt.Errorf("kalan: %w", err)
}

// captureLog takes over what net/http writes to the standard log, such as a line
// for every answer that an upstream gives without being asked, with what it says:
// that is for those who ask for everything, in the form of all other lines.
func captureLog(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(slog.NewLogLogger(to.Handler(), slog.LevelDebug).Writer())
}

// newLogger returns what the gateway logs to.
func newLogger(out io.Writer, level, format string) (*slog.Logger, error) {
	var options slog.HandlerOptions
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level: %.40q is not a level; write debug, info, warn or error", level)
	}
	options.Level = least
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(out, &options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, &options)), nil
	}
	return nil, fmt.Errorf("--log-format: %.40q is not a format; write text or json", format)
}
