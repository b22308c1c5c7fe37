package latency_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy/latency"
)

func ExampleRecord() {
	var r latency.Record
	for range 30 {
		r.Add(20 * time.Millisecond)
	}
	r.Add(400 * time.Millisecond) // one slow answer moves the mean, not the median
	median, known := r.Median()
	fmt.Println(r.Mean().Round(time.Millisecond), median, known)
	// Output: 68ms 20ms true
}
