package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/plan"
	"pgregory.net/rapid"
)

const trading, unfit = "../../examples/trading/kalan.yaml", "testdata/plan/unfit.yaml"

func TestPlanFile(t *testing.T) {
	for name, args := range map[string][]string{
		"trading": {"--config", trading},
		"unfit":   {"--config", unfit},
		"median":  {"--config", unfit, "--route", "GET  /eager/", "--median", "75ms"},
	} {
		golden.File(t, "testdata/plan/"+name+".txt", mustRun(t, newPlanCommand(), args...))
		golden.File(t, "testdata/plan/"+name+".json", mustRun(t, newPlanCommand(), append(args, "--format", "json")...))
	}
}

// The figures of a route, without the help of a file that could be rewritten.
func TestPlanFileFigures(t *testing.T) {
	d := planned(t, trading, "--route", "POST /bridge-a/orders")
	if len(d.Routes) != 1 || d.Warnings != nil {
		t.Fatalf("%+v, want one route and no warnings", d)
	}
	r := d.Routes[0]
	if r.NeedsMs != 5+2*(50+800)+100 || r.WorstMs != 900 || r.Fit != 1 || r.DividedMs != (900-5-2*50-100)/2. ||
		!slices.Equal(r.LateMs, []float64{800, 0}) || !slices.Equal(r.EarlyMs, []float64{800, 900 - 5 - 50 - 100 - 50}) ||
		*r.Instead != (insteadDocument{"340ms", 1, "1.9s"}) {
		t.Errorf("%+v", r)
	}
}

func TestPlanFileKnowsWhichRouteWasMeant(t *testing.T) {
	_, errOut, status := tell("plan", "--config", unfit, "--route", "GET /hedge")
	if want := `--route: there is no route "GET /hedge"; did you mean "GET /hedged/"?` + "\n"; status != 2 || errOut != want {
		t.Errorf("status %d, %s", status, errOut)
	}
}

// A full disk is no success, in either form.
func TestPlanFileSaysWhenItCannotWrite(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var errOut strings.Builder
		if status := execute([]string{"plan", "--config", trading, "--format", format}, closed{}, &errOut); status != 1 || errOut.String() != "kalan: "+os.ErrClosed.Error()+"\n" {
			t.Errorf("%s: status %d, %s", format, status, errOut.String())
		}
	}
}

// planned runs the command on a file and reads what it writes.
func planned(t *testing.T, file string, args ...string) planDocument {
	t.Helper()
	var d planDocument
	text := mustRun(t, newPlanCommand(), append([]string{"--config", file, "--format", "json"}, args...)...)
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Who reads a bad file through this door sees what the gateway's shows.
func TestPlanRefusesWhatServeRefuses(t *testing.T) {
	for _, file := range []string{filepath.Join("..", "internal", "config", "testdata", "bad.yaml"), "none.yaml", "testdata", "testdata/plan/lesson.txt"} {
		out, planned, status := tell("plan", "--config", file)
		_, served, _ := tell("serve", "--config", file)
		if errs := warning.ReplaceAllString(served, ""); out != "" || status != 2 || planned != errs {
			t.Errorf("%s: status %d, output %q and\n%swant\n%s", file, status, out, planned, errs)
		}
	}
}

// warning is a line that is no error.
var warning = regexp.MustCompile(`(?m)^\S+:\d+:\d+: warning: .*\n`)

func TestPlanFileRefusesFlags(t *testing.T) {
	for args, want := range map[string]string{
		"kalan.yaml":                                         `kalan: "kalan.yaml" stands alone; a flag names the file: --config kalan.yaml` + "\nRun ",
		"--config=":                                          `--config: is empty`,
		"--config x.yaml --budget 1s":                        `--budget: the file says it: promise of a route`,
		"--config x.yaml --attempts 1,3":                     `--attempts: the file says it: retry.attempts`,
		"--config x.yaml --median 8":                         `--median: `,
		"--config x.yaml --median 0":                         `--median: 0s is no time at all`,
		"--config x.yaml --median=":                          `--median: is missing`,
		"--config x.yaml --median -1s":                       `--median: `,
		"--config x.yaml --format xml":                       `--format: "xml" is not a format`,
		"--config x.yaml --route orders":                     `--route: "orders" is not a method and a path`,
		"--config " + trading + " --route=":                  `--route: "" is not a method and a path`,
		"--config " + trading + " --route /zzzzzzzzzzzzzzzz": `--route: there is no route "/zzzzzzzzzzzzzzzz"; the file has POST /bridge-a/orders,`,
		"--budget 1s --share 0 --median 8ms --route /":       `--route: names a route of a file; write --config as well`,
		"--config x.yaml --budget 1s --share 0 --depth 1 --attempts 1 --p99 1s --layers 3 --median x --route x --format x": "--budget: \n--share: \n--depth: " +
			"\n--attempts: \n--p99: \n--layers: \n--median: \n--route: \n--format: ",
	} {
		out, errOut, status := tell(append([]string{"plan"}, strings.Fields(args)...)...)
		lines := strings.Split(strings.TrimSuffix(errOut, "\n"), "\n")
		for i, begins := range strings.Split(want, "\n") {
			if status != 2 || out != "" || len(lines) != len(strings.Split(want, "\n")) || !strings.HasPrefix(lines[i], begins) {
				t.Errorf("%s: status %d, output %q and\n%swant %s", args, status, out, errOut, want)
				break
			}
		}
	}
}

// Whatever a file says: the figures belong together, the warnings have their
// places, and a file with what was to be written instead has its way.
func TestPlanFileInvariants(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		length := func(name string, low, high int) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
		}
		f := fileOf{
			method: rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method"), margin: length("margin", 0, 9),
			promise: length("promise", 10, 3000), checkout: length("checkout", 0, 100), exchange: length("exchange", 1, 1000),
			attempts: rapid.IntRange(1, 4).Draw(t, "attempts"), base: length("base", 1, 300),
			jitter: rapid.SampledFrom([]string{"full", "decorrelated", "at_once"}).Draw(t, "jitter"),
		}
		d, text := f.plan(t, dir)
		r := d.Routes[0]
		asPlanned(t, f, r)
		warning := fmt.Sprintf("kalan.yaml:6:%d: warning: routes[0].promise: %v is less than one", 43+len(f.method), f.promise)
		if r.Fit == 0 != strings.Contains(strings.Join(d.Warnings, "\n"), warning) {
			t.Fatalf("%d fit, and the warnings are %q", r.Fit, d.Warnings)
		}
		if r.Instead == nil {
			return
		}
		if !strings.Contains(text, r.Instead.Exchange) || !strings.Contains(text, r.Instead.Promise) {
			t.Fatalf("the text is\n%sand the JSON says %+v", text, r.Instead)
		}
		for _, better := range f.instead(t, *r.Instead) {
			if d, _ := better.plan(t, dir); d.Routes[0].Fit != better.attempts {
				t.Fatalf("%+v instead: %d fit", better, d.Routes[0].Fit)
			}
		}
	})
}

