package settings

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/span"
)

// sound returns a file with nothing wrong, to be spoilt.
func sound() File {
	f := File{
		Upstreams: []Upstream{{Name: "bridge-a", Addresses: []string{"http://127.0.0.1:9101"}}},
		Routes:    []Route{{Match: Match{"POST", "/orders/"}, Upstream: "bridge-a"}},
	}
	f.Upstreams[0].Checkout = 500 * time.Millisecond
	return f
}

// spoilt are sound files with one kind of mistake each.
var spoilt = []struct {
	name  string
	spoil func(*File)
}{
	{"nothing at all", func(f *File) { *f = File{} }},
	{"listeners", func(f *File) { f.Listen, f.Admin = "8080", "localhost:99999" }},
	{"listener hosts", func(f *File) { f.Listen, f.Admin = "a b:80", ":0" }},
	{"listeners in one place", func(f *File) { f.Listen, f.Admin = ":9901", "127.0.0.1:9901" }},
	{"workers", func(f *File) { f.Workers = -1 }},
	{"trust", func(f *File) { f.Trust = []Network{{}, network("0.0.0.0/0")} }},
	{"drain over the default grace", func(f *File) { f.Drain = Drain{Delay: 10 * time.Second, Finish: 25 * time.Second} }},
	{"drain over its grace", func(f *File) { f.Grace = 25 * time.Second }},
	{"drain without delay", func(f *File) { f.Drain.Delay, f.Grace = -1, 21*time.Second }},
	{"drain that overflows", func(f *File) { f.Drain = Drain{Delay: math.MaxInt64, Finish: math.MaxInt64} }},
	{"grace", func(f *File) { f.Grace = -1 }},
	{"deadline", func(f *File) { f.Deadline = Deadline{Header: "x y", Margin: 2 * time.Second} }},
	{"a promise within the margin", func(f *File) { f.Routes[0].Promise = 5 * time.Millisecond }},
	{"deadline header", func(f *File) { f.Deadline.Header = "content-length" }},
	{"accept", func(f *File) {
		f.Accept = &Accept{Rate: math.NaN(), Burst: -1, Connections: -1, PerAddress: Quota{Rate: math.Inf(1)}, Keys: -1, Buffer: -1, Stall: -1}
	}},
	{"stages", func(f *File) {
		f.Accept = &Accept{Rate: 100, Stages: []Stage{
			{Name: "login", Rate: 200, PerTenant: Quota{Rate: -1}}, {Name: "log in"}, {Name: "login", Rate: 300, Burst: -1, PerAddress: Quota{Burst: -1}},
		}}
		f.Routes[0].Stage = "lgin"
	}},
	{"too many stages", func(f *File) { f.Accept = &Accept{Stages: make([]Stage, 17)} }},
	{"tenant", func(f *File) {
		f.Tenant = &Tenant{From: "cookie", Rate: -1, Weights: map[string]int{"gold": 0, "b.c": 300}, Keys: -1}
	}},
	{"tenant header", func(f *File) { f.Tenant = &Tenant{From: "header:a b"} }},
	{"tenant key", func(f *File) { f.Tenant = &Tenant{From: "key:"} }},
	{"nobody is believed", func(f *File) {
		f.Tenant, f.Priority = &Tenant{From: "header:X-Tenant"}, &Priority{From: "header:X-Priority"}
	}},
	{"a certificate without TLS", func(f *File) { f.Tenant = &Tenant{From: "certificate"} }},
	{"a certificate that nobody is asked for", func(f *File) {
		f.Tenant, f.TLS = &Tenant{From: "certificate"}, &TLS{Certificate: "a.crt", Key: "a.key"}
	}},
	{"TLS without files", func(f *File) { f.TLS = &TLS{Require: true} }},
	{"handshakes without TLS", func(f *File) { f.Accept = &Accept{Handshakes: Handshakes{Rate: 10}} }},
	{"handshakes", func(f *File) {
		f.TLS = &TLS{Certificate: "a.crt", Key: "a.key"}
		f.Accept = &Accept{Handshakes: Handshakes{Rate: -1, Burst: -1, Running: -1, Within: -1}}
	}},
	{"more handshakes than connections, and fewer than logins", func(f *File) {
		f.TLS, f.Routes[0].Stage = &TLS{Certificate: "a.crt", Key: "a.key", Clients: "ca.crt", Require: true}, "login"
		f.Accept = &Accept{Rate: 10, Handshakes: Handshakes{Rate: 20, Within: 500}, Stages: []Stage{{Name: "login", Rate: 30}}}
	}},
	{"priority key", func(f *File) { f.Priority = &Priority{From: "key:X-Priority"} }},
	{"priority", func(f *File) { f.Priority = &Priority{From: "X-Priority", Levels: []string{"a", "b c", "a"}} }},
	{"route priority", func(f *File) { f.Routes[0].Priority = "critcal" }},
	{"route priority of a file with its own", func(f *File) {
		f.Priority, f.Routes[0].Priority = &Priority{Levels: []string{"gold", "silver"}}, "bulk"
	}},
	{"names", func(f *File) { f.Upstreams[0].Name, f.Routes[0].Upstream = "a.b", "a.b" }},
	{"an upstream twice", func(f *File) { f.Upstreams = append(f.Upstreams, f.Upstreams[0]) }},
	{"unused", func(f *File) {
		f.Upstreams = append(f.Upstreams, Upstream{Name: "prices", Addresses: []string{"http://p:80"}})
	}},
	{"addresses", func(f *File) {
		f.Upstreams[0].Addresses = []string{"127.0.0.1:9101", "http://u:p@h:1", "https://h:1", "ftp://h:1", "http://h", "http://h:0", "http://h:99999",
			"http://h:1/", "http://h:1/x?y", "http://h:1?", "http://h:1#f", "http://:80", "http://[::1]:80", "http://h:1", "http://h:1", " http://h:1", "http://a_b.c:1", "http://a b:1", ""}
	}},
	{"no addresses", func(f *File) { f.Upstreams[0].Addresses = nil }},
	{"the gateway itself", func(f *File) {
		f.Upstreams[0].Addresses = []string{"http://localhost:8080", "http://[::1]:8080", "http://127.0.0.1:9901", "http://0.0.0.0:8080", "http://10.0.0.1:8080"}
	}},
	{"connect", func(f *File) { f.Upstreams[0].Connect = 900 * time.Millisecond }},
	{"connect below zero", func(f *File) { f.Upstreams[0].Connect = -1 }},
	{"the stack's", func(f *File) {
		u := &f.Upstreams[0]
		u.Exchange, u.Rate, u.Breaker.Slow, u.Budget.Ratio, u.Room.Target = 500*time.Millisecond, -1, 500*time.Millisecond, math.NaN(), time.Second
	}},
	{"failures", func(f *File) {
		f.Upstreams[0].Failures = Failures{Status: []int{0, 404, 503, 503, 600}, Errors: []string{"conect", "oops"}}
	}},
	{"routes", func(f *File) { f.Routes[0] = Route{} }},
	{"no such upstream", func(f *File) { f.Routes = append(f.Routes, Route{Match: Match{Prefix: "/"}, Upstream: "bridge-b"}) }},
	{"methods", func(f *File) { f.Routes[0].Match.Method = "PSOT" }},
	{"strange methods", func(f *File) { f.Routes[0].Match.Method = "CONNECT" }},
	{"duplicate routes", func(f *File) {
		f.Routes = append(f.Routes, f.Routes[0], Route{Match: Match{"POST", "/orders"}, Upstream: "bridge-a"}, Route{Match: Match{"", "/orders"}, Upstream: "bridge-a"})
	}},
	{"prefixes", func(f *File) {
		f.Routes = nil
		for _, p := range []string{"orders", "/a?b", "/a#b", "/a/*", "/{id}", "/a%20b", "/a b", "/a//b", "/a/../b", "/.", "/é", "/a;b", "/"} {
			f.Routes = append(f.Routes, Route{Match: Match{"GET", p}, Upstream: "bridge-a"})
		}
	}},
	{"idempotency key", func(f *File) { f.Routes[0].IdempotencyKey = "requird" }},
	{"strange idempotency key", func(f *File) { f.Routes[0].IdempotencyKey = "yes" }},
	{"suspicious durations", func(f *File) { f.Grace, f.Routes[0].Promise, f.Deadline.Margin = 25*time.Hour, 600, 999_999 }},
	{"bounds", func(f *File) {
		f.Upstreams, f.Routes, f.Trust = make([]Upstream, 1001), make([]Route, 10_001), make([]Network, 1001)
		for i := range f.Trust {
			f.Trust[i] = network("10.0.0.0/8")
		}
	}},
	{"off", func(f *File) { f.Defences = DefencesOff }},
	{"observed", func(f *File) { f.Defences = DefencesObserve }},
}

