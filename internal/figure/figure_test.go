package figure_test

import (
	"math"
	"testing"

	"github.com/kalan-go/kalan/internal/figure"
)

func TestFixed(t *testing.T) {
	for _, c := range []struct {
		x        float64
		decimals int
		want     string
	}{
		{5.625, 2, "5.63"}, {1.875, 2, "1.88"}, {22.5, 2, "22.50"}, {180, 1, "180.0"}, {1.1, 1, "1.1"}, {9.1, 1, "9.1"},
		{80.0 / 3, 1, "26.7"}, {1666.68 * 1.0625, 2, "1770.85"}, {-5.625, 2, "-5.63"}, {0, 2, "0.00"}, {2.5, 0, "3"},
		{1e300, 0, "1" + zeros(300)},
	} {
		if got := figure.Fixed(c.x, c.decimals); len(got) != len(c.want) || math.Abs(c.x) < 1e9 && got != c.want {
			t.Errorf("%v with %d decimals is %s, want %s", c.x, c.decimals, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for x, want := range map[float64]string{220: "220", 0.5: "0.5", 26.66666: "26.667", 1.0004: "1"} {
		if got := figure.Short(x, 3); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}

func zeros(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return string(b)
}
