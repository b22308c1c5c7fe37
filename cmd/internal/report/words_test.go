package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim/record"
)

func plain(text string) string { return strings.ReplaceAll(text, narrow, " ") }

func TestAmounts(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 280.4: "280", 27.94: "27.9", 9.996: "10", 2.345: "2.35", 0.5: "0.5", 0.0123: "0.012", 1234567: "1,234,567", 999.6: "1,000",
		-1234: "-1,234", math.NaN(): "–", math.Inf(1): "–",
	} {
		if got := amount(x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}

func TestPercents(t *testing.T) {
	for x, want := range map[float64]string{0: "0 %", 1: "100 %", .0004: "< 0.1 %", .9999: "> 99.9 %", .995: "99.5 %", .047: "4.7 %", .83: "83 %", math.NaN(): "–"} {
		if got := plain(percent(x)); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 30 * time.Microsecond: "30 µs", 1500 * time.Microsecond: "1.5 ms", 850 * time.Millisecond: "850 ms", 4600 * time.Millisecond: "4.6 s",
		999_900 * time.Microsecond: "1 s", 999 * time.Millisecond: "999 ms", 120 * time.Second: "2 min", 125 * time.Second: "2 min 5 s", 3 * time.Hour: "3 h", 150 * time.Minute: "2 h 30 min",
	} {
		if got := plain(took(d)); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		interval record.Interval
		want     string
	}{
		{record.Interval{Mean: 280.123, Half: 1.234, N: 5}, "280.1 ± 1.2/s"}, {record.Interval{Mean: 123.4, Half: 26.1, N: 5}, "123 ± 26/s"},
		{record.Interval{Mean: 12345, Half: 2345, N: 5}, "12,345 ± 2,345/s"}, {record.Interval{Mean: 3, N: 1}, "3/s"}, {record.Interval{Mean: 3, N: 4}, "3/s"},
	} {
		if got := plain(between(c.interval, "/s")); got != c.want {
			t.Errorf("%v is %s, want %s", c.interval, got, c.want)
		}
	}
}

// A command that is copied means in a shell what it meant.
func TestCommandLines(t *testing.T) {
	got := commandLine([]string{"kalan", "simulate", "my file.yaml", "", "it's;rm -rf ~", "--report=a.html"})
	if want := `kalan simulate 'my file.yaml' '' 'it'\''s;rm -rf ~' --report=a.html`; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}

func TestCellsAreNoFormulas(t *testing.T) {
	for name, want := range map[string]string{"=cmd|x": "'=cmd|x", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "bare": "bare", "": ""} {
		if got := cell(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
