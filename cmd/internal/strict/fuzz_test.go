package strict

import (
	"slices"
	"strings"
	"testing"
)

// Whatever the bytes are, Decode neither panics nor hangs; its problems stand in
// the file, in order, and each says something; and a file without problems says
// the same the next time.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "name: corner\nopen: true\nwaiting: 0\ntimeout: 1m30s\nback: 2s-5s\n",
		"break: {slow: 400ms, slow_rate: .5}\ndoors: {west: {width: 2}}\n", "shelves: &s [*s]\n",
		"words: &w [a, b]\n<<: *w\n", "? [a]\n: b\n---\nx", "share: .nan\nname: \xff", "weights: {\"a.b[0]\": 1, a: 2, a: 3}\n",
		"a:\n\tb: c\n", "name: !!binary aGk=\n", "%YAML 1.1\n---\nname: |\n  x\n  y\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s shop
		doc, problems := Decode("f", text, &s)
		lines := strings.Count(string(text), "\n") + 1
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Text == "" || p.File != "f" {
				t.Errorf("%+v says nothing", p)
			}
			if p.Line > lines+strings.Count(string(text), "\r")+strings.Count(string(text), "\u2028")+strings.Count(string(text), "\u2029")+strings.Count(string(text), "\u0085") {
				t.Errorf("%v is behind the last of %d lines", p, lines)
			}
			if strings.ContainsAny(p.String(), "\n\r\x1b") {
				t.Errorf("%q is more than a line", p)
			}
		}
		if !slices.IsSortedFunc(problems, func(a, b Problem) int { return a.Position.compare(b.Position) }) {
			t.Errorf("out of order:\n%v", problems)
		}
		for _, path := range doc.Paths() {
			if doc.Locate(path).Line < 1 {
				t.Errorf("%s is nowhere", path)
			}
		}
		var again shop
		if _, second := Decode("f", text, &again); problems.Error() != second.Error() {
			t.Errorf("first\n%v\nthen\n%v", problems, second)
		}
	})
}