// asPlanned checks the figures of a route against each other and the table.
func asPlanned(t *rapid.T, f fileOf, r routeDocument) {
	if fits := r.NeedsMs <= r.PromiseMs; fits != (r.Fit == r.Attempts) || fits != (r.Instead == nil) || r.WorstMs > r.PromiseMs {
		t.Fatalf("%+v", r)
	}
	for n, late := range r.LateMs {
		if late > r.EarlyMs[n] || r.EarlyMs[n] > r.ExchangeMs || (late == r.ExchangeMs) != (n < r.Fit) {
			t.Fatalf("attempt %d: %+v", n+1, r)
		}
	}
	waits := r.MarginMs + float64(r.Attempts)*r.CheckoutMs + r.PausesMs
	q := plan.Question{Budget: f.promise, Share: time.Duration(waits * 1e6), Median: 1, Depths: []int{1}, Attempts: []int{f.attempts}}
	if f.method == "POST" || len(q.Validate()) > 0 {
		return
	}
	if row := plan.New(q).Rows[0]; math.Abs(row.TimeoutMs-r.DividedMs) > 1e-5 {
		t.Fatalf("divided, an attempt has %v ms, and the table says %v", r.DividedMs, row.TimeoutMs)
	}
}

// A fileOf is a kalan.yaml with one route.
type fileOf struct {
	method                                    string
	margin, promise, checkout, exchange, base time.Duration
	attempts                                  int
	jitter                                    string
}

// plan writes the file and returns what the command says of it, in both forms.
func (f fileOf) plan(t *rapid.T, dir string) (planDocument, string) {
	name := filepath.Join(dir, "kalan.yaml")
	text := fmt.Sprintf(`deadline: {margin: %v}
upstreams:
  one: {addresses: ["http://127.0.0.1:9101"], connect: 40ms, checkout: %v, exchange: %v,
    retry: {attempts: %d, base: %v, jitter: %s}}
routes:
  - {match: "%s /", upstream: one, promise: %v}
`, f.margin, f.checkout, f.exchange, f.attempts, f.base, f.jitter, f.method, f.promise)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	words, err := run(newPlanCommand(), "--config", name)
	if err != nil {
		t.Fatalf("%v, of\n%s", err, text)
	}
	data, err := run(newPlanCommand(), "--config", name, "--format", "json")
	var d planDocument
	if err != nil || json.Unmarshal([]byte(data), &d) != nil || len(d.Routes) != 1 {
		t.Fatalf("%v, %s", err, data)
	}
	return d, words
}

// instead returns the files in which one value is what was to be written.
func (f fileOf) instead(t *rapid.T, i insteadDocument) (all []fileOf) {
	for _, change := range []struct {
		text  string
		value *time.Duration
	}{{i.Exchange, &f.exchange}, {i.Promise, &f.promise}} {
		d, err := time.ParseDuration(change.text)
		if change.text == "" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		kept := *change.value
		*change.value = d
		all = append(all, f)
		*change.value = kept
	}
	if i.Attempts > 0 {
		f.attempts = i.Attempts
		all = append(all, f)
	}
	return all
}
