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

// invite says what runs where, and what to try. One request after the other
// would take a quarter of a minute to open a breaker, so they go ten at once.
func (s *stage) invite(w io.Writer, config string) {
	ask := "http://" + s.listen + s.path()
	bridge, control := s.layout.bridges[0], "http://"+s.addresses[0]
	fmt.Fprintf(w, "The gateway listens on %s with %s; its admin listener on %s.\n", s.listen, config, s.admin)
	fmt.Fprintf(w, "Behind it are %d demo bridges: %s.\n\nAsk for something:\n\n", len(s.bridges), strings.Join(s.layout.bridges, ", "))
	fmt.Fprintf(w, "  curl -fsS %s/1\n\n", ask)
	fmt.Fprintf(w, "Have %s hang, and ask sixty times, ten at once:\n\n", bridge)
	fmt.Fprintf(w, "  curl -X POST %s%s\n", control, hang)
	fmt.Fprintf(w, "  seq 60 | xargs -P 10 -I{} curl -s -o /dev/null -w '%%{http_code} %%{time_total} s\\n' %s/{}\n\n", ask)
	fmt.Fprintf(w, "The first wait until their time is up (504); then %s's breaker is open and refuses the\n", bridge)
	fmt.Fprintf(w, "rest at once (503). The other bridges answer all along. Heal it, and ask again in ten seconds:\n\n")
	fmt.Fprintf(w, "  curl -X POST %s%s\n\nCtrl-C stops everything.\n", control, heal)
}

// path is what a plain GET can ask for, without the last element.
func (s *stage) path() string {
	for _, name := range s.layout.bridges {
		for _, ask := range s.layout.asks(name) {
			if ask[0] == http.MethodGet {
				return ask[1]
			}
		}
	}
	return s.layout.asks(s.layout.bridges[0])[0][1]
}
