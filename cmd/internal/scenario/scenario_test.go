package scenario_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/scenario"
	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
)

// All mistakes of a file at once, in its order, each with its place.
func TestAllMistakesHaveTheirPlaces(t *testing.T) {
	text, err := os.ReadFile("testdata/bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, problems := scenario.Read("testdata/bad.yaml", text)
	golden.File(t, "testdata/bad.txt", problems.Error()+"\n")
}

const gateway = `kind: events
name: gateway
duration: 10s
services:
  gateway: {script: [{call: bridge}], kalan: %s}
  bridge: {work: 5ms}
loads: {callers: {to: gateway, rate: 10}}
arms:
  as it is: {}
  unlimited:
    services: {gateway: {guards: {bridge: {limit: none}}}}
`

// A kalan.yaml is looked for beside the scenario; its upstreams become the
// guards of the services of these names, and what else it says of the gateway is
// taken over where the scenario says nothing.
func TestAKalanFileBecomesTheGuards(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "k", "kalan.yaml"), `
workers: 64
deadline: {margin: 7ms}
accept: {rate: 300, burst: 20, retry_after: 4s-9s}
upstreams:
  bridge: {addresses: ["http://127.0.0.1:9101"], exchange: 600ms, limit: 12}
  elsewhere: {addresses: ["http://127.0.0.1:9102"]}
routes:
  - {match: "/a", upstream: bridge, promise: 700ms}
  - {match: "/b", upstream: elsewhere, promise: 900ms}
`)
	f, problems := scenario.Read(filepath.Join(dir, "s.yaml"), fmt.Appendf(nil, gateway, "k/kalan.yaml"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	v := f.Events.Services[0]
	if len(v.Guards) != 1 || v.Guards[0].To != "bridge" || v.Guards[0].Exchange != 600*time.Millisecond || v.Guards[0].Limit != limit.Fixed(12) ||
		v.Guards[0].Margin != 7*time.Millisecond {
		t.Errorf("guards %+v", v.Guards)
	}
	if v.Workers != 64 || v.Promise != 900*time.Millisecond || v.Accept == nil || *v.Accept != (sim.Accept{Rate: 300, Burst: 20}) || v.RetryAfter.String() != "4s-9s" {
		t.Errorf("workers %d, promise %v, accept %+v, retry after %v", v.Workers, v.Promise, v.Accept, v.RetryAfter)
	}
	r, err := sim.Run(*f.Events, sim.Options{})
	if err != nil || len(r.Arms) != 2 || r.Arms[0].Goodput.Mean < 9 {
		t.Errorf("%v, %+v", err, r.Arms)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A kalan.yaml that is wrong says so in its own lines; one that is not there, or
// has nothing to do with the scenario, in the scenario's.
func TestABadKalanFileIsNamed(t *testing.T) {
	for file, want := range map[string][]string{
		"bad-kalan.yaml": {"bad-kalan.yaml:2:60: upstreams.bridge.exchange: ", "bad-kalan.yaml:2:72: upstreams.bridge.limit: "},
		"none.yaml":      {"s.yaml:5:46: services.gateway.kalan: ", "none.yaml: there is no such file"},
		"../../../../examples/trading/kalan.yaml": {"s.yaml:5:46: services.gateway.kalan: none of its upstreams has the name of a service here"},
	} {
		_, problems := scenario.Read("testdata/s.yaml", fmt.Appendf(nil, gateway, file))
		for _, w := range want {
			if !strings.Contains(problems.Error(), w) {
				t.Errorf("%s: want %q in\n%v", file, w, problems)
			}
		}
	}
}

// A zero that an arm writes is a zero, not something left out.
func TestAnArmMaySayZero(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(gateway, "x"), ", kalan: x", ", client: {timeout: 2s, retry: {attempts: 3, jitter: constant}}", 1)
	text = strings.Replace(text, "services: {gateway: {guards: {bridge: {limit: none}}}}", "services: {gateway: {client: {timeout: 0s, retry: {jitter: full}}}}", 1)
	f, problems := scenario.Read("s.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := "[services.gateway.client.retry.jitter services.gateway.client.timeout]"
	if got := fmt.Sprint(sorted(f.Events.Arms[1].Zeros)); got != want {
		t.Errorf("zeros %s, want %s", got, want)
	}
	if f.Events.Arms[1].Services[0].Client.Retry.Jitter != retry.Full || len(f.Events.Arms[0].Zeros) != 0 {
		t.Errorf("%+v", f.Events.Arms)
	}
}

func sorted(s []string) []string {
	if len(s) == 2 && s[0] > s[1] {
		s[0], s[1] = s[1], s[0]
	}
	return s
}

func TestKindsAreToldApart(t *testing.T) {
	walk, problems := scenario.Read("w.yaml", []byte("kind: walk\nname: x\n"))
	if walk.Walk == nil || walk.Events != nil || len(problems) == 0 {
		t.Errorf("%+v, %v", walk, problems)
	}
	events, _ := scenario.Read("e.yaml", []byte("kind: events\nname: x\n"))
	if events.Events == nil || events.Walk != nil {
		t.Errorf("%+v", events)
	}
	for text, want := range map[string]string{
		"":                     "o.yaml:1:1: the file is empty",
		"kind: [a]\nname: x\n": "o.yaml:1:7: kind: is a list",
		"kind: walks\npromise: 1s\nrequests: 1q\n":                       `o.yaml:1:7: kind: "walks" is not a kind of scenario; write events for a system under load, or walk for requests along a call chain` + "\n" + `o.yaml:3:11: requests: is the text "1q"; write a whole number`,
		"name: x\nservices: {s: {worker: 1}}\nloads: {l: {to: t}}\n":     "o.yaml:1:1: kind: is missing; write events for a system under load, or walk for",
		"services: {s: {worker: 1}}\nloads: {l: {to: t}}\nkind: evnts\n": `o.yaml:1:16: services.s.worker: unknown key; did you mean "workers"?`,
	} {
		_, problems := scenario.Read("o.yaml", []byte(text))
		if got := problems.Error(); !strings.Contains(got, want) || strings.Contains(got, "services: unknown") || strings.Count(got, "kind:") > 1 {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

// Whatever is in a file: no panic, no problem without a place, and what has no
// errors can be played for a moment.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"../../../scenarios/*.yaml", "testdata/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(err, files)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, problems := scenario.Read("../../../scenarios/fuzz.yaml", text)
		for _, p := range problems {
			if p.Position == (strict.Position{}) || p.Text == "" {
				t.Fatalf("%+v", p)
			}
		}
		if s.Events == nil || problems.Err() != nil {
			return
		}
		short := *s.Events
		short.Duration, short.Warmup, short.Replications, short.Triggers, short.Searches = min(short.Duration, 200*time.Millisecond), -1, 1, nil, nil
		for i := range short.Arms {
			short.Arms[i].Triggers = nil
		}
		if short.Validate().Err() != nil {
			return
		}
		if _, err := sim.Run(short, sim.Options{Parallel: 1}); err != nil {
			t.Fatal(err)
		}
	})
}
