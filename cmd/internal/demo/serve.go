package demo

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// Serve starts the bridges and the gateway, writes how to try them, and runs
// until ctx ends. The gateway listens where the configuration says, or on a
// free port when somebody else does.
func Serve(ctx context.Context, w io.Writer, config Config) error {
	l, err := readLayout(config.Text)
	if err != nil {
		return fmt.Errorf("%s: %w", config.Name, err)
	}
	listen, err := available(w, l.Listen)
	if err != nil {
		return err
	}
	admin, err := available(w, l.Admin)
	if err != nil {
		return err
	}
	s, err := build(ctx, config.Text, listen, admin)
	if err != nil {
		return fmt.Errorf("%s: %w", config.Name, err)
	}
	defer s.stop()
	s.invite(w, config.Name)
	select {
	case <-ctx.Done():
		return nil
	case <-s.gateway.ended:
		return s.gateway.obituary()
	}
}

// available returns the address, or a free one when it is taken.
func available(w io.Writer, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = "127.0.0.1", "0"
	}
	if host == "" {
		host = "127.0.0.1"
	}
	address = net.JoinHostPort(host, port)
	listener, err := net.Listen("tcp", address)
	if err == nil {
		defer listener.Close()
		return listener.Addr().String(), nil
	}
	free, err := freeAddresses(1)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(w, "%s is taken; using %s\n", address, free[0])
	return free[0], nil
}

// invite says what runs where, and what to try.
func (s *stage) invite(w io.Writer, config string) {
	fmt.Fprintf(w, "The gateway listens on %s with %s; its admin listener on %s.\n", s.listen, config, s.admin)
	fmt.Fprintf(w, "Behind it are %d demo bridges: %s.\n\nAsk for something:\n\n", len(s.bridges), strings.Join(s.layout.bridges, ", "))
	fmt.Fprintf(w, "  curl -fsS http://%s%s\n\n", s.listen, s.path())
	fmt.Fprintf(w, "Have %s hang, and ask again:\n\n", s.layout.bridges[0])
	fmt.Fprintf(w, "  curl -X POST http://%s%s\n\n", s.addresses[0], hang)
	fmt.Fprintf(w, "Heal it:\n\n  curl -X POST http://%s%s\n\nCtrl-C stops everything.\n", s.addresses[0], heal)
}

// path is something that can be asked for with a plain GET.
func (s *stage) path() string {
	for _, name := range s.layout.bridges {
		for _, ask := range s.layout.asks(name) {
			if ask[0] == http.MethodGet {
				return ask[1] + "/1"
			}
		}
	}
	return s.layout.asks(s.layout.bridges[0])[0][1]
}
