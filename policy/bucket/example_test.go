package bucket_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/keyed"
)

func Example() {
	b := bucket.New(bucket.Config{Rate: 10, Burst: 2})
	now := policy.Instant(0)

	fmt.Println(b.Allow(now), b.Allow(now), b.Allow(now))
	fmt.Println("again at", b.RetryAt(now, 1))
	fmt.Println(b.Allow(now.Add(100 * time.Millisecond)))
	// Output:
	// true true false
	// again at 100ms
	// true
}

// One rule for all tenants, and a level for each.
func ExampleRule() {
	rule := bucket.NewRule(bucket.Config{Rate: 1, Burst: 1})
	tenants := keyed.New[bucket.Level](100_000, nil, nil)

	allow := func(now policy.Instant, tenant uint64) bool {
		return rule.Take(now, tenants.Get(tenant), 1)
	}
	fmt.Println(allow(0, 7), allow(0, 7), allow(0, 8))
	// Output:
	// true false true
}
