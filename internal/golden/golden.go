// Package golden compares what a test sees with a file that a person has read
// and accepted. Run the tests with -update to rewrite the files, and read the
// difference before committing it.
//
// There are two forms. File compares one whole text. Script plays a scenario:
// a file of lines "instant verb arguments -> answer", told to a machine one
// after the other, that reads like a story. Text behind # and empty lines are
// kept as they are.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

var update = flag.Bool("update", false, "rewrite golden and scenario files with what the tests see")

// File fails t unless got is the content of the file at path.
func File(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\nrun this test with -update to make the file", err)
	}
	if diff := firstDifference(string(want), got); diff != "" {
		t.Errorf("%s differs:\n%s\nrun with -update if the new text is right", path, diff)
	}
}

// A Player is told one line of a scenario and answers for it. A failure to
// understand the line is t.Fatal's business.
type Player func(now policy.Instant, verb string, args []string) string

// Scripts plays every file that matches pattern, each with a new player.
func Scripts(t *testing.T, pattern string, start func(t testing.TB) Player) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario matches %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			File(t, file, play(t, string(text), start(t)))
		})
	}
}

// play returns the scenario with each line's answer replaced by the player's.
func play(t testing.TB, text string, tell Player) string {
	t.Helper()
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		code, comment, commented := strings.Cut(line, "#")
		script, _, _ := strings.Cut(code, "->")
		words := strings.Fields(script)
		if len(words) == 0 {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			continue
		}
		at, err := time.ParseDuration(words[0])
		if err != nil || len(words) < 2 {
			t.Fatalf("line %d: %q is not \"instant verb arguments\"", i+1, line)
		}
		answer := tell(policy.Instant(at), words[1], words[2:])
		out.WriteString(format(words, answer))
		if commented {
			out.WriteString("  #" + strings.TrimRight(comment, " "))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// format lines up the instants and the answers.
func format(words []string, answer string) string {
	line := words[0] + strings.Repeat(" ", max(1, 8-len(words[0]))) + strings.Join(words[1:], " ")
	if answer == "" {
		return line
	}
	return line + strings.Repeat(" ", max(1, 36-len(line))) + "-> " + answer
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) {
			return "+ " + g[i]
		}
		if i >= len(g) {
			return "- " + w[i]
		}
		if w[i] != g[i] {
			return "- " + w[i] + "\n+ " + g[i]
		}
	}
	return ""
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
