package reconnect_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/reconnect"
)

// A terminal keeps its price stream. The server is full at first and says when
// to come back, then accepts, then closes; in the end the password is wrong.
func Example() {
	answers := []error{
		&kalan.Rejection{Guard: "prices", Reason: policy.Full, RetryAfter: 20 * time.Millisecond},
		io.EOF,
		reconnect.Stop(errors.New("wrong password")),
	}
	stream := func(ctx context.Context, ready func()) error {
		answer := answers[0]
		answers = answers[1:]
		if answer == io.EOF {
			ready() // connected, logged in, subscribed; then read until it ends
		}
		return answer
	}
	err := reconnect.Run(context.Background(), reconnect.Config{
		Name: "prices", Base: 10 * time.Millisecond,
		Lost: func(err error, wait time.Duration) { fmt.Println("lost:", err) },
	}, stream)
	fmt.Println("ended:", err)
	// Output:
	// lost: kalan: prices: all slots and waiting places are taken; come back in 20ms
	// lost: EOF
	// ended: wrong password
}
