// Command kalan keeps one slow dependency from taking everything down: it plans
// a time budget, rehearses what a configuration does, and enforces it as a
// gateway. Run "kalan help" for its commands.
//
// It ends with 0 when all is well, 1 when something failed and 2 when what it
// was given is wrong: a flag, an argument, a file. Errors go to stderr, once, and
// those about a file are lines "file:line:column: path: what to do".
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// The statuses that the process ends with.
const (
	statusFailed = 1
	statusBad    = 2
)

// execute runs the command that args name and returns the status.
func execute(args []string, out, errOut io.Writer) int {
	root, started := newRootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	command, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	var coded interface {
		error
		ExitCode() int
	}
	switch {
	case errors.As(err, &coded):
		fmt.Fprintln(errOut, err)
		return coded.ExitCode()
	case !*started: // cobra refused the arguments: no command has run
		fmt.Fprintf(errOut, "kalan: %v\nRun '%s --help' for usage.\n", err, command.CommandPath())
		return statusBad
	}
	fmt.Fprintf(errOut, "kalan: %v\n", err)
	return statusFailed
}

// newRootCommand returns the command tree, and what tells whether one of its
// commands was started.
func newRootCommand() (*cobra.Command, *bool) {
	root := &cobra.Command{
		Use:           "kalan",
		Short:         "Keep one slow dependency from taking everything down",
		Long:          "Kalan keeps one slow dependency from taking everything down.\nOne kalan.yaml says what may wait how long for what; these commands plan, rehearse and enforce it.",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newServeCommand(), newPlanCommand(), newSimulateCommand(), newDemoCommand(), newBridgeCommand(),
		newSchemaCommand(), newVersionCommand())
	root.AddCommand(newOverloadCommands()...)
	started := new(bool)
	for _, c := range root.Commands() {
		inner := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			*started = true
			return inner(c, args)
		}
	}
	return root, started
}

// A failure is an error with the status that the process ends with.
type failure struct {
	error
	status int
}

// ExitCode is the status that the process ends with.
func (f failure) ExitCode() int { return f.status }

func (f failure) Unwrap() error { return f.error }
