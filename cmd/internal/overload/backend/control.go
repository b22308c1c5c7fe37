package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The paths at which a backend is controlled, beside those it serves.
const (
	setPath   = "/_backend/set"
	resetPath = "/_backend/reset"
	countPath = "/_backend/counts"
)

// Handler serves the backend and its controls.
func (b *Backend) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", b)
	mux.HandleFunc("POST "+setPath, func(w http.ResponseWriter, r *http.Request) {
		workers, err1 := strconv.Atoi(r.URL.Query().Get("workers"))
		service, err2 := time.ParseDuration(r.URL.Query().Get("service"))
		if err := errors.Join(err1, err2); err != nil || workers < 1 || service <= 0 {
			http.Error(w, "write workers=4&service=20ms", http.StatusBadRequest)
			return
		}
		b.Set(Setting{workers, service})
	})
	mux.HandleFunc("POST "+resetPath, func(http.ResponseWriter, *http.Request) { b.Reset() })
	mux.HandleFunc("GET "+countPath, func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(b.Counts()) })
	return mux
}

// Serve serves a backend on the address until ctx ends.
func Serve(ctx context.Context, address string, b *Backend) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: b.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	b.Close()
	return nil
}

// A Control controls a backend from another process.
type Control struct {
	// Base is its address, such as "http://127.0.0.1:9000".
	Base string
	// Client sends the controls; nil means http.DefaultClient.
	Client *http.Client
}

// Set changes how many workers there are and how long each needs.
func (c Control) Set(ctx context.Context, s Setting) error {
	query := url.Values{"workers": {strconv.Itoa(s.Workers)}, "service": {s.Service.String()}}
	_, err := c.send(ctx, http.MethodPost, setPath+"?"+query.Encode())
	return err
}

// Reset forgets the backlog and the counts.
func (c Control) Reset(ctx context.Context) error {
	_, err := c.send(ctx, http.MethodPost, resetPath)
	return err
}

// Counts returns what was done since the last reset.
func (c Control) Counts(ctx context.Context) (n Counts, err error) {
	body, err := c.send(ctx, http.MethodGet, countPath)
	if err == nil {
		err = json.Unmarshal(body, &n)
	}
	return n, err
}

func (c Control) send(ctx context.Context, method, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.Base+path, nil)
	if err != nil {
		return nil, err
	}
	client := c.Client
	if client == nil {
		client = http.DefaultClient
	}
	a, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("the backend: %w", err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("the backend answers %d to %s: %s", a.StatusCode, path, body)
	}
	return body, err
}
