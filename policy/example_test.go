package policy_test

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A reason is a sentinel, a metric label and a sentence in one.
func ExampleReason() {
	err := fmt.Errorf("bridge-a: %w", policy.Open)

	fmt.Println(err)
	fmt.Println(errors.Is(err, policy.Open), errors.Is(err, policy.Full))
	fmt.Println(policy.Open)
	// Output:
	// bridge-a: circuit breaker is open
	// true false
	// circuit breaker is open
}

// Instants saturate: a wait that does not end stays one that does not end.
func ExampleInstant() {
	start := policy.Instant(2 * time.Second)

	fmt.Println(start.Add(500 * time.Millisecond))
	fmt.Println(start.Add(500 * time.Millisecond).Sub(start))
	fmt.Println(policy.Never.Add(-time.Hour))
	fmt.Println(start.Add(math.MaxInt64) == policy.Never)
	// Output:
	// 2.5s
	// 500ms
	// never
	// true
}

// Validate methods report everything that is wrong at once, where it is and
// what to write instead.
func ExampleProblems() {
	breaker := policy.Problems{
		{Path: "calls", Text: "-1 is negative; write how many calls to judge by, or leave it out for 20"},
		{Path: "slow", Text: "is near the timeout", Warning: true},
	}

	fmt.Println(breaker.Under("upstreams.bridge-a.breaker").Err())
	// Output:
	// upstreams.bridge-a.breaker.calls: -1 is negative; write how many calls to judge by, or leave it out for 20
}
