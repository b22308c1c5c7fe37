package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The programs that a guide shows as they were before they moved to Kalan compile
// with the peers of this module, and what they are configured with is what the
// peers take: one that panics is no program. (Those after it: internal/house.)
func TestWhatPeopleMoveFromRuns(t *testing.T) {
	guides, err := filepath.Glob(filepath.Join("..", "docs", "guides", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\n```go before\n")[1:] {
			seen++
			program, _, _ := strings.Cut(block, "\n```\n")
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(program+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			binary := filepath.Join(t.TempDir(), "before")
			if out, err := exec.Command("go", "build", "-o", binary, file).CombinedOutput(); err != nil {
				t.Errorf("%s shows a program that does not compile: %v\n%s", guide, err, out)
				continue
			}
			// It may end with an error: what it calls is not there.
			if out, _ := exec.CommandContext(t.Context(), binary).CombinedOutput(); strings.Contains(string(out), "panic:") {
				t.Errorf("%s shows a program that panics:\n%s", guide, out)
			}
		}
	}
	if seen == 0 {
		t.Error("no guide shows a program of before")
	}
}