func TestFileProblems(t *testing.T) {
	var all strings.Builder
	for _, c := range spoilt {
		f := sound()
		c.spoil(&f)
		fmt.Fprintf(&all, "# %s\n%s\n\n", c.name, strings.ReplaceAll(f.Validate().Error(), "\u00e9", "e'"))
	}
	golden.File(t, "testdata/problems.txt", all.String())
}

func network(s string) (n Network) {
	if err := n.UnmarshalText([]byte(s)); err != nil {
		panic(err)
	}
	return n
}

func TestFileDefaultsAreFilledInOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := sound()
		f.Defences = rapid.SampledFrom([]Defences{DefencesOn, DefencesOff, DefencesObserve}).Draw(t, "defences")
		f.Deadline.Default = rapid.SampledFrom([]time.Duration{-1, 0, 2 * time.Second}).Draw(t, "default")
		f.Routes[0].Promise = rapid.SampledFrom([]time.Duration{-1, 0, 2 * time.Second}).Draw(t, "promise")
		f.Upstreams[0].Limit = rapid.SampledFrom([]limit.Config{{}, limit.Fixed(3), limit.None()}).Draw(t, "limit")
		if rapid.Bool().Draw(t, "blocks") {
			f.Accept, f.Tenant, f.Priority = &Accept{}, &Tenant{}, &Priority{}
		}
		before := fmt.Sprintf("%+v %+v", f, f.Accept)
		once := f.WithDefaults()
		if twice := once.WithDefaults(); !reflect.DeepEqual(once, twice) {
			t.Fatalf("once\n%+v\ntwice\n%+v", once, twice)
		}
		if after := fmt.Sprintf("%+v %+v", f, f.Accept); after != before {
			t.Fatalf("the file was changed:\n%s\n%s", before, after)
		}
		if errs := f.Validate().Errors(); errs != nil {
			t.Fatal(errs)
		}
	})
}

