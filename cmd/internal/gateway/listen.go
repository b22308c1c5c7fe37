package gateway

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// cannotListen says under which key the address stands that could not be
// listened on, and what to do about it.
func cannotListen(key string, err error) error {
	advice := "write another address"
	var lookup *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "stop whoever listens there, or write another address"
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &lookup):
		advice = `write an address of this machine, or leave the host out, as in ":8080", for all of them`
	case errors.Is(err, syscall.EACCES):
		advice = "write a port from 1024 on, or allow the program the lower ones (on Linux CAP_NET_BIND_SERVICE)"
	}
	return fmt.Errorf("%s: %w; %s", key, err, advice)
}
