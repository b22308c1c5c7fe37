package settings

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
)

func (f File) checkUpstreams(c *field.Check) {
	if len(f.Upstreams) == 0 {
		c.Refuse("upstreams", `are missing; write at least one, such as {bridge: {addresses: ["http://127.0.0.1:9101"]}}`)
	}
	if len(f.Upstreams) > mostUpstreams {
		c.Refuse("upstreams", "%d of them; %d is the most that one gateway takes", len(f.Upstreams), mostUpstreams)
		return
	}
	used := make(map[string]bool)
	for _, r := range f.Routes {
		// A route that has lost its upstream may have been meant for any of them.
		used[r.Upstream], used[""] = true, used[""] || r.Upstream == ""
	}
	seen := make(map[string]bool)
	for _, u := range f.Upstreams {
		path := keys.Join("upstreams", u.Name)
		switch {
		case !isName(u.Name):
			c.Refuse(path, "%.60q is not a name; write letters, digits, - and _, at most %d", u.Name, longestName)
		case seen[u.Name]:
			c.Refuse(path, "is there twice; give each upstream its own name")
		case !used[u.Name] && !used[""]:
			c.Refuse(path, "no route uses this upstream; add a route to it or remove it")
		}
		seen[u.Name] = true
		u.check(c, path)
		f.checkLoop(c, path, u)
	}
}

func (u Upstream) check(c *field.Check, path string) {
	if len(u.Addresses) == 0 || len(u.Addresses) > mostAddresses {
		c.Refuse(keys.Join(path, "addresses"), `has %d; write from 1 to %d, such as ["http://127.0.0.1:9101"]`, len(u.Addresses), mostAddresses)
	}
	// Of too many the first are looked at: comparing each with all takes seconds.
	for i, address := range u.Addresses[:min(len(u.Addresses), mostAddresses)] {
		at := keys.Item(keys.Join(path, "addresses"), i)
		if wrong := addressProblem(address); wrong != "" {
			c.Refuse(at, "%s", wrong)
		} else if slices.Index(u.Addresses, address) < i {
			c.Refuse(at, "%s is listed already; list each address once", address)
		}
	}
	c.Duration(keys.Join(path, "connect"), u.Connect)
	if u.Connect > u.Exchange && u.Exchange > 0 {
		c.Warn(keys.Join(path, "connect"), "%v is longer than exchange, %v, which it is part of, so that it never passes; write a shorter one", u.Connect, u.Exchange)
	}
	c.Add(u.Config.Validate().Under(path))
	u.Failures.check(c, keys.Join(path, "failures"))
}

func (f Failures) check(c *field.Check, path string) {
	for i, status := range f.Status {
		at := keys.Item(path+".status", i)
		switch {
		case status < 100 || status > 599:
			c.Refuse(at, "%d is not an HTTP status; write one from 400 to 599, such as 503", status)
		case status < 500:
			c.Warn(at, "%d says that the request was wrong, not the upstream: callers could open the breaker at will", status)
		case slices.Index(f.Status, status) < i:
			c.Refuse(at, "%d is listed already; list each once", status)
		}
	}
	for i, fault := range f.Errors {
		if !slices.Contains(faults, fault) {
			c.Refuse(keys.Item(path+".errors", i), "%.60q is not known; %s", fault, instead(fault, faults, "some of "+strings.Join(faults, ", ")))
		}
	}
}

// addressProblem says what is wrong with an upstream's address, "" if nothing.
func addressProblem(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.TrimSpace(address) != address {
		return fmt.Sprintf(`%.80q is not an address; write http://host:port, such as "http://127.0.0.1:9101"`, address)
	}
	port, bad := strconv.ParseUint(u.Port(), 10, 16)
	bare := "http://" + u.Host
	switch {
	case u.User != nil:
		return "has a user and password in it; remove them, a configuration is no place for secrets"
	case u.Scheme == "https":
		return fmt.Sprintf("TLS to upstreams comes with a later version; write %q", bare)
	case u.Scheme != "http":
		return fmt.Sprintf("%.20q is not a scheme that is spoken; write %q", u.Scheme, bare)
	case !isHost(u.Hostname()):
		return fmt.Sprintf("%.60q is not a host; write an IP address or a name", u.Hostname())
	case u.Port() == "" || bad != nil || port == 0:
		return fmt.Sprintf("has no port from 1 to 65535; write one, such as \"http://%s\"", net.JoinHostPort(u.Hostname(), "80"))
	case u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return fmt.Sprintf("has a path or a query; write %q, the path comes from the request", bare)
	}
	return ""
}

// checkLoop finds an upstream that is the gateway itself: each request would
// become another until the connections are used up.
func (f File) checkLoop(c *field.Check, path string, u Upstream) {
	for i, address := range u.Addresses {
		target := strings.TrimPrefix(address, "http://")
		if reaches(target, f.Listen) || reaches(target, f.Admin) {
			c.Refuse(keys.Item(keys.Join(path, "addresses"), i), "%s is this gateway itself; write where the upstream listens", address)
		}
	}
}

// reaches reports whether what is sent to target from this machine arrives at
// a listener of this machine.
func reaches(target, listener string) bool {
	to, toPort, err1 := net.SplitHostPort(target)
	at, atPort, err2 := net.SplitHostPort(listener)
	if err1 != nil || err2 != nil || toPort != atPort {
		return false
	}
	return to == at || isLocal(to) && (isEverywhere(at) || isEverywhere(to) && isLocal(at))
}

func isEverywhere(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.IsUnspecified()
}

func isLocal(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || isEverywhere(host) || err == nil && a.IsLoopback()
}
