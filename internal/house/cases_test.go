package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	caseRow  = regexp.MustCompile(`(?m)^\| (O-\d\d) \|.*\| (.*) \|$`)
	caseTest = regexp.MustCompile(`\[(\w+)\]\(\.\./([^)]+)\)`)
	caseName = regexp.MustCompile(`\bO-\d\d\b`)
)

const whyCases = "docs/cases.md says which test holds off which public report: whoever changes a test looks there for what it is for. " +
	"Mend the row: the test's name, and the file that it is in."

// Whoever meets F18 in a comment finds out what it means.
func TestEveryNumberInACommentIsExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository(), "docs", "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	cited := regexp.MustCompile(`\b[BF]\d{1,2}\b`)
	seen := make(map[string]bool)
	for file, text := range files {
		for _, comment := range regexp.MustCompile(`(?m)//.*$`).FindAllString(text, -1) {
			for _, number := range cited.FindAllString(comment, -1) {
				seen[number] = true
				if !strings.Contains(string(page), "\n| "+number+" | ") {
					t.Errorf("%s cites %s\n\nWhy: a number that nobody can look up explains nothing. Give it a row in docs/requirements.md, or write what is meant.", file, number)
				}
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d numbers are seen", len(seen))
	}
}

// The page of cases names tests that exist, and has a row for every case that a
// test names.
func TestThePageOfCasesIsTrue(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository(), "docs", "cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	held := make(map[string]bool)
	for _, row := range caseRow.FindAllStringSubmatch(string(page), -1) {
		for _, test := range caseTest.FindAllStringSubmatch(row[2], -1) {
			held[row[1]] = true
			if !strings.Contains(files[test[2]], "\nfunc "+test[1]+"(t *testing.T)") {
				t.Errorf("%s: there is no %s in %s\n\nWhy: %s", row[1], test[1], test[2], whyCases)
			}
		}
	}
	if len(held) < 30 {
		t.Errorf("only %d rows of the page are read", len(held))
	}
	for file, text := range files {
		if !strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "internal/house/") {
			continue
		}
		for _, name := range caseName.FindAllString(text, -1) {
			if !held[name] {
				t.Errorf("%s names %s, and no test stands in its row\n\nWhy: %s", file, name, whyCases)
			}
		}
	}
}
