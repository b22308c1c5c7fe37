package settings

import (
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// Bounds on what one file may list: far above any gateway in use, far below
// what makes one slow.
const (
	mostUpstreams = 1_000
	mostRoutes    = 10_000
	mostAddresses = 1_000
	mostNetworks  = 1_000
	mostLevels    = 8
	mostWeights   = 10_000
	mostKeys      = 10_000_000
	mostStages    = 16
	mostCount     = 1 << 30
	longestName   = 63 // a DNS label, since upstreams are often called as hosts are
)

// Validate returns everything that is wrong with f, each with its path in the
// file and what to write instead.
func (f File) Validate() policy.Problems {
	var c field.Check
	f.checkDurations(&c)
	written := f
	f.Defences = DefencesOn // what is written is checked, also when it is not in force
	f = f.WithDefaults()
	f.checkListeners(&c)
	f.TLS.check(&c)
	if f.TLS == nil && f.Accept.Handshakes != accept.Handshakes {
		c.Refuse("accept.handshakes", "listen speaks no TLS, so that there are none; write a tls block, or remove this one")
	}
	f.checkDrain(&c)
	f.checkDeadline(&c)
	f.Accept.check(&c)
	f.Tenant.check(&c)
	f.Priority.check(&c)
	f.checkUpstreams(&c)
	f.checkRoutes(&c)
	f.checkStages(&c)
	f.checkBelief(&c)
	switch written.Defences {
	case DefencesOff:
		c.Warn("defences", "are off: limits, rooms, breakers, retries and time limits of the upstreams are not in force")
	case DefencesObserve:
		c.Warn("defences", "only observe: what limits, rooms, breakers and rates would refuse is counted and served")
	}
	return c.Problems()
}

// checkDurations warns of lengths of time that nobody means: whoever writes
// 600ns has lost a unit.
func (f File) checkDurations(c *field.Check) {
	keys.Walk(reflect.ValueOf(f), func(path string, _ keys.Field, v reflect.Value) {
		if !keys.IsDuration(v.Type()) {
			return
		}
		switch d := time.Duration(v.Int()); {
		case d > 0 && d < time.Millisecond:
			c.Warn(path, "%v is less than a millisecond; is the unit right?", d)
		case d > 24*time.Hour:
			c.Warn(path, "%v is more than a day; is the unit right?", d)
		}
	})
}

func (f File) checkListeners(c *field.Check) {
	checkListener(c, "listen", f.Listen)
	checkListener(c, "admin", f.Admin)
	if collide(f.Listen, f.Admin) {
		c.Refuse("admin", "%s is where listen is; write another port, such as 127.0.0.1:9901", f.Admin)
	}
	if f.Workers < 0 || f.Workers > mostCount {
		c.Refuse("workers", "%d is out of range; write how many requests to serve at once, from 1 to %d, or 0 for no cap", f.Workers, mostCount)
	}
	if len(f.Trust) > mostNetworks {
		c.Refuse("trust", "%d networks; join them, %d is the most", len(f.Trust), mostNetworks)
	}
	for i, n := range f.Trust {
		switch {
		case !n.IsValid():
			c.Refuse(keys.Item("trust", i), "is not a network; write one such as 10.0.0.0/8")
		case n.Bits() == 0:
			c.Warn(keys.Item("trust", i), "trusts every address there is; write the network of the proxies in front")
		}
	}
}

func checkListener(c *field.Check, path, address string) {
	host, port, err := net.SplitHostPort(address)
	number, bad := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || bad != nil:
		c.Refuse(path, "%.60q is not an address to listen on; write host:port or :port, such as \":8080\"", address)
	case host != "" && !isHost(host):
		c.Refuse(path, "%.60q is not a host; write an IP address or a name, or nothing for every address", host)
	case number == 0:
		c.Warn(path, "port 0 is another port at every start; write the one that callers know")
	}
}

// collide reports whether two listeners cannot be open at once.
func collide(a, b string) bool {
	host, port, err1 := net.SplitHostPort(a)
	other, otherPort, err2 := net.SplitHostPort(b)
	return err1 == nil && err2 == nil && port == otherPort && port != "0" &&
		(host == other || isEverywhere(host) || isEverywhere(other))
}

func (f File) checkDrain(c *field.Check) {
	c.Duration("grace", f.Grace)
	sum := span.Add(max(f.Drain.Delay, 0), max(f.Drain.Finish, 0))
	if sum < f.Grace {
		return
	}
	path := "grace"
	if f.Grace == 30*time.Second { // most likely not what was written
		path = "drain"
	}
	c.Refuse(path, "leaving takes %v (delay %v and finish %v), and the platform kills after %v; make the drain shorter, or the grace longer",
		sum, max(f.Drain.Delay, 0), max(f.Drain.Finish, 0), f.Grace)
}

func (f File) checkDeadline(c *field.Check) {
	d := f.Deadline
	switch {
	case !isToken(d.Header):
		c.Refuse("deadline.header", "%.60q is not the name of a header; write one such as X-Remaining-Ms", d.Header)
	case slices.ContainsFunc(reserved, func(h string) bool { return strings.EqualFold(h, d.Header) }):
		c.Refuse("deadline.header", "%s has another meaning in HTTP; write a name of your own, such as X-Remaining-Ms", d.Header)
	}
	if d.Default > 0 && d.Margin >= d.Default {
		c.Refuse("deadline.margin", "%v is not below the default of %v, so that nothing would be left for the work; 5ms is usual", d.Margin, d.Default)
	}
}

// reserved are headers that a number of milliseconds would break.
var reserved = []string{"Host", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding", "Upgrade", "Te",
	"Trailer", "Keep-Alive", "Expect", "Date", "Retry-After", "Authorization", "Cookie", "Idempotency-Key", "Accept"}
