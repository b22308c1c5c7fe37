package kalangrpc_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/drain"
)

func departure(t *testing.T, finish time.Duration) *drain.Drain {
	t.Helper()
	d, err := drain.New(drain.Config{Delay: -1, Finish: finish, Grace: 2 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// F6: a server that leaves finishes what is in flight, tells a long stream to
// end, and refuses what comes.
func TestAFinishingServerRefusesWhatComes(t *testing.T) {
	s, entered, block := busy()
	s.duplex = func(stream grpc_testing.TestService_FullDuplexCallServer) error {
		entered <- struct{}{}
		<-stream.Context().Done()
		return status.Error(codes.Unavailable, "subscribe elsewhere")
	}
	d := departure(t, time.Hour)
	_, target := serve(t, s, kalangrpc.Server{Guard: guard(t), Drain: d, Long: always}.Options()...)
	client := plain(t, target)
	first := make(chan error, 1)
	go func() { _, err := ask(t.Context(), client); first <- err }()
	<-entered
	stream, err := client.FullDuplexCall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-entered
	cut := make(chan int, 1)
	go func() { n, _ := d.Run(t.Context(), drain.Steps{}); cut <- n }()
	if _, err := stream.Recv(); !strings.Contains(err.Error(), "subscribe elsewhere") {
		t.Errorf("the stream: %v", err)
	}
	wait, err := ask(t.Context(), client)
	if ms, _ := strconv.Atoi(wait); status.Code(err) != codes.Unavailable || ms < 1 || !strings.Contains(err.Error(), "leaving") {
		t.Errorf("finishing: %v, come back in %q", err, wait)
	}
	if late, err := client.FullDuplexCall(t.Context()); err == nil {
		if _, err = late.Recv(); status.Code(err) != codes.Unavailable {
			t.Errorf("a stream that comes: %v", err)
		}
	}
	close(block)
	if err := <-first; err != nil {
		t.Errorf("what was in flight: %v", err)
	}
	if n := <-cut; n != 0 {
		t.Errorf("%d calls were cut", n)
	}
}

// The steps of a gRPC server: what is in flight is finished, or cut when the
// time is over.
func TestSteps(t *testing.T) {
	for _, patient := range []bool{true, false} {
		s, entered, block := busy()
		d := departure(t, map[bool]time.Duration{true: time.Hour, false: 100 * time.Millisecond}[patient])
		server, target := serve(t, s, kalangrpc.Server{Guard: guard(t), Drain: d}.Options()...)
		client := plain(t, target)
		first := make(chan error, 1)
		go func() { _, err := ask(context.WithoutCancel(t.Context()), client); first <- err }()
		<-entered
		if patient {
			go func() { <-d.Finishing(); close(block) }()
		}
		steps := kalangrpc.Steps(server)
		if n, err := d.Run(t.Context(), steps); (n == 0) != patient || err != nil {
			t.Errorf("patient %v: cut %d, %v", patient, n, err)
		}
		if err := <-first; (err == nil) != patient {
			t.Errorf("patient %v: what was in flight: %v", patient, err)
		}
	}
}
