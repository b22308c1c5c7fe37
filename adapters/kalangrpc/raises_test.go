package kalangrpc_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/policy"
)

// once allows one attempt, so that what it raised is counted once.
func once(c *kalan.Config) { c.Retry.Attempts = 1 }

// F18: what grpc-go raises when the server is not what it should be, on real
// sockets, and what becomes of it. The package's documentation has the same table.
func TestWhatTheClientRaises(t *testing.T) {
	for name, c := range map[string]struct {
		target func(t *testing.T) string
		within func(*kalan.Config)
		code   codes.Code
		says   string
		why    error // why Kalan ended the call, if it did
	}{
		"nobody listens":           {target: closed, code: codes.Unavailable, says: "connection error"},
		"it does not connect":      {target: silent, within: exchange(brief), code: codes.DeadlineExceeded, why: policy.Timeout},
		"it is no gRPC server":     {target: speaking("HTTP/1.1 400 Bad Request\r\n\r\n"), code: codes.Unavailable, says: "connection error"},
		"it hangs":                 {target: breaking(nil), within: exchange(brief), code: codes.DeadlineExceeded, why: policy.Timeout},
		"it closes under a call":   {target: breaking(func(c *net.TCPConn) { c.Close() }), code: codes.Unavailable, says: "error reading from server"},
		"it is reset under a call": {target: breaking(reset), code: codes.Unavailable, says: "error reading from server"},
	} {
		t.Run(name, func(t *testing.T) {
			g := guard(t, once, c.within)
			conn := dial(t, c.target(t), kalangrpc.Client{Guard: g}.Options()...)
			_, err := grpc_testing.NewTestServiceClient(conn).EmptyCall(t.Context(), &grpc_testing.Empty{})
			wantCode(t, err, c.code, c.why)
			if said := status.Convert(err).Message(); !strings.Contains(said, c.says) {
				t.Errorf("%q does not say %q", said, c.says)
			}
			idle(t, g)
			if got := g.Snapshot().Counts; got.Outcomes != [4]uint64{policy.Failure: 1} || got.Started != 1 {
				t.Errorf("counted %v of %d attempts, want one failure", got.Outcomes, got.Started)
			}
		})
	}
}

// listen returns a listener that lasts as long as the test.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// closed returns an address where nobody listens, nor will: it is one end of a
// connection.
func closed(t *testing.T) string {
	l := listen(t)
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	l.Close()
	return c.LocalAddr().String()
}

// silent takes connections, in the kernel, and says nothing.
func silent(t *testing.T) string { return listen(t).Addr().String() }

// speaking says something to everybody who connects.
func speaking(words string) func(*testing.T) string {
	return func(t *testing.T) string {
		l := listen(t)
		var all sync.WaitGroup
		all.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				all.Go(func() { // and listens until they have had enough
					_, _ = io.WriteString(c, words)
					_, _ = io.Copy(io.Discard, c)
					_ = c.Close()
				})
			}
		})
		t.Cleanup(func() { l.Close(); all.Wait() })
		return l.Addr().String()
	}
}

// breaking is a real server to whose connection something happens while it works
// on a call; it does not answer.
func breaking(how func(*net.TCPConn)) func(*testing.T) string {
	return func(t *testing.T) string {
		keep := &keeper{Listener: listen(t), conns: make(chan *net.TCPConn, 1)}
		server := grpc.NewServer()
		grpc_testing.RegisterTestServiceServer(server, &service{empty: func(ctx context.Context, _ int64) error {
			if how != nil {
				how(<-keep.conns)
			}
			<-ctx.Done()
			return ctx.Err()
		}})
		done := make(chan struct{})
		go func() { defer close(done); _ = server.Serve(keep) }()
		t.Cleanup(func() { server.Stop(); <-done })
		return keep.Addr().String()
	}
}

func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// A keeper keeps the connection that it has taken for the test.
type keeper struct {
	net.Listener
	conns chan *net.TCPConn
}

func (k *keeper) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	if err == nil {
		select {
		case k.conns <- c.(*net.TCPConn):
		default: // a client that comes back
		}
	}
	return c, err
}
