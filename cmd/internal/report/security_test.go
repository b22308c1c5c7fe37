package report_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/sim"
)

// outside matches what leads out of the page. Nothing in it may, not even the
// namespace of SVG, which HTML does not need.
var outside = regexp.MustCompile(`(?i)https?:|url\(|@import|\b(src|href|action|srcset|poster)\s*=|<(link|iframe|object|embed|base|form)\b`)

func TestThePageRefersToNothing(t *testing.T) {
	for name, r := range map[string]*sim.Result{"small": small(t), "played": played(t)} {
		if found := outside.FindString(written(t, r)); found != "" {
			t.Errorf("%s: the page contains %q", name, found)
		}
	}
	for _, bad := range []string{`<img src=x>`, `<a href="#x">`, `@import "x"`, `url(x)`, `http://x`} {
		if !outside.MatchString(bad) {
			t.Errorf("the rule does not see %s", bad)
		}
	}
}

// renamed returns a result in which everything that a file can name has a name.
func renamed(r *sim.Result, name string) *sim.Result {
	r.Name, r.About, r.Assumptions = name, name, []string{name}
	for i := range r.Arms {
		a := &r.Arms[i]
		a.Name, a.About, a.Amplifies = name, name, name
		a.Loads, a.Services, a.Edges, a.Troubles = slices.Clone(a.Loads), slices.Clone(a.Services), slices.Clone(a.Edges), slices.Clone(a.Troubles)
		a.Loads[0].Name, a.Services[0].Name, a.Edges[0].From, a.Edges[0].To, a.Troubles[0].Name = name, name, name, name, name
		for j := range a.Checks {
			a.Checks[j].Got = name
		}
	}
	for i := range r.Searches {
		r.Searches[i].Name, r.Searches[i].Arm = name, name
	}
	return r
}

// Names are text, wherever they stand.
func TestHostileNamesAreText(t *testing.T) {
	text := written(t, renamed(small(t), hostile))
	for _, bad := range []string{"<img", "<b>", "\x00", "\u202eEND"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if n := strings.Count(text, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	if !strings.Contains(text, "&lt;img") {
		t.Error("the name is not shown")
	}
}

// No name, whatever is in it, changes how many elements the page has.
func TestNamesNeverBecomeMarkup(t *testing.T) {
	elements := strings.Count(written(t, renamed(small(t), "name")), "<")
	rapid.Check(t, func(rt *rapid.T) {
		name := "n" + rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune(`<>"'&/=-!{}()`+"`\\\n\x00 script")))).Draw(rt, "name")
		if got := strings.Count(written(t, renamed(small(t), name)), "<"); got != elements {
			rt.Errorf("%d elements begin, with a plain name %d", got, elements)
		}
	})
}

func TestHostileNamesDoNothing(t *testing.T) {
	v := open(t, renamed(small(t), hostile))
	v.show(1280, "light", true)
	if title := do(v, chromedp.Title()); !strings.Contains(title, "onerror") {
		t.Errorf("the title is %q", title)
	}
	if got := ask[int](v, `document.querySelectorAll("img, b, script ~ script").length`); got != 0 {
		t.Errorf("%d elements were made of names", got)
	}
	if over := ask[float64](v, overflow); over > 0 {
		t.Errorf("a long name makes the page %v px wider than the window", over)
	}
	for _, pair := range ask[[]string](v, collisions) {
		t.Errorf("labels collide: %s", pair)
	}
}

// Should escaping ever fail, the page's policy lets nothing run and nothing be
// loaded; and it lets the page's own style and script through.
func TestThePolicyHolds(t *testing.T) {
	v := open(t, small(t))
	var mu sync.Mutex
	var asked []string
	if err := chromedp.Listen(v.ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, e.Request.URL)
		}
	}); err != nil {
		t.Fatal(err)
	}
	tell(v, network.Enable, network.EnableParams{})
	v.show(1280, "light", true)
	if got := ask[string](v, `getComputedStyle(document.body).maxWidth`); got != "1168px" {
		t.Errorf("the page's own style does not apply: its width is at most %s", got)
	}
	if got := ask[int](v, `document.querySelectorAll("button:not([hidden])").length`); got == 0 {
		t.Error("the page's own script does not run")
	}
	mu.Lock()
	if len(asked) != 1 {
		t.Errorf("the page loaded %q", asked)
	}
	mu.Unlock()
	blocked := do(v, chromedp.Evaluate[int](`new Promise(done => {
  let blocked = 0;
  addEventListener("securitypolicyviolation", () => { if (++blocked === 3) done(blocked); });
  const script = document.createElement("script");
  script.textContent = "document.title = 'owned'";
  const picture = document.createElement("img");
  picture.src = "http" + "://127.0.0.1:9/x.png";
  const style = document.createElement("style");
  style.textContent = "body { display: none }";
  document.body.append(script, picture, style);
  setTimeout(() => done(blocked), 5000);
})`, chromedp.EvalAwaitPromise))
	if blocked != 3 {
		t.Errorf("%d of 3 foreign elements were blocked", blocked)
	}
	if title := do(v, chromedp.Title()); title == "owned" {
		t.Error("a foreign script ran")
	}
}
