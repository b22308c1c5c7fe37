package draw

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Spread moves what wants to stand at the given places as little as possible
// (in squares), so that neighbours are a gap apart and nobody stands outside.
// The order stays. What cannot fit stands as close as it must.
//
// It is the isotonic regression of the places less their share of the gaps, by
// pooling neighbours that violate the order.
func Spread(places []float64, gap, from, to float64) []float64 {
	if len(places) == 0 {
		return nil
	}
	gap = min(gap, (to-from)/max(float64(len(places)-1), 1))
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	type pool struct{ sum, n float64 }
	var pools []pool
	for i, at := range order {
		pools = append(pools, pool{places[at] - float64(i)*gap, 1})
		for k := len(pools); k > 1 && pools[k-2].sum/pools[k-2].n > pools[k-1].sum/pools[k-1].n; k-- {
			pools[k-2].sum += pools[k-1].sum
			pools[k-2].n += pools[k-1].n
			pools = pools[:k-1]
		}
	}
	spread := make([]float64, len(places))
	i := 0
	for _, p := range pools {
		for range int(p.n) {
			inside := min(max(p.sum/p.n, from), to-float64(len(places)-1)*gap)
			spread[order[i]] = inside + float64(i)*gap
			i++
		}
	}
	return spread
}

// Cut returns the text with at most n characters, the last one an ellipsis when
// some had to go, and without what would not be seen or would turn the line
// around.
func Cut(text string, n int) string {
	clean := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text))
	if len(clean) <= n {
		return string(clean)
	}
	return strings.TrimRight(string(clean[:max(n-1, 0)]), " ") + "…"
}

// Wide returns about how wide a text of a size is in a wide and bold face: a
// narrower one leaves a little more room.
func Wide(text string, size float64) float64 { return 0.7 * size * float64(len([]rune(text))) }
