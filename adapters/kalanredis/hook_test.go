package kalanredis_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanredis"
	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

// bound is what a limit of 100 or 200 ms may take on a busy machine: still below
// the five seconds that go-redis waits by default.
const bound = 4 * time.Second

// A frozen server: reads of an old connection and the HELLO of a new one are
// cut at 200 ms, and a caller with less time leaves when its time is up.
func TestFrozenServer(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, func(c *kalan.Config) { c.Retry.Attempts = 1 })
	client := s.guarded(t, g, nil)
	ctx := t.Context()
	if err := client.Set(ctx, "a", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.freeze(t)
	for _, connection := range []string{"old", "new"} {
		var err error
		took := timed(func() { err = client.Get(ctx, "a").Err() })
		if !errors.Is(err, os.ErrDeadlineExceeded) || took < 200*time.Millisecond || took > bound {
			t.Errorf("%s connection: %v after %v, want an i/o timeout after 200ms", connection, err, took)
		}
	}
	patient := s.guarded(t, g, func(o *redis.Options) { o.ReadTimeout = time.Minute })
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	var err error
	if took := timed(func() { err = patient.Get(short, "a").Err() }); reasonOf(err) != policy.Expired || took > bound {
		t.Errorf("a caller with 50ms: %v after %v", err, took)
	}
	if o := g.Snapshot().Counts.Outcomes; o[policy.Failure] != 2 || o[policy.Cut] != 1 {
		t.Errorf("outcomes %v, want 2 failures and 1 cut", o)
	}
}

// The breaker opens on a frozen server, callers are refused at once, and it
// closes again when the server is back.
func TestBreakerOverAFreeze(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, func(c *kalan.Config) {
		c.Retry.Attempts, c.Breaker.Calls, c.Breaker.Open, c.Breaker.Probes = 1, 3, 100*time.Millisecond, 2
	})
	client := s.guarded(t, g, nil)
	ctx := t.Context()
	s.freeze(t)
	eventually(t, "callers are refused at once", func() bool {
		return errors.Is(client.Get(ctx, "a").Err(), policy.Open)
	})
	s.thaw()
	eventually(t, "reads are answered again, though every key is missing", func() bool {
		return errors.Is(client.Get(ctx, "a").Err(), redis.Nil) && g.Snapshot().Breaker.State == 0
	})
}

// Reads are repeated; INCR is not, by nobody, whatever became of it: after the
// freeze the server has counted once.
func TestOnlyReadsAreRepeated(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, nil)
	client := s.guarded(t, g, nil)
	ctx := t.Context()
	if err := client.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	s.freeze(t)
	if err := client.Incr(ctx, "n").Err(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("INCR: %v", err)
	}
	if c := g.Snapshot().Counts; c.Started != 2 || c.Retries != 0 {
		t.Errorf("%d attempts, %d of them retries; want PING and one INCR", c.Started, c.Retries)
	}
	if err := client.Get(ctx, "n").Err(); err == nil {
		t.Error("a frozen server has answered")
	}
	if c := g.Snapshot().Counts; c.Retries != 1 {
		t.Errorf("%d retries, want the one of GET", c.Retries)
	}
	s.thaw()
	if n, err := client.Get(ctx, "n").Int(); n != 1 || err != nil {
		t.Errorf("counted %d, %v; want 1", n, err)
	}
}

// What a handler was asked counts for the commands that it sends: whoever owns
// the retries owns these too (F20).
func TestWhatAHandlerWasAskedCounts(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, nil)
	client := s.guarded(t, g, nil)
	s.freeze(t)
	ctx := carry.With(t.Context(), carry.Asked[kalan.Ask]{Owner: "edge"})
	if err := client.Get(ctx, "n").Err(); err == nil {
		t.Error("a frozen server has answered")
	}
	if c := g.Snapshot().Counts; c.Started != 1 {
		t.Errorf("%d attempts, want the one whose caller repeats it", c.Started)
	}
	if err := client.Get(t.Context(), "n").Err(); err == nil {
		t.Error("a frozen server has answered")
	}
	if c := g.Snapshot().Counts; c.Started != 3 {
		t.Errorf("%d attempts, want two more of a caller that repeats nothing", c.Started)
	}
}

