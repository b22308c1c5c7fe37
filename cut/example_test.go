package cut_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kalan-go/kalan/cut"
	"github.com/kalan-go/kalan/policy"
)

// A look-up that takes no timeout hangs. Its caller does not.
func Example() {
	pool, err := cut.New(cut.Config{Name: "directory", Timeout: 20 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	hang := make(chan struct{})
	defer close(hang)
	find := func(context.Context) (string, error) {
		<-hang
		return "found", nil
	}
	_, err = cut.Do(context.Background(), pool, find)
	fmt.Println(err)
	fmt.Println(errors.Is(err, policy.Timeout), errors.Is(err, context.DeadlineExceeded))
	fmt.Println(pool.Snapshot().Zombies, "zombie")
	// Output:
	// kalan: directory: attempt timed out
	// true true
	// 1 zombie
}
