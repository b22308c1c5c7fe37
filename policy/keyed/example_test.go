package keyed_test

import (
	"fmt"
	"hash/maphash"

	"github.com/kalan-go/kalan/policy/keyed"
)

func Example() {
	seed := maphash.MakeSeed() // strangers cannot choose keys that collide
	calls := keyed.New[int](1000, nil, nil)

	for _, tenant := range []string{"gold", "free", "gold"} {
		*calls.Get(maphash.String(seed, tenant))++
	}
	fmt.Println(calls.Len(), "tenants, gold called", *calls.Peek(maphash.String(seed, "gold")), "times")
	// Output:
	// 2 tenants, gold called 2 times
}
