package house

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// foreign matches what ties a file to one machine or one registry. The names
// are put together here so that this file does not contain them.
var foreign = regexp.MustCompile(strings.Join([]string{
	`(^|[\s"'=:(])/(work|root|home)/`,
	`\b(proxy|sum)\.golang` + `\.org`,
	`\bregistry\.` + `npmjs\.org`,
	`\b(pypi|files\.pythonhosted)` + `\.org`,
	`\b(static\.|index\.)?crates` + `\.io`,
	`\brepo1?\.maven` + `\.`,
	`\bdeb\.debian` + `\.org`,
}, "|"))

const whyNotForeign = "a path of one machine works on that machine, and a registry's host belongs into the environment of whoever " +
	"builds, who may have a mirror. Use a relative path, a flag, or the client's own configuration."

func TestNoFileNamesAMachineOrARegistry(t *testing.T) {
	for _, name := range tracked(t) {
		text, err := os.ReadFile(filepath.Join(repository(), name))
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			continue // removed and not yet committed, or not a text
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := foreign.FindString(line); found != "" {
				t.Errorf("%s:%d: %q\n\nWhy: %s", name, i+1, strings.TrimSpace(found), whyNotForeign)
			}
		}
	}
}

func TestTheForeignRuleStillSees(t *testing.T) {
	for _, bad := range []string{
		"GOPROXY=https://proxy.golang" + ".org", "see /ro" + "ot/go/pkg", `"/ho` + `me/someone/x"`, "cd /wo" + "rk/x",
		"https://registry." + "npmjs.org/x", "deb http://deb.debian" + ".org/debian",
	} {
		if !foreign.MatchString(bad) {
			t.Errorf("%q passes", bad)
		}
	}
	for _, good := range []string{"./work/x", "GET /orders/", "docs/home/x", "https://www.rfc-editor.org/rfc/rfc9457", "go.uber.org/goleak"} {
		if foreign.MatchString(good) {
			t.Errorf("%q does not pass", good)
		}
	}
}

// tracked returns the files that git knows, new ones that it will know included.
func tracked(t *testing.T) []string {
	t.Helper()
	command := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	command.Dir = repository()
	out, err := command.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v (this test reads the list of tracked files: run it in a clone)", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if !slices.Contains(names, "go.mod") {
		t.Fatal("git knows no go.mod: the rule sees no repository")
	}
	return names
}

const whyAnADR = "a dependency is somebody else's bugs, releases and security notices, for as long as the module lives. Say in a page " +
	"under docs/adr what it is needed for, what was tried instead, and what it costs; write its module path there."

func TestEveryDependencyHasItsReason(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(repository(), "docs", "adr", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no page in docs/adr (%v)", err)
	}
	var reasons strings.Builder
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		reasons.Write(text)
	}
	for _, dir := range append([]string{""}, nested...) {
		text, err := os.ReadFile(filepath.Join(repository(), dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dependency := range unexplained(string(text), reasons.String()) {
			t.Errorf("%s requires %s\n\nWhy: %s", filepath.ToSlash(filepath.Join(dir, "go.mod")), dependency, whyAnADR)
		}
	}
}

func TestTheDependencyRuleStillSees(t *testing.T) {
	const mod = "module x\n\nrequire example.com/single v1.0.0\n\nrequire (\n\texample.com/told v1.2.0\n\texample.com/untold v1.0.0\n\t" +
		"example.com/theirs v1.0.0 // indirect\n\t" + module + " v0.0.0\n)\n"
	got := unexplained(mod, "We take `example.com/told`, because it is small.")
	if want := []string{"example.com/single", "example.com/untold"}; !slices.Equal(got, want) {
		t.Errorf("unexplained: %v, want %v", got, want)
	}
}

// unexplained returns the direct dependencies of a go.mod that the reasons do
// not name. A path counts as named when no longer path goes on behind it.
func unexplained(mod, reasons string) []string {
	var found []string
	inBlock := false
	for line := range strings.Lines(mod) {
		line = strings.TrimSpace(line)
		single, isSingle := strings.CutPrefix(line, "require ")
		switch {
		case line == "require (":
			inBlock = true
			continue
		case line == ")":
			inBlock = false
		case isSingle:
			line = single
		}
		fields := strings.Fields(line)
		if !inBlock && !isSingle || len(fields) < 2 || strings.Contains(line, "// indirect") || fields[0] == module ||
			strings.HasPrefix(fields[0], module+"/") {
			continue
		}
		if !regexp.MustCompile(regexp.QuoteMeta(fields[0]) + `([^/\w]|$)`).MatchString(reasons) {
			found = append(found, fields[0])
		}
	}
	return found
}