// A pool without connections is a refusal of ours after 100 ms, and no word
// about the server.
func TestPoolStarvation(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, nil)
	client := s.guarded(t, g, func(o *redis.Options) { o.PoolSize = 1 })
	waits := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { waits <- client.BLPop(ctx, 0, "list").Err() }()
	eventually(t, "BLPOP has the connection", func() bool { return client.PoolStats().TotalConns == 1 && client.PoolStats().IdleConns == 0 })
	var err error
	took := timed(func() { err = client.Get(t.Context(), "a").Err() })
	if !errors.Is(err, policy.Waited) || !errors.Is(err, redis.ErrPoolTimeout) || took > bound {
		t.Errorf("%v after %v, want a refusal after 100ms", err, took)
	}
	if o := g.Snapshot().Counts.Outcomes; o[policy.Failure] != 0 {
		t.Errorf("outcomes %v, want no failure", o)
	}
	if err := s.plain(t).RPush(t.Context(), "list", "x").Err(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err != nil {
		t.Error(err)
	}
	cancel()
}

// BLPOP waits as long as it says, beyond the exchange limit, and holds no slot
// meanwhile.
func TestBlockingCommandsOptOut(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, func(c *kalan.Config) { c.Limit = limit.Fixed(1) })
	client := s.guarded(t, g, nil)
	for name, wait := range map[string]func() error{
		"BLPOP": func() error { return client.BLPop(t.Context(), time.Second, "list").Err() },
		"XREAD": func() error {
			return client.XRead(t.Context(), &redis.XReadArgs{Streams: []string{"stream", "$"}, Block: time.Second}).Err()
		},
	} {
		done := make(chan error)
		began := time.Now()
		go func() { done <- wait() }()
		for range 20 {
			if err := client.Set(t.Context(), "a", 1, 0).Err(); err != nil {
				t.Fatalf("beside %s: %v", name, err)
			}
		}
		// redis.Nil: the time is up and nothing has come.
		if err := <-done; !errors.Is(err, redis.Nil) || time.Since(began) < time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(began))
		}
	}
	if c := g.Snapshot(); c.InFlight != 0 || c.Counts.Outcomes[policy.Failure] != 0 {
		t.Errorf("%d in flight, outcomes %v", c.InFlight, c.Counts.Outcomes)
	}
}

// In a pipeline go-redis cuts a blocking command at the read limit. That says
// nothing of the server.
func TestBlockingCommandInAPipeline(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, nil)
	client := s.guarded(t, g, nil)
	_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error { p.BLPop(t.Context(), time.Second, "list"); return nil })
	if o := g.Snapshot().Counts.Outcomes; !errors.Is(err, os.ErrDeadlineExceeded) || o[policy.Failure] != 0 {
		t.Errorf("%v, outcomes %v; want a timeout and no failure", err, o)
	}
}

// A blocking command is refused while the breaker is open.
func TestBlockingCommandsAreRefusedToo(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, func(c *kalan.Config) { c.Breaker.Mode = 1 })
	client := s.guarded(t, g, nil)
	cmd := client.BLPop(t.Context(), time.Second, "list")
	if !errors.Is(cmd.Err(), policy.Open) {
		t.Errorf("%v, want a refusal", cmd.Err())
	}
}

// Making a connection ready runs through the hooks too: one slot is enough for
// a client whose connections are all new.
func TestSetupNeedsNoSlotOfItsOwn(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, func(c *kalan.Config) { c.Limit = limit.Fixed(1) })
	client := s.guarded(t, g, nil)
	if err := client.Set(t.Context(), "a", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error { p.Get(t.Context(), "a"); return nil }); err != nil {
		t.Fatal(err)
	}
	if c := g.Snapshot().Counts; c.Calls != 2 {
		t.Errorf("%d calls at the guard, want 2", c.Calls)
	}
}

