package record_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/sim/record"
)

func Example() {
	var latency record.Histogram
	for i := range 1000 {
		latency.Add(time.Duration(i) * time.Millisecond)
	}
	fmt.Println(latency.Quantile(.99).Round(10*time.Millisecond), latency.Mean())

	// One goodput a replication.
	fmt.Println(record.Over([]float64{97.2, 98.1, 97.5, 98.4}))
	// Output:
	// 990ms 499.5ms
	// 97.8 ±0.87
}
