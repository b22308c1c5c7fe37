package kalangrpc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// A client whose service is down: the caller has an answer that says why, in
// gRPC's words and in Kalan's.
func ExampleClient() {
	config := kalan.Config{Name: "prices"}
	config.Exchange = 800 * time.Millisecond
	config.Breaker.Mode = breaker.ForcedOpen // as after an outage
	guard, err := kalan.New(config)
	if err != nil {
		log.Fatal(err)
	}
	prices := kalangrpc.Client{
		Guard:      guard,
		Repeatable: func(method string) bool { return method == "/grpc.testing.TestService/EmptyCall" },
	}
	conn, err := grpc.NewClient("127.0.0.1:1", append(prices.Options(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	_, err = grpc_testing.NewTestServiceClient(conn).EmptyCall(context.Background(), &grpc_testing.Empty{})
	fmt.Println(status.Code(err), errors.Is(err, policy.Open))
	// Output: Unavailable true
}

// A server that refuses what it has no slot for, and stays alive for those who
// ask for its health.
func ExampleServer() {
	config := kalan.Config{Name: "orders"}
	config.Exchange = 800 * time.Millisecond
	guard, err := kalan.New(kalanhttp.ForServer(config)) // refuse by the queue alone
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(kalangrpc.Server{Guard: guard}.Options()...)
	grpc_testing.RegisterTestServiceServer(server, grpc_testing.UnimplementedTestServiceServer{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go server.Serve(listener)
	defer server.Stop()

	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	_, err = grpc_testing.NewTestServiceClient(conn).EmptyCall(context.Background(), &grpc_testing.Empty{})
	fmt.Println(status.Code(err), guard.Snapshot().Counts.Started)
	// Output: Unimplemented 1
}
