package guards_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/guards"
	"github.com/kalan-go/kalan/policy"
)

// One shard is down. Those who ask it are refused, and nobody else is.
func Example() {
	config := kalan.Config{Name: "orders"}
	config.Retry.Attempts = 1
	shards, err := guards.New[int](config, 64)
	if err != nil {
		fmt.Println(err)
		return
	}
	read := func(shard int) error {
		_, err := kalan.Do(context.Background(), shards.Get(shard), func(context.Context) (string, error) {
			if shard == 3 {
				return "", syscall.ECONNREFUSED
			}
			return "a row", nil
		})
		return err
	}
	for range 20 {
		_ = read(3)
	}
	fmt.Println(errors.Is(read(3), policy.Open))
	fmt.Println(read(4))
	// Output:
	// true
	// <nil>
}
