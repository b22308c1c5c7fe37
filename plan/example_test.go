package plan_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/plan"
)

// A gateway promises 200 ms and needs 20 of them; its chain is two steps deep.
func Example() {
	table := plan.New(plan.Question{
		Budget: 200 * time.Millisecond, Share: 20 * time.Millisecond, Median: 8 * time.Millisecond,
		Depths: []int{2}, Attempts: []int{1, 3},
	})
	for _, r := range table.Rows {
		fmt.Printf("%d attempts: %v ms each, or %v ms in the worst case\n", r.Attempts, r.TimeoutMs, r.WorstMs)
	}
	// Output:
	// 1 attempts: 90 ms each, or 420 ms in the worst case
	// 3 attempts: 30 ms each, or 1220 ms in the worst case
}

func ExampleFromP99() {
	fmt.Println(plan.FromP99(120*time.Millisecond), plan.FromP99(500*time.Millisecond))
	// Output: 200ms 800ms
}

func ExampleMultiply() {
	fmt.Println(plan.Multiply(3, 3, 3))
	// Output: 27
}
