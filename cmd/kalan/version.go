package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), version())
			return err
		},
	}
}

// version says what this binary was built from, as far as it knows.
func version() string {
	built, ok := debug.ReadBuildInfo()
	if !ok {
		built = &debug.BuildInfo{}
	}
	return describe(built, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
}

// describe is one line: version, revision when it is known, and what compiled it.
func describe(built *debug.BuildInfo, goVersion, platform string) string {
	name, revision, modified := "development", "", ""
	if v := built.Main.Version; v != "" && v != "(devel)" {
		name = v
	}
	for _, s := range built.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " modified"
		}
	}
	return fmt.Sprintf("kalan %s%s%s (%s, %s)", name, revision, modified, goVersion, platform)
}
