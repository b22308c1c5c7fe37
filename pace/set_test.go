package pace

import (
	"net/netip"
	"runtime"
	"testing"
	"time"
)

func TestEachKeyHasItsOwn(t *testing.T) {
	s := mustSet[string](t, rate(0, 5))
	for _, key := range []string{"a", "b", ""} {
		allowed := 0
		for range 20 {
			if s.Allow(key) {
				allowed++
			}
		}
		if allowed != 5 {
			t.Errorf("%q: %d of a burst of 5", key, allowed)
		}
	}
	if got, want := s.Snapshot(), (SetSnapshot{Keys: 3, Allowed: 15, Refused: 45}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestThereAreNoMoreKeysThanWereAskedFor(t *testing.T) {
	for _, keys := range []int{1, 3, 16, 17, 100} {
		c := rate(10, 5)
		c.Keys = keys
		s := mustSet[int](t, c)
		for i := range 10 * keys {
			s.Allow(i)
		}
		if n := s.Snapshot().Keys; n > keys || n < (keys+1)/2 {
			t.Errorf("%d of %d keys", n, keys)
		}
		c.Keys = (keys + 1) / 2
		if err := s.Configure(c); err != nil {
			t.Fatal(err)
		}
		for i := range 10 * keys {
			s.Allow(i)
		}
		if n := s.Snapshot().Keys; n > max(c.Keys, min(shards, keys)) {
			t.Errorf("%d of %d keys after the change", n, c.Keys)
		}
	}
}

// O-24: a flood of keys is bounded in memory, and takes nothing from whoever
// comes again and again.
func TestAFloodOfKeysIsBounded(t *testing.T) {
	const flood = 1_000_000
	c := rate(0, 5)
	s := mustSet[int](t, c)
	before := heap()
	refused := 0
	for i := range flood {
		s.Allow(i)
		if i%100 == 0 && !s.Allow(-1) {
			refused++
		}
	}
	if n := s.Snapshot(); n.Keys > 10_000 || n.Evicted+n.Overflowed < flood-10_000 {
		t.Errorf("%+v", n)
	}
	if grown := heap() - before; grown > 20<<20 {
		t.Errorf("the heap has grown by %d MB", grown>>20)
	}
	if want := flood/100 - 5; refused != want {
		t.Errorf("whoever came again was refused %d times, want %d: the flood gave it a fresh burst", refused, want)
	}
	runtime.KeepAlive(s)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// O-24: a thousand addresses of one /64 are one customer.
func TestAddressesOfOneNetworkShareItsRate(t *testing.T) {
	s := mustSet[netip.Prefix](t, rate(0, 5))
	allowed := 0
	for i := range 1000 {
		a := netip.AddrFrom16([16]byte{0: 0x20, 1: 0x01, 7: 7, 14: byte(i >> 8), 15: byte(i)})
		if s.Allow(Network(a)) {
			allowed++
		}
	}
	if allowed != 5 {
		t.Errorf("%d allowed of one network's burst of 5", allowed)
	}
}

func TestNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1/32", "::ffff:192.0.2.1": "192.0.2.1/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "::": "::/64",
	} {
		if got := Network(netip.MustParseAddr(text)); got.String() != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	if got := Network(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("of no address: %v", got)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	c := Config{Waiting: most + 1, Keys: -1}
	c.Rate = -1
	problems := c.Validate()
	if len(problems) != 3 {
		t.Errorf("%v; want rate, waiting and keys", problems)
	}
	if problems := (Config{}).Validate(); len(problems) != 1 || !problems[0].Warning {
		t.Errorf("nothing at all: %v; want a warning", problems)
	}
	if d := (Config{}).WithDefaults(); d != d.WithDefaults() || d.Wait != time.Second {
		t.Errorf("%+v", d)
	}
}