func TestDefencesOffOverrulesTheBlocks(t *testing.T) {
	f := sound()
	f.Defences = DefencesOff
	f.Upstreams[0].Limit, f.Upstreams[0].Retry.Attempts, f.Routes[0].Promise = limit.Fixed(3), 5, time.Second
	f = f.WithDefaults()
	u, found := f.Upstream("bridge-a")
	if !found || u.Limit.Kind != limit.Unlimited || u.Retry.Attempts != 1 || u.Exchange != time.Minute || f.Routes[0].Promise >= 0 || f.Deadline.Header != NoHeader {
		t.Errorf("got %+v", f)
	}
	if _, found := f.Upstream("bridge"); found {
		t.Error("found an upstream that is not there")
	}
}

// What only observes refuses nothing, wherever it stands.
func TestDefencesObserveReachesEveryBlock(t *testing.T) {
	f := sound()
	f.Defences, f.Tenant = DefencesObserve, &Tenant{}
	full := f.WithDefaults()
	u := full.Upstreams[0]
	if !u.Observe || !full.Accept.Observe || !full.Tenant.Observe {
		t.Errorf("got %+v, %+v, %+v", u, full.Accept, full.Tenant)
	}
	if f.Tenant.Observe || f.Upstreams[0].Observe {
		t.Error("the file was changed")
	}
}

