package kalansql_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"
	"go.uber.org/goleak"

	"github.com/kalan-go/kalan/kalansql"
)

// A cluster is a real PostgreSQL of the tests' own: in a directory of its own,
// on a socket of its own, without a network.
type cluster struct {
	bin, dir string
	as       *syscall.SysProcAttr // PostgreSQL refuses to be root
	server   *exec.Cmd
	leash    io.Closer // the server ends with it, also when the tests are killed
}

// shared is the cluster of this package's tests, made when the first one asks.
var shared *cluster

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		shared.stop()
		os.RemoveAll(shared.dir)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// postgres returns the running cluster. Without PostgreSQL on this machine the
// test is skipped, and fails where everything has to run.
func postgres(t testing.TB) *cluster {
	t.Helper()
	if shared != nil {
		return shared
	}
	bin := binaries()
	if bin == "" {
		const how = "PostgreSQL is not installed: apt-get install -y postgresql"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	c := &cluster{bin: bin, as: unprivileged(t)}
	var err error
	if c.dir, err = os.MkdirTemp("", "kalansql"); err != nil {
		t.Fatal(err)
	}
	if c.as.Credential != nil {
		if err := os.Chown(c.dir, int(c.as.Credential.Uid), int(c.as.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := c.run("initdb", "-D", c.dir+"/data", "-U", "kalan", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	c.start(t)
	shared = c
	return c
}

// binaries returns the newest PostgreSQL of this machine: Debian does not put
// it on the path.
func binaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(slices.Max(found))
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return ""
	}
	return filepath.Dir(path)
}

// unprivileged says as whom to run.
func unprivileged(t testing.TB) *syscall.SysProcAttr {
	as := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return as
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.Atoi(u.Uid)
			gid, _ := strconv.Atoi(u.Gid)
			as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
			return as
		}
	}
	t.Fatal("PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody")
	return nil
}

func (c *cluster) run(name string, args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(c.bin, name), args...)
	command.Dir, command.SysProcAttr = c.dir, c.as
	command.Env = append(os.Environ(), "LC_ALL=C", "PGTZ=UTC")
	return command
}

// mostConnections is what the server allows, of which three are its own.
const mostConnections = 20

// start starts the server and waits until it answers.
func (c *cluster) start(t testing.TB) {
	t.Helper()
	log, err := os.Create(filepath.Join(c.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c.server = c.run("postgres", "-D", c.dir+"/data", "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", fmt.Sprint("max_connections=", mostConnections), "-c", "deadlock_timeout=50ms", "-c", "shared_buffers=16MB")
	c.server.Stdout, c.server.Stderr = log, log
	c.server.Args = append([]string{"sh", "-c", `"$@" & read _; kill -INT $!; wait $!`, "sh", c.server.Path}, c.server.Args[1:]...)
	c.server.Path = "/bin/sh"
	if c.leash, err = c.server.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	connector, err := pq.NewConnector(c.dsn())
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	until(t, "PostgreSQL answers", func() bool { return db.PingContext(context.Background()) == nil })
}

// stop ends the server as its administrator would who does not wait for the
// clients to leave.
func (c *cluster) stop() {
	c.leash.Close()
	c.server.Wait()
}

func (c *cluster) dsn() string {
	return fmt.Sprintf("host=%s user=kalan dbname=postgres sslmode=disable", c.dir)
}

// open returns a database of the cluster, as the test wants it.
func open(t testing.TB, changes ...func(*kalansql.Config)) *kalansql.DB {
	t.Helper()
	connector, err := pq.NewConnector(postgres(t).dsn())
	if err != nil {
		t.Fatal(err)
	}
	c := kalansql.Config{Name: "orders", Connections: 4, Connect: 5 * time.Second}
	for _, change := range changes {
		change(&c)
	}
	db, err := kalansql.Open(connector, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// until waits for something that another goroutine, or another process, does.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited 20 s until %s", what)
		}
	}
}

// taken returns how many connections callers have.
func taken(db *kalansql.DB) int {
	pool, _, _ := db.Guards()
	return pool.Snapshot().InFlight
}

// must fails the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
