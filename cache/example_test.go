package cache_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kalan-go/kalan/cache"
)

// Prices may be five minutes old; the price service is asked once for each of
// them, however many want it at the same moment.
func Example() {
	service := func(ctx context.Context, symbol string) (float64, error) {
		if symbol != "XAU" {
			return 0, fmt.Errorf("symbol %q: %w", symbol, cache.ErrMissing)
		}
		return 1923.5, nil
	}
	prices, err := cache.New(cache.Config{Name: "prices"}, service)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	price, err := prices.Get(ctx, "XAU")
	fmt.Println(price, err)
	price, err = prices.Get(ctx, "XAU") // from the cache
	fmt.Println(price, err)
	_, err = prices.Get(ctx, "XXX") // that there is none is kept as well
	fmt.Println(errors.Is(err, cache.ErrMissing), err)
	fmt.Println(prices.Snapshot().Loads, "loads")
	// Output:
	// 1923.5 <nil>
	// 1923.5 <nil>
	// true symbol "XXX": there is no such value
	// 2 loads
}

// The decision alone, for a cache of one's own. The nearer the end and the
// slower the computation, the more of the draws refresh.
func ExampleEarly() {
	compute, beta, u := 100*time.Millisecond, 1.0, 0.2
	for _, remaining := range []time.Duration{time.Second, 200 * time.Millisecond, 100 * time.Millisecond} {
		fmt.Println(remaining, cache.Early(remaining, compute, beta, u))
	}
	// Output:
	// 1s false
	// 200ms false
	// 100ms true
}
