package report_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axe returns the source of axe-core, which is looked for where npm puts it.
func axe(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("npm", "root", "-g").Output()
	if err == nil {
		var source []byte
		if source, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "axe-core", "axe.min.js")); err == nil {
			return string(source)
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf(".ci/run has to install axe-core: %v", err)
	}
	t.Skipf("needs npm, and then npm install -g axe-core (%v)", err)
	return ""
}

// What axe finds wrong with the page: nothing, in either colour scheme.
func TestAxeFindsNothing(t *testing.T) {
	source := axe(t)
	v := open(t, played(t))
	for _, scheme := range []string{"light", "dark"} {
		v.show(1280, scheme, true)
		ask[any](v, source+"; 0")
		ask[any](v, `document.querySelectorAll("details").forEach(d => { d.open = true; }); 0`)
		found := do(v, chromedp.Evaluate[[]string](`axe.run().then(r => r.violations.flatMap(v =>
  v.nodes.map(n => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary)))`, chromedp.EvalAwaitPromise))
		for _, violation := range found {
			t.Errorf("%s: %s", scheme, violation)
		}
	}
}

// Values can be had with the keyboard, and they are those of the table.
func TestTheArrowKeysShowValues(t *testing.T) {
	v := open(t, small(t))
	v.show(1280, "light", true)
	do(v, chromedp.Focus("svg[data-table]"))
	do(v, chromedp.KeyEvent(kb.ArrowRight+kb.ArrowRight))
	v.picture("values.png")
	if got, want := ask[string](v, `document.querySelector(".readout").textContent`), "at 1\u00a0s: 90 offered, 90 answered, 90 attempts"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// With scripts off every figure is there all the same.
func TestThePageReadsWithoutScripts(t *testing.T) {
	v := open(t, small(t))
	v.show(1280, "light", false)
	text := do(v, chromedp.Text("body"))
	for _, want := range []string{"1 of 3 expectations is not met", "metastable", "capacity 100/s", "p99", "clients → server", "beef", "kalan simulate 'two arms.yaml'"} {
		if !strings.Contains(strings.ReplaceAll(text, "\u00a0", " "), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(text, "Copy") {
		t.Error("a button is shown that does nothing")
	}
}
