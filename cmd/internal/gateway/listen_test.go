package gateway

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// An address that cannot be listened on says under which key it stands, what is
// the matter, and what to do about it.
func TestAddressesThatCannotBeListenedOn(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	for key, change := range map[string]func() (listen, admin string){
		"listen": func() (string, string) { return address, "127.0.0.1:0" },
		"admin":  func() (string, string) { return "127.0.0.1:0", address },
	} {
		file := fileFor("http://127.0.0.1:9")
		file.Listen, file.Admin = change()
		_, err := New(file, logTo(&journal{}))
		if err == nil || !strings.HasPrefix(err.Error(), key+": ") || !strings.HasSuffix(err.Error(), "; stop whoever listens there, or write another address") ||
			!strings.Contains(err.Error(), address) || !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("%s in use: %v", key, err)
		}
	}
	bound := func(e syscall.Errno) error { return &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", e)} }
	for want, err := range map[string]error{
		`leave the host out, as in ":8080"`: &net.OpError{Op: "listen", Err: &net.DNSError{Err: "no such host", Name: "nohost", IsNotFound: true}},
		"write an address of this machine":  bound(syscall.EADDRNOTAVAIL),
		"write a port from 1024 on":         bound(syscall.EACCES),
		"; write another address":           bound(syscall.EAFNOSUPPORT),
	} {
		if got := cannotListen("listen", err).Error(); !strings.Contains(got, want) {
			t.Errorf("%v gave %q", err, got)
		}
	}
}
