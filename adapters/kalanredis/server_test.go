package kalanredis_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanredis"
	"github.com/kalan-go/kalan/policy"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // it writes each failed dial to stderr
	goleak.VerifyTestMain(m)
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// A server is a real redis-server of the test's own.
type server struct {
	*exec.Cmd
	socket string
	output bytes.Buffer
}

// start runs redis-server on a socket in a directory of its own. Where there is
// none, the test fails if this is CI and is skipped otherwise.
func start(t *testing.T, dir string, arguments ...string) *server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no redis-server here, and CI must have one: apt-get install -y redis-server")
		}
		t.Skip("needs a real redis-server: apt-get install -y redis-server")
	}
	s := &server{socket: filepath.Join(dir, "socket")}
	s.Cmd = exec.Command(program, append([]string{"--port", "0", "--unixsocket", s.socket, "--dir", dir, "--save", ""}, arguments...)...)
	s.Stdout, s.Stderr = &s.output, &s.output
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.thaw()
		_ = s.Process.Kill()
		_ = s.Wait()
		if t.Failed() {
			t.Logf("redis-server said:\n%s", s.output.String())
		}
	})
	eventually(t, "redis-server listens", func() bool {
		conn, err := net.Dial("unix", s.socket)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return s
}

// place returns a directory whose sockets have short names.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// freeze stops the process between two instructions: connections stay, new ones
// are taken by the kernel, and nothing answers.
func (s *server) freeze(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

func (s *server) thaw() { _ = s.Process.Signal(syscall.SIGCONT) }

// options are those of a client of the server's.
func (s *server) options() *redis.Options { return &redis.Options{Network: "unix", Addr: s.socket} }

// plain returns an unguarded client, for what the test itself wants.
func (s *server) plain(t *testing.T) *redis.Client {
	t.Helper()
	client := redis.NewClient(s.options())
	t.Cleanup(func() { client.Close() })
	return client
}

// guarded returns a client behind the guard.
func (s *server) guarded(t *testing.T, g *kalan.Guard, change func(*redis.Options)) *redis.Client {
	t.Helper()
	o := s.options()
	if change != nil {
		change(o)
	}
	client := kalanredis.NewClient(g, o)
	t.Cleanup(func() { client.Close() })
	return client
}

// guard returns a guard with the limits that go with the client's.
func guard(t testing.TB, change func(*kalan.Config)) *kalan.Guard {
	t.Helper()
	c := kalanredis.Limits{}.Config("redis")
	c.Retry.Base = time.Millisecond
	c.Budget.Ratio = 100 // these tests are not about the budget
	if change != nil {
		change(&c)
	}
	g, err := kalan.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// reasonOf returns the reason of the Rejection in err's chain, if there is one.
func reasonOf(err error) policy.Reason {
	var r *kalan.Rejection
	if errors.As(err, &r) {
		return r.Reason
	}
	return policy.None
}

// timed returns how long the function took.
func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// eventually asks again until the answer is yes.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not so within 20s: %s", what)
		}
	}
}
