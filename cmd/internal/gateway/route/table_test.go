package route

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func table(t testing.TB, patterns ...string) *Table {
	t.Helper()
	parsed := make([]Pattern, len(patterns))
	for i, text := range patterns {
		method, prefix, named := strings.Cut(text, " ")
		if !named {
			method, prefix = "", text
		}
		parsed[i] = Pattern{method, prefix}
	}
	built, err := New(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func target(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.ParseRequestURI(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var shop = []string{"/", "/prices/", "POST /orders/", "GET /orders/", "/orders/archive", "PUT /admin"}

func TestFind(t *testing.T) {
	routes := table(t, shop...)
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/", 0},
		{"GET", "/anything", 0},
		{"GET", "/prices", 0}, // "/prices/" takes what is below it
		{"GET", "/prices/", 1},
		{"PATCH", "/prices/eur/7?at=now", 1},
		{"GET", "/prices7", 0},
		{"POST", "/orders/", 2},
		{"POST", "/orders//", 2},
		{"GET", "/orders/7", 3},
		{"HEAD", "/orders/7", 3},
		{"DELETE", "/orders/7", 0}, // the next shorter prefix takes it
		{"POST", "/orders/archive/7", 4},
		{"GET", "/orders/archive", 4},
		{"GET", "/orders/archived", 3},
		{"GET", "/orders/archive/", 4},
		{"PUT", "/admin", 5},
		{"PUT", "/admin/", 5},
		{"PUT", "/admins", 0},
		{"GET", strings.Repeat("/a", 4000), 0},
	} {
		if got, _, err := routes.Find(c.method, target(t, c.path)); err != nil || got != c.want {
			t.Errorf("%s %.40s: route %d (%v), want %d", c.method, c.path, got, err, c.want)
		}
	}
}

func TestNoRoute(t *testing.T) {
	routes := table(t, "POST /orders/", "PUT /orders/7", "/prices")
	for path, want := range map[string]Error{
		"/":           *errNotFound,
		"/order":      *errNotFound,
		"/orders/7/a": {405, "no route takes this method on this path", "POST, PUT"},
		"*":           *errNotAPath,
		"/../prices":  *errAbove,
		"/prices/%00": *errNul,
		"/%c0%80":     *errNul,
		"/prices/" + strings.Repeat("%5c%252525;//", 300): *errTangled,
		"/prices/" + strings.Repeat("%20a/", 8000):        *errTangled,
		"/%2500":   *errNul,
		"/%00//..": *errNul, // as "/%00/", which is what would be forwarded
	} {
		u := target(t, path)
		if _, _, err := routes.Find("GET", u); err == nil || *err != want {
			t.Errorf("GET %.60s: %v, want %v", path, err, want)
		}
	}
}

func TestTwoRoutesForTheSameRequestsAreRefused(t *testing.T) {
	if _, err := New([]Pattern{{"", "/a"}, {"", "/a"}}); err == nil {
		t.Error("two routes for the same requests are taken")
	}
}

// TestPathsCannotBeSmuggled sends what has reached another route than the one
// checked on real servers.
func TestPathsCannotBeSmuggled(t *testing.T) {
	routes := table(t, "/prices", "/orders", "/orders/archive")
	for _, path := range []string{
		"/prices/..%2forders/1", "/prices/..%2Forders", "/prices/%2e%2e%2forders/1", "/prices/..%5corders/1", "/prices/..\\orders/1",
		"/prices/%252e%252e%252forders/1", "/prices/..;/orders/1", "/prices/..;x=y/orders/1", "/prices/%2e%2e;/orders/1",
		"//orders/1/../../prices", "/orders/;/archive", "/orders//archive", "/orders%2farchive", "/prices%2f..%2forders",
		"/orders/x%2f..%2farchive", "/orders/archive/..%2f..%2fprices", "/./orders;/archive",
		"/prices/%252e%252e%252forders/%25", "/prices/..%252forders/%25zz", // not everybody stops at what is no escape
		"/prices/..%c0%aforders", "/prices/%c0%ae%c0%ae%c0%aforders", "/prices/%e0%80%ae%e0%80%ae%e0%80%aforders",
		"/orders/archive%3fx", "/orders/archive%23x/y", "/orders/archive%253fx",
		"/x/..;%2f../orders", "/x;%2f../orders/archive", "/orders;%2f../archive", "/orders%2f%2f..", "/x/..%2forders%2f%2f..",
	} {
		u := target(t, path)
		if i, _, err := routes.Find("GET", u); err == nil {
			t.Errorf("%s takes route %d", path, i)
		}
	}
}

func TestDotSegmentsAreResolvedBeforeRouting(t *testing.T) {
	routes := table(t, "/prices/", "/orders/")
	for path, want := range map[string]struct {
		route  int
		onward string
	}{
		"/prices/../orders/1":           {1, "/orders/1"},
		"/prices/%2e%2e/orders/1":       {1, "/orders/1"},
		"/prices/.%2E/orders/a%2Fb?q=1": {1, "/orders/a%2Fb?q=1"},
		"/prices/./eur/.":               {0, "/prices/eur/"},
		"/prices/eur/..":                {0, "/prices/"},
		"/prices/a%20b;v=1//c":          {0, "/prices/a%20b;v=1//c"},
		"/prices/a%2Fb":                 {0, "/prices/a%2Fb"},
		"/prices/.hidden/..x/...":       {0, "/prices/.hidden/..x/..."},
		"/pr%69ces/1":                   {0, "/pr%69ces/1"},
	} {
		i, u, err := routes.Find("GET", target(t, path))
		if err != nil || i != want.route || u.RequestURI() != want.onward {
			t.Errorf("%s: route %d to %v (%v), want %d to %s", path, i, u, err, want.route, want.onward)
		}
	}
}

// odd is what odd paths are made of.
var odd = []string{"/", "/", ".", "..", "%2e", "%2f", "%5C", "\\", ";", "orders", "prices", "archive", "a", "%25", "%32", "%00", "%", "%3f", "%23", "%c0%ae", "%E0%80%AF"}

// TestForwardedPathsTakeTheSameRoute: what is forwarded, read again by a second
// gateway with the same table, leads to the same route and is not changed again.
func TestForwardedPathsTakeTheSameRoute(t *testing.T) {
	routes := table(t, shop...)
	part := rapid.SampledFrom(odd)
	rapid.Check(t, func(rt *rapid.T) {
		text := "/" + strings.Join(rapid.SliceOfN(part, 0, 12).Draw(rt, "path"), "")
		u, err := url.ParseRequestURI(text)
		if err != nil {
			return
		}
		first, onward, refused := routes.Find("GET", u)
		if refused != nil {
			return
		}
		again, err := url.ParseRequestURI(onward.RequestURI())
		if err != nil {
			rt.Fatalf("%s is forwarded as %s: %v", text, onward.RequestURI(), err)
		}
		second, last, refused := routes.Find("GET", again)
		if refused != nil || second != first || last.RequestURI() != onward.RequestURI() {
			rt.Fatalf("%s: route %d as %s, then route %d as %v (%v)", text, first, onward.RequestURI(), second, last, refused)
		}
	})
}

// TestNoReaderFindsAnotherRoute: a server that does to a forwarded path, in any
// order, what servers do gets to the same route.
func TestNoReaderFindsAnotherRoute(t *testing.T) {
	routes := table(t, shop...)
	steps := append(ways[:], unescape)
	rapid.Check(t, func(rt *rapid.T) {
		text := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(odd), 0, 12).Draw(rt, "path"), "")
		u, err := url.ParseRequestURI(text)
		if err != nil {
			return
		}
		ours, onward, refused := routes.Find("GET", u)
		if refused != nil {
			return
		}
		path := onward.EscapedPath()
		for _, i := range append(rapid.SliceOfN(rapid.IntRange(0, len(steps)-1), 0, 10).Draw(rt, "reader"), 6, 5) { // decoded at least once, and resolved
			path = steps[i](path)
		}
		if theirs := routes.find("GET", path); theirs != ours {
			rt.Fatalf("%s is forwarded as %s on route %d; who reads %s takes route %d", text, onward.EscapedPath(), ours, path, theirs)
		}
	})
}

func FuzzFind(f *testing.F) {
	for _, path := range []string{"/prices/1", "/prices/..%2forders", "//", "/%252e%252e/", "/.;/"} {
		f.Add("GET", path)
	}
	routes := table(f, shop...)
	f.Fuzz(func(t *testing.T, method, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		i, onward, refused := routes.Find(method, u)
		if (refused == nil) != (onward != nil) || i < None || i >= len(shop) {
			t.Fatalf("%q %q: %d, %v, %v", method, path, i, onward, refused)
		}
		if onward != nil && hasDots(onward.EscapedPath()) {
			t.Fatalf("%q is forwarded as %q", path, onward.EscapedPath())
		}
	})
}

func TestPlainPathsCostNoAllocation(t *testing.T) {
	routes, u := table(t, shop...), target(t, "/orders/archive/7")
	if n := testing.AllocsPerRun(100, func() { routes.Find("GET", u) }); n != 0 {
		t.Errorf("%v allocations for a plain path", n)
	}
}
