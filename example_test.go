package kalan_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
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

// An answer that goes on after it has begun keeps its slot until it is released.
// Judge looks at the value, since an answer of 503 is not an error.
func ExampleHold() {
	config := kalan.Config{Name: "files"}
	config.Limit = limit.Fixed(25)
	config.Retry.Jitter = retry.AtOnce // so that the example does not wait
	files, err := kalan.New(config)
	if err != nil {
		panic(err)
	}
	type answer struct {
		status int
		body   string
	}
	way := kalan.Way[answer]{
		Judge: func(a answer, err error) policy.Report {
			if err == nil && a.status >= 500 {
				return policy.Report{Outcome: policy.Failure}
			}
			return kalan.Classify(err)
		},
		Discard: func(a answer) error { // of an attempt that is followed by another
			return fmt.Errorf("status %d", a.status)
		},
	}

	got, held, err := kalan.Hold(context.Background(), files, way, func(ctx context.Context) (answer, error) {
		if kalan.AttemptOf(ctx).Number == 1 {
			return answer{status: 503}, nil
		}
		return answer{200, "what was asked for"}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(got.status, got.body, "in flight:", files.Snapshot().InFlight)
	held.Release(policy.Success) // read to its last byte
	fmt.Println("in flight:", files.Snapshot().InFlight)
	// Output:
	// 200 what was asked for in flight: 1
	// in flight: 0
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

// A dependency whose client raises errors of its own says which of them are its
// fault. A business error is not, and opens no breaker.
func ExampleConfig() {
	errNoFunds, errMaintenance := errors.New("no funds"), errors.New("maintenance")
	config := kalan.Config{Name: "payments", Classify: func(err error) policy.Report {
		if errors.Is(err, errMaintenance) {
			return policy.Report{Outcome: policy.Failure, Final: true} // and no second attempt
		}
		return kalan.Classify(err)
	}}
	payments, err := kalan.New(config)
	if err != nil {
		panic(err)
	}
	for _, err := range []error{nil, errNoFunds, errMaintenance} {
		kalan.Do(context.Background(), payments, func(context.Context) (int, error) { return 0, err })
	}
	outcomes := payments.Snapshot().Counts.Outcomes
	fmt.Println(outcomes[policy.Success], "good,", outcomes[policy.Ignored], "ignored,", outcomes[policy.Failure], "failed")
	// Output: 1 good, 1 ignored, 1 failed
}

// What a guard has decided is told afterwards, to whoever watches.
func ExampleWatch() {
	config := kalan.Config{Name: "orders"}
	config.Trace = 1024 // keep every decision
	config.Retry.Jitter = retry.AtOnce
	orders, err := kalan.New(config)
	if err != nil {
		panic(err)
	}
	kalan.Do(context.Background(), orders, func(ctx context.Context) (int, error) {
		if kalan.AttemptOf(ctx).Number == 1 {
			return 0, context.DeadlineExceeded // the first attempt runs out of time
		}
		return 42, nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // a program watches on a goroutine, for as long as it runs
	kalan.Watch(ctx, kalan.ObserverFunc(func(g *kalan.Guard, events []policy.Event, _ uint64) {
		for _, e := range events {
			if e.Kind == policy.Settled {
				fmt.Println(g.Name(), e.Kind, e.Outcome)
				continue
			}
			fmt.Println(g.Name(), e.Kind)
		}
	}), orders)
	// Output:
	// orders started
	// orders settled failure
	// orders retried
	// orders settled success
}
