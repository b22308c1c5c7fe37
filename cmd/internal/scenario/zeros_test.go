package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/scenario"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/throttle"
	"github.com/kalan-go/kalan/sim"
)

const loud = `kind: events
name: loud
duration: 10s
services:
  edge: {script: [{call: server}], client: &client {timeout: 2s, carry: true, retry: {attempts: 3, jitter: at_once}}}
  middle: {script: [{call: server}], client: *client}
  server:
    workers: 4
    work: exponential 20ms
    network: 3ms
    cancels: true
    errors: 0.5
    queue: {order: newest, places: 7, expired: true, needs: 3ms}
    retry_after: 1s-2s
    caches: {prices: {keys: 4, lifetime: 1s, spread: 0.3, one_flight: true}}
  gateway:
    script: [{call: server}]
    guards: {server: {checkout: 40ms, limit: 12, mute: true, breaker: {open: 7s}, throttle: {k: 3, floor: 7}, retry: {jitter: constant}}}
loads:
  callers: {to: edge, rate: 10, deadline: 1s, priority: 3, even: true, bursts: [{at: 1s, calls: 2}]}
triggers:
  spike: {what: spike, of: callers, at: 1s, for: 2s, factor: 2}
arms:
  loud: {}
  quiet:
    services:
      edge: {client: &zeros {timeout: 0s, carry: false, retry: {jitter: full}}}
      middle: {client: *zeros}
      server:
        workers: 0
        work: 0s
        network: 0s
        cancels: false
        errors: 0
        queue: {order: oldest, expired: false, needs: 0s}
        retry_after: 0s-0s
        caches: {prices: {keys: 0, spread: 0, one_flight: false}}
      gateway:
        guards: {server: {checkout: 0s, limit: adaptive, mute: false, throttle: {floor: 0}, retry: {jitter: full}}}
    loads:
      callers: {rate: 0, deadline: 0s, priority: 0, even: false, bursts: [], clients: 3}
    triggers:
      spike: {for: 0s}
`

// Whatever an arm says replaces what the scenario says, also where it is what it
// would be if nobody had said anything: zeros, first words, false, an empty list.
func TestZerosOfAnArmReplaceWhatTheScenarioSays(t *testing.T) {
	f, problems := scenario.Read("loud.yaml", []byte(loud))
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	s := played(t, *f.Events)
	edge, middle, server, gateway := s.Services[0].Client, s.Services[1].Client, s.Services[2], s.Services[3].Guards[0]
	for _, c := range []*sim.Client{edge, middle} {
		if c.Timeout != 0 || c.Carry || c.Retry.Attempts != 3 || c.Retry.Jitter != retry.Full {
			t.Errorf("client %+v %+v", c, c.Retry)
		}
	}
	if server.Workers != 0 || !server.Work.IsZero() || !server.Network.IsZero() || server.Cancels || server.Errors != 0 || server.RetryAfter.Max != 0 ||
		server.Queue != (sim.Queue{Places: 7}) {
		t.Errorf("server %+v", server)
	}
	if k := server.Caches[0]; k != (sim.Cache{Name: "prices", Lifetime: time.Second}) {
		t.Errorf("cache %+v", k)
	}
	if gateway.Checkout != -1 || gateway.Limit.Kind == limit.Fixed(12).Kind || gateway.Mute || gateway.Retry.Jitter != retry.Full || gateway.Breaker.Open != 7*time.Second ||
		*gateway.Throttle != (throttle.Config{K: 3, Floor: -1}) {
		t.Errorf("guard %+v", gateway)
	}
	l := s.Loads[0]
	if l.Rate != 0 || l.Deadline != 0 || l.Priority != 0 || l.Even || len(l.Bursts) != 0 || l.Clients != 3 {
		t.Errorf("load %+v", l)
	}
	if s.Triggers[0].For != 0 || s.Triggers[0].Factor != 2 {
		t.Errorf("trigger %+v", s.Triggers[0])
	}
}

// played returns the scenario as its last arm has it.
func played(t *testing.T, s sim.Scenario) sim.Scenario {
	t.Helper()
	last := s.Arms[len(s.Arms)-1]
	merged, ok := s.Arm(last.Name)
	if !ok {
		t.Fatal("there is no such arm")
	}
	return merged
}

// The jitter of the storm's last-but-one arm is the one that it names: "full" is
// the zero value, and the scenario says at_once.
func TestTheStormsJitterIsFull(t *testing.T) {
	text := strings.Replace(loud, "{jitter: full}}}\n      middle", "{jitter: full, base: 1s}}}\n      middle", 1)
	f, problems := scenario.Read("loud.yaml", []byte(text))
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	if r := played(t, *f.Events).Services[0].Client.Retry; r.Jitter != retry.Full || r.Base != time.Second || r.Attempts != 3 {
		t.Errorf("%+v", r)
	}
}
