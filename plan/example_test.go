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

// A route that promises 900 ms, with the default retry: a second attempt has
// most of that after a failure that came at once, and nothing after a timeout.
func ExampleRoute() {
	r := plan.Route{
		Promise: 900 * time.Millisecond, Margin: 5 * time.Millisecond,
		Checkout: 50 * time.Millisecond, Exchange: 800 * time.Millisecond,
	}
	d := r.Divide()
	fmt.Printf("needs %v, %d of %d fit: %v or %v\n", d.Needs, d.Fit, d.Attempts, d.Late, d.Early)
	fmt.Println("for all of them:", r.Instead(d))
	// Output:
	// needs 1.805s, 1 of 2 fit: [800ms 0s] or [800ms 695ms]
	// for all of them: exchange: 340ms, or attempts: 1, or promise: 1.9s
}
