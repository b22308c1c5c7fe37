package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const whyLinks = "a link that leads nowhere tells a reader that nobody reads this page. Mend the link, or the heading that it leads to."

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	inline  = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	// Files that comments send their readers to.
	namedFile = regexp.MustCompile(`(?:^|[\s("])((?:docs|scripts|scenarios|examples)/[\w./-]+)`)
	leadsOut  = regexp.MustCompile(`^[a-z]+:`)
)

// Every link from one document to another, to a file or to a heading leads
// somewhere.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	names := tracked(t)
	there := make(map[string]bool)
	for _, name := range names {
		for ; name != "."; name = path.Dir(name) {
			there[name] = true // a folder is a place too
		}
	}
	seen := 0
	for _, page := range names {
		if !strings.HasSuffix(page, ".md") {
			continue
		}
		for _, to := range links(text(t, page)) {
			seen++
			file, anchor, _ := strings.Cut(to, "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			switch {
			case !there[target]:
				t.Errorf("%s leads to %s, which is not there\n\nWhy: %s", page, to, whyLinks)
			case anchor != "" && !slices.Contains(anchors(text(t, target)), anchor):
				t.Errorf("%s leads to %s, and there is no such heading\n\nWhy: %s", page, to, whyLinks)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d links are seen", seen)
	}
}

// A comment that sends its reader to a document or a script names one that is
// there; docs/adr/0031 stands for the page that begins so.
func TestEveryFileInACommentIsThere(t *testing.T) {
	files, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	names := tracked(t)
	seen := 0
	for file, text := range files {
		if strings.HasPrefix(file, "internal/house/") {
			continue
		}
		for _, comment := range regexp.MustCompile(`(?m)//.*$`).FindAllString(text, -1) {
			for _, place := range namedFile.FindAllStringSubmatch(comment, -1) {
				seen++
				begins := func(name string) bool { return strings.HasPrefix(name, strings.TrimRight(place[1], "./")) }
				if !slices.ContainsFunc(names, begins) {
					t.Errorf("%s names %s, which is not there\n\nWhy: %s", file, place[1], whyLinks)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d names are seen", seen)
	}
}

// A newcomer begins with the README: what cannot be reached from there is not
// found.
func TestEveryDocumentCanBeReached(t *testing.T) {
	found, open := make(map[string]bool), []string{"README.md"}
	for len(open) > 0 {
		page := open[0]
		open = open[1:]
		if found[page] || !strings.HasSuffix(page, ".md") {
			continue
		}
		found[page] = true
		for _, to := range links(text(t, page)) {
			file, _, _ := strings.Cut(to, "#")
			open = append(open, path.Join(path.Dir(page), file))
		}
	}
	for _, name := range tracked(t) {
		if strings.HasSuffix(name, ".md") && !found[name] && text(t, name) != "" {
			t.Errorf("no link leads from README.md to %s\n\nWhy: a page that nothing leads to is read by nobody. Link to it where its reader is.", name)
		}
	}
}

func TestTheLinkRuleStillSees(t *testing.T) {
	got := links("see [a](b.md#c) and [d](https://example.com) and `[e](f)`,\n```\n[g](h)\n```\n![i](j.svg)")
	if want := []string{"b.md#c", "j.svg"}; !slices.Equal(got, want) {
		t.Errorf("links: %q, want %q", got, want)
	}
	got = anchors("# A `b`, c\n## A b c\n```\n# no\n```\n### D-e_f: 1 & 2\n")
	if want := []string{"a-b-c", "a-b-c-1", "d-e_f-1--2"}; !slices.Equal(got, want) {
		t.Errorf("anchors: %q, want %q", got, want)
	}
}

// text returns a file of the repository, "" when it has been removed and that is
// not committed yet.
func text(t *testing.T, name string) string {
	t.Helper()
	all, err := os.ReadFile(filepath.Join(repository(), name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(all)
}

// links returns where a document leads within the repository.
func links(document string) []string {
	var found []string
	document = inline.ReplaceAllString(fenced.ReplaceAllString(document, ""), "")
	for _, to := range link.FindAllStringSubmatch(document, -1) {
		if !leadsOut.MatchString(to[1]) {
			found = append(found, to[1])
		}
	}
	return found
}

// anchors returns the names by which a document's headings can be linked to, as
// GitHub makes them.
func anchors(document string) []string {
	var found []string
	times := make(map[string]int)
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(document, ""), -1) {
		name := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(h[1])), ""), " ", "-")
		if n := times[name]; n > 0 {
			found = append(found, name+"-"+strconv.Itoa(n))
		} else {
			found = append(found, name)
		}
		times[name]++
	}
	return found
}
