package handoff_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kalan-go/kalan/handoff"
	"github.com/kalan-go/kalan/policy"
)

// Audit records are written behind the request that caused them. When they come
// faster than they can be written, that is said, and not hidden in memory.
func Example() {
	write := make(chan struct{})
	audit, err := handoff.New(handoff.Config{Name: "audit", Workers: 1, Waiting: 2}, handoff.Work[string]{
		Do:   func(_ context.Context, record string) { <-write; fmt.Println("wrote", record) },
		Drop: func(record string, err error) { fmt.Println("lost", record, err) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, record := range []string{"a", "b", "c", "d"} {
		if err := audit.Offer(context.Background(), record); errors.Is(err, policy.Full) {
			fmt.Println("refused", record)
		}
	}
	close(write)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	fmt.Println("closed:", audit.Close(ctx))
	// Output:
	// refused d
	// wrote a
	// wrote b
	// wrote c
	// closed: <nil>
}
