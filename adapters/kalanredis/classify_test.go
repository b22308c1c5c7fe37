package kalanredis_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanredis"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// wantAnswer checks that the server has really raised the error, and what it is
// taken for.
func wantAnswer(t *testing.T, err error, prefix string, want policy.Report) {
	t.Helper()
	if !redis.HasErrorPrefix(err, prefix) {
		t.Fatalf("the server says %v, want %s", err, prefix)
	}
	if got := kalanredis.Classify(err); got != want {
		t.Errorf("%s is judged %+v, want %+v", prefix, got, want)
	}
}

var (
	failure  = policy.Report{Outcome: policy.Failure}
	useless  = policy.Report{Outcome: policy.Failure, Final: true}
	business = policy.Report{Final: true}
)

// do sends one command and returns its error.
func do(t *testing.T, client *redis.Client, words ...any) error {
	return client.Do(t.Context(), words...).Err()
}

// What one server says when it is used wrongly or has no room.
func TestAnswersOfOneServer(t *testing.T) {
	s := start(t, place(t))
	client := s.plain(t)
	ctx := t.Context()
	if err := client.Set(ctx, "a", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, client.LPush(ctx, "a", 1).Err(), "WRONGTYPE", business)
	wantAnswer(t, do(t, client, "nonsense"), "unknown command", business)
	wantAnswer(t, client.EvalSha(ctx, strings.Repeat("0", 40), nil).Err(), "NOSCRIPT", business)
	if r := kalanredis.Classify(client.Get(ctx, "none").Err()); r.Outcome != policy.Success {
		t.Errorf("a missing key is judged %+v", r)
	}
	client.ConfigSet(ctx, "maxmemory", "1")
	wantAnswer(t, client.Set(ctx, "b", 1, 0).Err(), "OOM", useless)
	client.ConfigSet(ctx, "maxmemory", "0")

	if err := client.ConfigSet(ctx, "min-replicas-to-write", "1").Err(); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, client.Set(ctx, "b", 1, 0).Err(), "NOREPLICAS", failure)
	client.ConfigSet(ctx, "min-replicas-to-write", "0")

	client.ConfigSet(ctx, "requirepass", "secret")
	wantAnswer(t, s.plain(t).Get(ctx, "a").Err(), "NOAUTH", business)
}

// A replica whose master is gone: writes are READONLY, and reads MASTERDOWN
// when it may not serve what it has.
func TestAnswersOfAReplica(t *testing.T) {
	s := start(t, place(t))
	client := s.plain(t)
	ctx := t.Context()
	if err := client.ReplicaOf(ctx, "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, client.Set(ctx, "a", 1, 0).Err(), "READONLY", failure)

	// In a pipeline the worst answer counts, and go-redis returns the first.
	g := guard(t, nil)
	_, err := s.guarded(t, g, nil).Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Get(ctx, "none")
		p.Set(ctx, "a", 1, 0)
		return nil
	})
	if o := g.Snapshot().Counts.Outcomes; !errors.Is(err, redis.Nil) || o[policy.Failure] != 1 {
		t.Errorf("%v, outcomes %v; want the missing key and one failure", err, o)
	}
	client.ConfigSet(ctx, "replica-serve-stale-data", "no")
	wantAnswer(t, client.Get(ctx, "a").Err(), "MASTERDOWN", failure)
}

