package wire

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// O-37: what the client wrote does not choose whose request it is.
func TestClient(t *testing.T) {
	trust := Trust{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		peer  string
		lines string // separated by |
		want  string
	}{
		{"10.0.0.1:1", "", "10.0.0.1"},
		{"10.0.0.1:1", "X-Forwarded-For: 1.1.1.1|X-Forwarded-For: 2.2.2.2, 7.7.7.7", "7.7.7.7"},
		{"10.0.0.1:1", "X-Forwarded-For: 9.9.9.9, 7.7.7.7", "7.7.7.7"},
		{"10.0.0.1:1", "X-Forwarded-For: 7.7.7.7, 10.0.0.2, 10.0.0.3", "7.7.7.7"},
		{"10.0.0.1:1", "X-Forwarded-For: 7.7.7.7|X-Forwarded-For: 10.0.0.2", "7.7.7.7"},
		{"10.0.0.1:1", "X-Forwarded-For: 10.0.0.9, 10.0.0.2", "10.0.0.9"},
		{"9.9.9.9:1", "X-Forwarded-For: 1.1.1.1|Forwarded: for=2.2.2.2", "9.9.9.9"},
		{"10.0.0.1:1", "X-Forwarded-For: 7.7.7.7, junk", "10.0.0.1"},
		{"10.0.0.1:1", "X-Forwarded-For: junk, 7.7.7.7", "7.7.7.7"},
		{"10.0.0.1:1", "X-Forwarded-For: 7.7.7.7:4711", "7.7.7.7"},
		{"10.0.0.1:1", "X-Forwarded-For: [2001:db8::1]:4711", "2001:db8::1"},
		{"10.0.0.1:1", "X-Forwarded-For: 2001:db8::1", "2001:db8::1"},
		{"10.0.0.1:1", "X-Forwarded-For: ::ffff:7.7.7.7", "7.7.7.7"},
		{"10.0.0.1:1", "X-Forwarded-For: ,, 7.7.7.7 ,", "7.7.7.7"},
		{"10.0.0.1:1", "X-Forwarded-For:", "10.0.0.1"},
		{"10.0.0.1:1", "Forwarded: for=1.1.1.1, for=7.7.7.7;proto=http;by=10.0.0.1", "7.7.7.7"},
		{"10.0.0.1:1", `Forwarded: FOR="[2001:db8::1]:4711"`, "2001:db8::1"},
		{"10.0.0.1:1", `Forwarded: for=1.1.1.1;x="a,b;c\"", for="7.7.7.7:80"`, "7.7.7.7"},
		{"10.0.0.1:1", "Forwarded: for=7.7.7.7, for=unknown", "10.0.0.1"},
		{"10.0.0.1:1", "Forwarded: for=7.7.7.7, proto=http", "10.0.0.1"},
		{"10.0.0.1:1", `Forwarded: for="7.7.7.7`, "10.0.0.1"},
		{"10.0.0.1:1", "Forwarded: for=7.7.7.7|X-Forwarded-For: 7.7.7.7", "7.7.7.7"},
		{"10.0.0.1:1", "Forwarded: for=1.2.3.4|X-Forwarded-For: 7.7.7.7", "10.0.0.1"},
		{"[fd00::1]:1", "X-Forwarded-For: 7.7.7.7, fd00::2", "7.7.7.7"},
		{"@", "X-Forwarded-For: 7.7.7.7", "invalid IP"},
	} {
		h := make(http.Header)
		for line := range strings.SplitSeq(c.lines, "|") {
			if name, value, ok := strings.Cut(line, ":"); ok {
				h.Add(name, strings.TrimSpace(value))
			}
		}
		if got := trust.Client(trust.Peer(c.peer), h).String(); got != c.want {
			t.Errorf("%s with %s is %s, want %s", c.peer, c.lines, got, c.want)
		}
	}
}

func TestBlock(t *testing.T) {
	for addr, want := range map[string]string{
		"7.7.7.7": "7.7.7.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "2001:db8:1:2::": "2001:db8:1:2::",
	} {
		if got := Block(netip.MustParseAddr(addr)).String(); got != want {
			t.Errorf("%s stands for %s, want %s", addr, got, want)
		}
	}
	if Block(netip.Addr{}).IsValid() {
		t.Error("nobody's address is somebody's")
	}
}

// What anybody writes there is walked without a panic, and only once.
func FuzzClient(f *testing.F) {
	f.Add("1.1.1.1, 10.0.0.1", `for="[::1]:80";by=x, for=a`)
	f.Add(`"\`, `for="\`)
	trust := Trust{netip.MustParsePrefix("10.0.0.0/8")}
	peer := trust.Peer("10.0.0.1:1")
	f.Fuzz(func(t *testing.T, list, forwarded string) {
		for _, h := range []http.Header{{"X-Forwarded-For": {list}}, {"Forwarded": {forwarded}}, {"X-Forwarded-For": {list}, "Forwarded": {forwarded}}} {
			if got := trust.Client(peer, h); !got.IsValid() || got.Is4In6() || got.Zone() != "" {
				t.Fatalf("%v is %v", h, got)
			}
		}
	})
}
