package demo

import (
	"slices"
	"strings"
	"testing"
)

const twoBridges = `# what is said stays said
listen: ":8080"
workers: 200
upstreams:
  b: # before a in the file
    addresses: ["http://127.0.0.1:9102", "http://127.0.0.1:9103"]
    exchange: 800ms
  a:
    addresses: ["http://127.0.0.1:9101"]
routes:
  - {match: "POST /orders/a/", upstream: a}
  - {match: "GET /prices/a", upstream: a}
  - {match: "GET /prices/b/", upstream: b}
`

func TestALayoutIsReadFromTheConfiguration(t *testing.T) {
	l, err := readLayout([]byte(twoBridges))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.bridges, []string{"b", "a"}) {
		t.Errorf("bridges %v, want those of the file in its order", l.bridges)
	}
	if want := [][2]string{{"POST", "/orders/a"}, {"GET", "/prices/a"}}; !slices.Equal(l.asks("a"), want) {
		t.Errorf("callers of a ask for %v, want %v", l.asks("a"), want)
	}
	if l.Listen != ":8080" || l.Admin != "127.0.0.1:9901" || l.Deadline.Header != "X-Remaining-Ms" {
		t.Errorf("listen %q, header %q", l.Listen, l.Deadline.Header)
	}
}

func TestRelocatingChangesAddressesOnly(t *testing.T) {
	moved, err := relocate([]byte(twoBridges), "127.0.0.1:1", "127.0.0.1:2", map[string]string{"a": "127.0.0.1:3", "b": "127.0.0.1:4"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(moved)
	for _, want := range []string{"listen: 127.0.0.1:1\n", "admin: 127.0.0.1:2\n", "http://127.0.0.1:3", "http://127.0.0.1:4",
		"what is said stays said", "workers: 200", "exchange: 800ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, ":91") {
		t.Errorf("an old address stays in\n%s", text)
	}
}

func TestWhatTheDemoCannotTellIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no upstreams": "routes: [{match: GET /, upstream: a}]\n",
		"no routes":    "upstreams: {a: {addresses: [x]}}\n",
		"no yaml":      "a: [",
		"nothing":      "",
	} {
		if _, err := readLayout([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := relocate([]byte(twoBridges), "x", "y", map[string]string{"a": "z"}); err == nil {
		t.Error("an upstream without a bridge keeps its old address")
	}
}
