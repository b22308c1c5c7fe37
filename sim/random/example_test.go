package random_test

import (
	"fmt"

	"github.com/kalan-go/kalan/sim/random"
)

func Example() {
	work, err := random.Parse("lognormal p50 8ms p99 120ms")
	if err != nil {
		fmt.Println(err)
		return
	}
	// Seed 1, replication 0, the work of the service "bridge-a".
	s := random.Of(1, 0, random.Name("bridge-a"))
	for n := range uint64(3) {
		fmt.Println(work.Draw(&s, n))
	}
	_, err = random.Parse("exponential 10")
	fmt.Println(err)
	// Output:
	// 16.625349ms
	// 2.990291ms
	// 4.019546ms
	// exponential: "10" has no unit; write "10ms" or "10s"; write for example "exponential 10ms"
}