// A server that still reads its file.
func TestAnswerWhileLoading(t *testing.T) {
	dir := place(t)
	first := start(t, dir, "--rdbcompression", "no")
	fill := first.plain(t)
	for i := range 200 {
		if err := fill.Set(t.Context(), "key"+strconv.Itoa(i), strings.Repeat("x", 2000), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := fill.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	// A fiftieth of a second for each key; commands are looked at in between.
	client := start(t, dir, "--key-load-delay", "20000", "--loading-process-events-interval-bytes", "2048").plain(t)
	wantAnswer(t, client.Get(t.Context(), "a").Err(), "LOADING", failure)
}

// A server that is busy with somebody's script.
func TestAnswerWhileBusy(t *testing.T) {
	s := start(t, place(t), "--busy-reply-threshold", "1")
	client := s.plain(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.plain(t).Eval(ctx, "while true do end", nil).Err() }()
	var err error
	eventually(t, "the server is busy", func() bool {
		err = client.Get(t.Context(), "a").Err()
		return redis.HasErrorPrefix(err, "BUSY ")
	})
	wantAnswer(t, err, "BUSY ", failure)
	if err := client.ScriptKill(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	<-done
	cancel()
}

// A server that has all the clients it may have says so and hangs up. go-redis
// is busy writing and sees only the latter.
func TestAnswerWhenFull(t *testing.T) {
	port := heldPort(t)
	s := start(t, place(t), "--port", port, "--bind", "127.0.0.1")
	if err := s.plain(t).ConfigSet(t.Context(), "maxclients", "1").Err(); err != nil {
		t.Fatal(err)
	}
	g := guard(t, func(c *kalan.Config) { c.Breaker.Mode = breaker.Disabled })
	client := s.guarded(t, g, func(o *redis.Options) { o.Network, o.Addr = "tcp", "127.0.0.1:"+port })
	for range 50 {
		err := client.Get(t.Context(), "a").Err()
		if got := kalanredis.Classify(err); got != failure {
			t.Fatalf("%v is judged %+v", err, got)
		}
	}
	if c := g.Snapshot().Counts; c.Outcomes[policy.Failure] != c.Started || c.Retries == 0 {
		t.Errorf("outcomes %v of %d attempts, %d retries", c.Outcomes, c.Started, c.Retries)
	}
}

// A cluster whose slots nobody serves, and one whose slots somebody else does.
func TestAnswersOfACluster(t *testing.T) {
	var clients []*redis.Client
	var ports []string
	for range 2 {
		port := heldPort(t)
		s := start(t, place(t), "--cluster-enabled", "yes", "--port", port, "--bind", "127.0.0.1", "--cluster-port", heldPort(t))
		clients, ports = append(clients, s.plain(t)), append(ports, port)
	}
	ctx := t.Context()
	wantAnswer(t, clients[0].Get(ctx, "a").Err(), "CLUSTERDOWN", failure)
	busPort := strings.Fields(clients[1].ConfigGet(ctx, "cluster-port").Val()["cluster-port"])[0]
	if err := do(t, clients[0], "cluster", "meet", "127.0.0.1", ports[1], busPort); err != nil {
		t.Fatal(err)
	}
	if err := do(t, clients[1], "cluster", "addslotsrange", 0, 16383); err != nil {
		t.Fatal(err)
	}
	var err error
	eventually(t, "the first node knows the second's slots", func() bool {
		err = clients[0].Get(ctx, "a").Err()
		return redis.HasErrorPrefix(err, "MOVED")
	})
	wantAnswer(t, err, "MOVED", business)
}

// Answers that the program has wrapped in words of its own, and one that go-redis
// does not wait for.
func TestWrappedAnswers(t *testing.T) {
	for _, test := range []struct {
		text string
		want policy.Report
	}{
		{"TRYAGAIN Multiple keys request during rehashing of slot", policy.Report{RetryAfter: 1}},
		{"ASK 3999 127.0.0.1:6381", business},
		{"ERR max number of clients reached", policy.Report{Outcome: policy.Failure, Refused: true}},
		{"MISCONF Redis is configured to save RDB snapshots", useless},
		{"BUSYGROUP Consumer Group name already exists", business},
		{"CROSSSLOT Keys in request don't hash to the same slot", business},
	} {
		if got := kalanredis.Classify(fmt.Errorf("wrapped: %w", answer(test.text))); got != test.want {
			t.Errorf("%s is judged %+v, want %+v", test.text, got, test.want)
		}
	}
}

// An answer is an error as a server words it.
type answer string

func (a answer) Error() string { return string(a) }
func (answer) RedisError()     {}

// The lists of commands are those of a real server: what is said to read has
// its flag readonly, what is said to wait its flag blocking, and whatever waits
// is known.
func TestListsOfCommands(t *testing.T) {
	client := start(t, place(t)).plain(t)
	known, err := client.Command(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	// Flagged so, and harmless all the same: connection tests. XREAD and
	// XREADGROUP wait only when they say so.
	plain := map[string]bool{"ping": true, "echo": true}
	sometimes := map[string]bool{"xread": true, "xreadgroup": true}
	seen := 0
	for name, info := range known {
		cmd := redis.NewCmd(t.Context(), name)
		if kalanredis.ReadOnly(cmd) {
			seen++
			if !info.ReadOnly && !plain[name] && len(info.Flags) > 0 {
				t.Errorf("%s is said to read; the server says %v", name, info.Flags)
			}
		}
		blocks := false
		for _, flag := range info.Flags {
			blocks = blocks || flag == "blocking"
		}
		if blocks != kalanredis.Blocking(cmd) && !sometimes[name] && name != "wait" { // flagged from 7.2 on
			t.Errorf("%s: blocking is %v; the server says %v", name, kalanredis.Blocking(cmd), info.Flags)
		}
	}
	if seen < 60 {
		t.Errorf("the server knows %d of the commands that are said to read", seen)
	}
}

// heldPort returns a port for a server of the test's own. It is bound here until
// the test ends, with the option that redis-server sets too: nobody who asks for
// any port is given it, and a server that asks for this one can listen there. A
// port that is only free now is another's a moment later.
func heldPort(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(name.(*syscall.SockaddrInet4).Port)
}
