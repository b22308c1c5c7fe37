package budget_test

import (
	"fmt"

	"github.com/kalan-go/kalan/policy/budget"
)

// A hundred calls fail together. Ten of them may be repeated, and no floor helps
// the others: nothing has succeeded lately.
func Example() {
	b := budget.New(budget.Config{})
	for range 100 {
		first := b.Call(0)
		b.Heard(false)
		b.End(0, &first)
	}
	retries := 0
	for range 100 {
		if _, ok := b.Retry(0); ok {
			retries++
		}
	}
	fmt.Println("retries:", retries)
	// Output: retries: 10
}

// A retry that was decided and then cancelled while it waited is given back.
func ExampleBudget_Undo() {
	b := budget.New(budget.Config{Floor: 1})
	mark, _ := b.Retry(0)
	fmt.Println("left while it waits:", b.Snapshot(0).Left)
	b.Undo(0, &mark)
	fmt.Println("left afterwards:", b.Snapshot(0).Left)
	// Output:
	// left while it waits: 0
	// left afterwards: 1
}
