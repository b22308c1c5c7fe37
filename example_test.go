package kalan_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

func ExampleDo() {
	config := kalan.Config{Name: "prices"}
	config.Limit = limit.Fixed(25) // at once; every field left out means its documented default
	prices, err := kalan.New(config)
	if err != nil {
		panic(err) // everything that is wrong with the configuration, at once
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	price, err := kalan.Do(ctx, prices, func(ctx context.Context) (int, error) {
		return 42, nil // ask for it, with this context
	})
	fmt.Println(price, err)
	// Output: 42 <nil>
}

// A refusal says why, and keeps what the last attempt came back with.
func ExampleRejection() {
	config := kalan.Config{Name: "orders"}
	config.Limit = limit.Fixed(1)
	config.Room.Waiting = -1 // nobody waits
	orders, err := kalan.New(config)
	if err != nil {
		panic(err)
	}
	work := func(context.Context) (string, error) { return "done", nil }

	_, held, err := kalan.Hold(context.Background(), orders, kalan.Way[string]{}, work)
	if err != nil {
		panic(err)
	}
	// The one slot is taken until held is released: a body that is still read.
	_, err = kalan.Do(context.Background(), orders, work)
	var refused *kalan.Rejection
	fmt.Println(errors.Is(err, policy.Full), errors.As(err, &refused) && refused.RetryAfter > 0)

	held.Release(policy.Success)
	answer, err := kalan.Do(context.Background(), orders, work)
	fmt.Println(answer, err)
	// Output:
	// true true
	// done <nil>
}
