package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files that the guides show are right, and say no more than the text beside
// them.
func TestTheFilesInTheGuidesAreRight(t *testing.T) {
	guides, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "guides", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\n```yaml\n")[1:] {
			file, _, _ := strings.Cut(block, "\n```\n")
			if !strings.HasPrefix(file, "upstreams:") {
				continue // another system's
			}
			seen++
			if _, warnings, err := Read(guide, []byte(file+"\n")); err != nil || len(warnings) > 0 {
				t.Errorf("%v %v", err, warnings)
			}
		}
	}
	if seen == 0 {
		t.Error("no guide shows a file")
	}
}
