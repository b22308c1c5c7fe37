package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// tell runs the tool and returns what it wrote to its outputs, and its status.
func tell(args ...string) (out, errOut string, status int) {
	var o, e bytes.Buffer
	status = execute(args, &o, &e)
	return o.String(), e.String(), status
}

func TestStatuses(t *testing.T) {
	bad := filepath.Join("..", "internal", "config", "testdata", "bad.yaml")
	for _, c := range []struct {
		args   string
		status int
		out    string // what stdout begins with
		err    string // what stderr begins with
	}{
		{"", 0, "Kalan keeps one slow dependency", ""},
		{"help", 0, "Kalan keeps one slow dependency", ""},
		{"help serve", 0, "Serve the routes of a configuration", ""},
		{"srve", 2, "", "kalan: unknown command \"srve\" for \"kalan\"\n\nDid you mean this?\n\tserve\n"},
		{"serve --nonsense", 2, "", "kalan: unknown flag: --nonsense\nRun 'kalan serve --help' for usage.\n"},
		{"serve extra", 2, "", "kalan: \"extra\" stands alone; a flag names the file: --config extra\nRun 'kalan serve --help' for usage.\n"},
		{"serve --config none.yaml", 2, "", "kalan: none.yaml: there is no such file;"},
		{"serve --config " + bad, 2, "", bad + ":3:1: wokers: unknown key; did you mean \"workers\"?\n"},
		{"serve --log-level loud", 2, "", "--log-level: \"loud\" is not a level;"},
		{"serve --log-format xml", 2, "", "--log-format: \"xml\" is not a format;"},
		{"version", 0, "kalan ", ""},
		{"--version", 0, "kalan ", ""},
		{"schema", 0, "{\n", ""},
		{"completion bash", 0, "# bash completion", ""},
		{"--nonsense", 2, "", "kalan: unknown flag: --nonsense\nRun 'kalan --help' for usage.\n"},
		{"schema extra", 2, "", "kalan: unknown command \"extra\" for \"kalan schema\"\n"},
		{"simulate", 2, "", "kalan: requires at least 1 arg(s)"},
		{"demo --quick --serve", 2, "", "kalan: if any flags in the group [quick serve] are set"},
		{"plan --budget soon", 2, "", "--budget: "},
	} {
		out, errOut, status := tell(strings.Fields(c.args)...)
		if status != c.status || !strings.HasPrefix(out, c.out) || !strings.HasPrefix(errOut, c.err) || (out == "") != (c.out == "") || (errOut == "") != (c.err == "") {
			t.Errorf("kalan %s ended with %d, wrote\n%.300s\nand\n%.300s", c.args, status, out, errOut)
		}
		if strings.Contains(errOut, "Usage:") {
			t.Errorf("kalan %s explains itself where it was not asked to:\n%s", c.args, errOut)
		}
	}
}

// A full disk or a closed pipe is a failure, not a success without output.
func TestAFailedWriteIsAFailure(t *testing.T) {
	var errOut bytes.Buffer
	for _, command := range []string{"version", "schema"} {
		errOut.Reset()
		if status := execute([]string{command}, closed{}, &errOut); status != 1 || errOut.String() != "kalan: "+os.ErrClosed.Error()+"\n" {
			t.Errorf("%s ended with %d and %s", command, status, &errOut)
		}
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestVersionSaysWhatItKnows(t *testing.T) {
	built := &debug.BuildInfo{}
	for _, want := range []string{
		"kalan development (go1, os/arch)",
		"kalan v1.2.3 0123456789ab modified (go1, os/arch)",
	} {
		if got := describe(built, "go1", "os/arch"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		built.Main.Version = "v1.2.3"
		built.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	}
}
