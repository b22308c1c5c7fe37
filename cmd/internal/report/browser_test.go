package report_test

import (
	"context"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/kalan-go/kalan/sim"
)

// pictures is where the screenshots go that a person should look at.
var pictures = flag.String("pictures", "", "directory to keep screenshots and the printed page in")

// browser is started once. The error says that there is none.
var browser = sync.OnceValues(func() (context.Context, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, exec.ErrNotFound
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	stopBrowser = stop
	ctx, _ = chromedp.NewContext(ctx)
	return ctx, chromedp.Do(ctx)
})

var stopBrowser = func() {}

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	stopBrowser()
	os.Exit(status)
}

// A view is a tab that shows a report.
type view struct {
	testing.TB
	ctx  context.Context
	file string
}

// open writes the report of a result to a file and opens a tab for it.
func open(t testing.TB, r *sim.Result) *view {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser: left out of -short")
	}
	parent, err := browser()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf(".ci/run has to install chromium: %v", err)
		}
		t.Skipf("needs a browser: apt-get install chromium (%v)", err)
	}
	ctx, closeTab := chromedp.NewContext(parent)
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	v := &view{t, ctx, filepath.Join(t.TempDir(), "report.html")}
	if err := os.WriteFile(v.file, []byte(written(t, r)), 0o644); err != nil {
		t.Fatal(err)
	}
	return v
}

// do runs an action in the tab and returns what it does.
func do[T any](v *view, action chromedp.Action[T]) T {
	v.Helper()
	answer, err := chromedp.Run(v.ctx, action)
	if err != nil {
		v.Fatal(err)
	}
	return answer
}

// tell sends a command of the protocol to the tab.
func tell[P, R any](v *view, command cdp.Command[P, R], params P) {
	v.Helper()
	if _, err := chromedp.Call(v.ctx, command, params); err != nil {
		v.Fatal(err)
	}
}

// show loads the report as wide as that, in a colour scheme.
func (v *view) show(width int64, scheme string, scripts bool) {
	v.Helper()
	do(v, chromedp.EmulateViewport(width, 900))
	tell(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	tell(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	do(v, chromedp.Navigate((&url.URL{Scheme: "file", Path: v.file}).String()))
}

// ask evaluates an expression in the page.
func ask[T any](v *view, expression string) T {
	v.Helper()
	return do(v, chromedp.Evaluate[T](expression))
}

// keep writes what a person should look at.
func (v *view) keep(name string, content []byte) {
	v.Helper()
	if *pictures == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pictures, name), content, 0o644); err != nil {
		v.Fatal(err)
	}
}

// picture takes one of the whole page, if it is wanted.
func (v *view) picture(name string) {
	v.Helper()
	if *pictures == "" {
		return
	}
	png := do(v, chromedp.FullScreenshot(100))
	if len(png) < 1000 {
		v.Errorf("the screenshot has %d bytes", len(png))
	}
	v.keep(name, png)
}
