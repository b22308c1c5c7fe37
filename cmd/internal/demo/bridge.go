package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy/span"
)

// work is how long a healthy bridge takes for one answer.
var work = span.Range{Min: 10 * time.Millisecond, Max: 30 * time.Millisecond}

// hang and heal are where a bridge is told to stop answering and to go on.
const (
	hang = "/_bridge/hang"
	heal = "/_bridge/heal"
)

// A bridge is a process that answers for one price and order system. Told to
// hang, it goes on accepting connections and requests and answers none of
// them, as a process does whose own dependency hangs.
type bridge struct {
	name string

	mu     sync.Mutex
	healed chan struct{} // closed while the bridge works
}

func newBridge(name string) *bridge {
	b := &bridge{name: name, healed: make(chan struct{})}
	close(b.healed)
	return b
}

// BridgeCommand is the hidden command by which this binary becomes a bridge.
const BridgeCommand = "demo-bridge"

// Bridge serves a bridge on a free loopback port until stdin ends, which it
// does when the parent process goes, or until ctx ends. Its first line on
// stdout is the address.
func Bridge(ctx context.Context, name string, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bridge %s: %w", name, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	fmt.Fprintln(stdout, listener.Addr())
	return newBridge(name).serve(ctx, listener)
}

// serve answers on the listener until ctx ends.
func (b *bridge) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: b.routes(), ReadHeaderTimeout: 10 * time.Second}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		<-ctx.Done()
		_ = server.Close()
	}()
	err := server.Serve(listener)
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-closed
	return nil
}

func (b *bridge) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+hang, func(w http.ResponseWriter, _ *http.Request) { b.hang() })
	mux.HandleFunc("POST "+heal, func(w http.ResponseWriter, _ *http.Request) { b.heal() })
	mux.HandleFunc("/", b.answer)
	return mux
}

func (b *bridge) hang() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.healed:
		b.healed = make(chan struct{})
	default: // hangs already
	}
}

func (b *bridge) heal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.healed:
	default:
		close(b.healed)
	}
}

// answer works for a while and says who answered. A bridge that hangs does
// not, until it is healed or the connection is closed.
func (b *bridge) answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	b.mu.Lock()
	healed := b.healed
	b.mu.Unlock()
	select {
	case <-healed:
	case <-r.Context().Done():
		return
	}
	jitter.Sleep(r.Context(), work.Pick(rand.Float64()))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"bridge": b.name, "path": r.URL.Path})
}
