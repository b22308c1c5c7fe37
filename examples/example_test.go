package examples_test

import (
	"bytes"
	"fmt"

	"github.com/kalan-go/kalan/examples"
)

// The two files are the same gateway, with and without what protects it.
func Example() {
	for _, file := range [][]byte{examples.TradingBare, examples.Trading} {
		fmt.Println(bytes.Contains(file, []byte("defences: off")), bytes.Count(file, []byte("upstream: bridge-")))
	}
	// Output:
	// true 8
	// false 8
}