func TestLevelOf(t *testing.T) {
	f := sound()
	for _, c := range []struct {
		levels []string
		name   string
		want   uint8
		known  bool
	}{
		{nil, "critical", 0, true}, {nil, "", 1, true}, {nil, "bulk", 2, true}, {nil, "urgent", 0, false},
		{[]string{"gold", "silver"}, "", 1, true}, {[]string{"gold", "silver"}, "critical", 0, false},
		{[]string{"default", "bulk"}, "", 0, true},
	} {
		f.Priority = &Priority{Levels: c.levels}
		if level, known := f.LevelOf(c.name); level != c.want || known != c.known {
			t.Errorf("%q of %q is %d, %v; want %d, %v", c.name, c.levels, level, known, c.want, c.known)
		}
	}
}

func TestTextForms(t *testing.T) {
	for _, c := range []struct {
		into       encoding.TextUnmarshaler
		text, want string // what is printed, or the beginning of the error
	}{
		{new(Match), "POST /orders/", "POST /orders/"},
		{new(Match), "/", "/"},
		{new(Match), "  GET   /a  ", "GET /a"},
		{new(Match), "", `"" is not a method and a path`},
		{new(Match), "GET", `"GET" is not a method and a path`},
		{new(Match), "GET /a b", `"GET /a b" is not a method and a path`},
		{new(Network), "10.0.0.0/8", "10.0.0.0/8"},
		{new(Network), "10.0.0.1", "10.0.0.1/32"},
		{new(Network), "::1", "::1/128"},
		{new(Network), "fd00::/8", "fd00::/8"},
		{new(Network), "10.0.0.1/8", `"10.0.0.1/8" has bits beyond its length; write 10.0.0.0/8`},
		{new(Network), "::ffff:10.0.0.0/104", `"::ffff:10.0.0.0/104" is IPv4 written as IPv6`},
		{new(Network), "fe80::1%eth0", `"fe80::1%eth0" is not a network`},
		{new(Network), "localhost", `"localhost" is not a network`},
		{new(Defences), "on", "on"},
		{new(Defences), "off", "off"},
		{new(Defences), "observe", "observe"},
		{new(Defences), "maybe", `"maybe" is none of them; write on, off or observe`},
	} {
		got := ""
		if err := c.into.UnmarshalText([]byte(c.text)); err != nil {
			got = err.Error()
		} else {
			text, err := c.into.(encoding.TextMarshaler).MarshalText()
			got = string(text)
			if err != nil {
				t.Error(err)
			}
		}
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%T of %q gave %s, want %s", c.into, c.text, got, c.want)
		}
	}
}

func TestOptionalBlocksHaveDefaults(t *testing.T) {
	f := sound()
	f.Accept, f.Tenant, f.Priority = &Accept{}, &Tenant{}, &Priority{}
	f = f.WithDefaults()
	if f.Accept.Handshakes != (Handshakes{Running: 1000, Within: 5 * time.Second}) {
		t.Errorf("got %+v", f.Accept.Handshakes)
	}
	if f.Accept.Connections != 20_000 || f.Accept.RetryAfter != (span.Range{Min: 3 * time.Second, Max: 8 * time.Second}) ||
		f.Tenant.From != "address" || f.Tenant.Keys != 100_000 || fmt.Sprint(f.Priority.Levels) != "[critical default bulk]" {
		t.Errorf("got %+v %+v %+v", f.Accept, f.Tenant, f.Priority)
	}
}

func TestNamesOfFilesBeginWhereTheConfigurationIs(t *testing.T) {
	var none *TLS
	if none.Below("/etc/kalan") != nil {
		t.Error("there is a TLS block")
	}
	written := TLS{Certificate: "tls/a.crt", Key: "/run/a.key"}
	if got := *written.Below("/etc/kalan"); got != (TLS{Certificate: "/etc/kalan/tls/a.crt", Key: "/run/a.key"}) || written.Certificate != "tls/a.crt" {
		t.Errorf("got %+v", got)
	}
}
