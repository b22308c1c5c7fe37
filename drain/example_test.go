package drain_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/kalan-go/kalan/drain"
	"github.com/kalan-go/kalan/policy"
)

// A server that leaves in order. In a real main, Run is called when
// signal.NotifyContext says that SIGTERM has come, with a context that ends at
// the second signal, and what was cut decides the exit code.
func Example() {
	leave, err := drain.New(drain.Config{Delay: time.Millisecond, Finish: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !leave.Enter() {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		defer leave.Exit()
		fmt.Fprintln(w, "hello")
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go server.Serve(listener)

	fmt.Println("ready:", leave.Ready())
	cut, err := leave.Run(context.Background(), drain.Steps{
		Leave:  func() { fmt.Println("ready:", leave.Ready()) },
		Finish: server.Shutdown,
		Close:  server.Close,
	})
	fmt.Println("cut", cut, err)
	// Output:
	// ready: true
	// ready: false
	// cut 0 <nil>
}

// The decision alone, for a driver of one's own.
func ExampleMachine() {
	m := drain.NewMachine(drain.Config{Delay: 5 * time.Second, Finish: 20 * time.Second})
	m.Enter(0)
	m.Leave(0)
	for _, now := range []time.Duration{time.Second, 5 * time.Second, 25 * time.Second} {
		state, until := m.Look(policy.Instant(now))
		fmt.Println(now, state, until)
	}
	fmt.Println(m.Cut(), "cut")
	// Output:
	// 1s leaving 5s
	// 5s finishing 25s
	// 25s closed never
	// 1 cut
}
