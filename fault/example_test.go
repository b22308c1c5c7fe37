package fault_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/fault"
	"github.com/kalan-go/kalan/policy"
)

// Does a payment survive that its answer is lost? It was made; a program that
// repeats it without a key pays twice.
func Example() {
	chaos, err := fault.New(fault.Fault{Kind: fault.Lose, Share: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	config := kalan.Config{Name: "payments"}
	config.Classify = func(err error) policy.Report {
		r := kalan.Classify(err)
		r.Final = true // nothing is repeated
		return r
	}
	payments, err := kalan.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	paid := 0
	_, err = kalan.Do(context.Background(), payments, func(ctx context.Context) (string, error) {
		return fault.Do(ctx, chaos, func(context.Context) (string, error) {
			paid++
			return "receipt", nil
		})
	})
	fmt.Println("paid", paid, "time:", err)
	var hurt fault.Error
	fmt.Println(errors.As(err, &hurt))
	// Output:
	// paid 1 time: fault: lose, on purpose
	// true
}
