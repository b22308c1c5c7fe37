package report_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// Every way of looking at the page shows all of it: nothing is wider than the
// window, and no two labels of a chart cover each other.
func TestThePageFitsAndNoLabelsCollide(t *testing.T) {
	v := open(t, played(t))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{320, 768, 1280} {
			for _, scripts := range []bool{false, true} {
				v.show(width, scheme, scripts)
				name := fmt.Sprintf("%s-%d-scripts-%v", scheme, width, scripts)
				if over := ask[float64](v, overflow); over > 0 {
					t.Errorf("%s: the page is %v px wider than the window", name, over)
				}
				for _, pair := range ask[[]string](v, collisions) {
					t.Errorf("%s: labels collide: %s", name, pair)
				}
				v.picture(name + ".png")
			}
		}
	}
}

const overflow = `document.documentElement.scrollWidth - innerWidth`

// collisions lists labels of one chart that cover each other, or leave it.
const collisions = `[...document.querySelectorAll("svg.chart")].flatMap(chart => {
  const frame = chart.getBoundingClientRect();
  const texts = [...chart.querySelectorAll("text")].map(t => ({ text: t.textContent, box: t.getBoundingClientRect() }));
  const found = [];
  texts.forEach((a, i) => {
    if (a.box.left < frame.left - 1 || a.box.right > frame.right + 1 || a.box.top < frame.top - 1 || a.box.bottom > frame.bottom + 1)
      found.push(chart.id + " " + a.text + " leaves the chart");
    for (const b of texts.slice(i + 1)) {
      const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (across > 1 && down > 3) found.push(a.text + " / " + b.text);
    }
  });
  return found;
})`

func TestThePagePrints(t *testing.T) {
	v := open(t, played(t))
	v.show(1280, "dark", false)
	pdf := do(v, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4)))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Fatalf("no PDF: %.20q", pdf)
	}
	if pages := bytes.Count(pdf, []byte("/Type /Page\n")); pages < 2 || pages > 9 {
		t.Errorf("%d pages", pages)
	}
	v.keep("print.pdf", pdf)
}
