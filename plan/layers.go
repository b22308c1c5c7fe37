package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/policy/budget"
)

// flagged is above how many calls for one call layers are warned of: one layer
// of three attempts is usual, and everything above it is at least two layers
// that retry (F20).
const flagged = 3

// Multiply returns how many calls reach the bottom for one call at the top when
// everything fails and each layer makes that many attempts: 3, 3, 3 is 27 (F20).
func Multiply(layers ...int) float64 {
	product := 1.0
	for _, attempts := range layers {
		product *= float64(attempts)
	}
	return product
}

// layered warns of layers that multiply each other (O-14).
func layered(layers []int) []string {
	product := Multiply(layers...)
	if product <= flagged {
		return nil
	}
	texts := make([]string, len(layers))
	for i, attempts := range layers {
		texts[i] = strconv.Itoa(attempts)
	}
	ratio := budget.Config{}.WithDefaults().Ratio
	return []string{fmt.Sprintf("layers that retry: %s attempts multiply to %sx when everything fails. Let the outermost layer retry alone; "+
		"with a retry budget of %s at each layer it is at most %sx.",
		strings.Join(texts, " x "), figure.Fixed(product, 1), figure.Short(ratio, 2), figure.Fixed(math.Pow(1+ratio, float64(len(layers))), 2))}
}
