package kalanredis_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/redis/go-redis/v9"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanredis"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// A client behind a guard whose breaker is open, as after an outage: callers
// have their answer at once.
func Example() {
	config := kalanredis.Limits{}.Config("sessions")
	config.Breaker.Mode = breaker.ForcedOpen
	guard, err := kalan.New(config)
	if err != nil {
		log.Fatal(err)
	}
	client := kalanredis.NewClient(guard, &redis.Options{Addr: "localhost:6379"})
	defer client.Close()

	err = client.Get(context.Background(), "session:42").Err()
	fmt.Println(errors.Is(err, policy.Open))
	// Output: true
}

// A client that is made elsewhere gets the hook, and its options the limits.
func ExampleHook() {
	config := kalanredis.Limits{}.Config("sessions")
	guard, err := kalan.New(config)
	if err != nil {
		log.Fatal(err)
	}
	options := kalanredis.Limits{}.ApplyUniversal(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
	client := redis.NewUniversalClient(options)
	defer client.Close()
	client.AddHook(kalanredis.Hook{
		Guard: guard,
		Repeatable: func(cmd redis.Cmder) bool { // we know that doing these twice is doing them once
			return kalanredis.ReadOnly(cmd) || cmd.Name() == "del"
		},
	})
	fmt.Println(options.DialTimeout, options.ReadTimeout, options.PoolTimeout)
	// Output: 100ms 200ms 100ms
}