// A pipeline's commands keep their own results, a refused one's all get the
// refusal, and one command's trouble is the pipeline's.
func TestPipelines(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, nil)
	client := s.guarded(t, g, nil)
	ctx := t.Context()
	var ok, wrong, missing redis.Cmder
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		ok, wrong, missing = p.Set(ctx, "a", 1, 0), p.LPush(ctx, "a", 1), p.Get(ctx, "none")
		return nil
	})
	if ok.Err() != nil || !redis.HasErrorPrefix(wrong.Err(), "WRONGTYPE") || !errors.Is(missing.Err(), redis.Nil) || err == nil {
		t.Errorf("%v, %v, %v; %v", ok.Err(), wrong.Err(), missing.Err(), err)
	}
	if o := g.Snapshot().Counts.Outcomes; o[policy.Ignored] != 1 {
		t.Errorf("outcomes %v, want one ignored", o)
	}
	s.freeze(t)
	began := g.Snapshot().Counts.Started
	for _, fill := range []func(redis.Pipeliner){
		func(p redis.Pipeliner) { p.Get(ctx, "a"); p.Incr(ctx, "n") },
		func(p redis.Pipeliner) { p.Get(ctx, "a"); p.Get(ctx, "b") },
	} {
		if _, err := client.Pipelined(ctx, func(p redis.Pipeliner) error { fill(p); return nil }); err == nil {
			t.Error("a frozen server has answered")
		}
	}
	if n := g.Snapshot().Counts.Started - began; n != 3 {
		t.Errorf("%d attempts, want one of the pipeline that writes and two of the one that reads", n)
	}
	s.thaw()
	shut := s.guarded(t, guard(t, func(c *kalan.Config) { c.Breaker.Mode = 1 }), nil)
	cmds, err := shut.Pipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "a"); p.Incr(ctx, "n"); return nil })
	if !errors.Is(err, policy.Open) || len(cmds) != 2 || !errors.Is(cmds[0].Err(), policy.Open) || !errors.Is(cmds[1].Err(), policy.Open) {
		t.Errorf("refused: %v, %v", cmds, err)
	}
}

// A transaction that loses its WATCH is business.
func TestLostTransaction(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, nil)
	client, other := s.guarded(t, g, nil), s.plain(t)
	err := client.Watch(t.Context(), func(tx *redis.Tx) error {
		if err := other.Set(t.Context(), "a", 2, 0).Err(); err != nil {
			return err
		}
		_, err := tx.TxPipelined(t.Context(), func(p redis.Pipeliner) error { p.Set(t.Context(), "a", 1, 0); return nil })
		return err
	}, "a")
	if !errors.Is(err, redis.TxFailedErr) || g.Snapshot().Counts.Outcomes[policy.Failure] != 0 {
		t.Errorf("%v, outcomes %v", err, g.Snapshot().Counts.Outcomes)
	}
}

// A server that is gone: the dial is refused at once. One whose kernel takes no
// more connections: the dial is cut at 100 ms, though go-redis would wait 5 s
// and try five times.
func TestDial(t *testing.T) {
	s := start(t, place(t))
	g := guard(t, func(c *kalan.Config) { c.Retry.Attempts = 1 })
	client := s.guarded(t, g, nil)
	_ = s.Process.Kill()
	_ = s.Wait()
	err := client.Get(t.Context(), "a").Err()
	var dial *net.OpError
	if !errors.As(err, &dial) || dial.Op != "dial" || g.Snapshot().Counts.Outcomes[policy.Failure] != 1 {
		t.Errorf("%v, outcomes %v; want a refused dial", err, g.Snapshot().Counts.Outcomes)
	}
	deaf := s.guarded(t, guard(t, func(c *kalan.Config) { c.Retry.Attempts = 1 }), func(o *redis.Options) {
		o.Network, o.Addr = "tcp", backlogged(t)
	})
	took := timed(func() { err = deaf.Get(t.Context(), "a").Err() })
	if !errors.As(err, &dial) || dial.Op != "dial" || !dial.Timeout() || took < 100*time.Millisecond || took > bound {
		t.Errorf("%v after %v, want a dial that times out after 100ms", err, took)
	}
	// The hook limits a dial by itself, too.
	alone := redis.NewClient(&redis.Options{Addr: deaf.Options().Addr, DialTimeout: time.Minute, DialerRetries: 1, MaxRetries: -1})
	defer alone.Close()
	alone.AddHook(kalanredis.Hook{Guard: guard(t, func(c *kalan.Config) { c.Retry.Attempts, c.Exchange = 1, 0 })})
	if took := timed(func() { err = alone.Get(t.Context(), "a").Err() }); err == nil || took > bound {
		t.Errorf("the hook alone: %v after %v", err, took)
	}
}
