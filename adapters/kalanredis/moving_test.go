package kalanredis_test

import (
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/kalan-go/kalan/policy"
)

// A slot that is just being moved to another node: keys that are not here any
// more are asked for there, and a command for several of which some are gone is to
// be tried again.
func TestAnswersWhileASlotMoves(t *testing.T) {
	here, there, thereID := twoNodes(t)
	ctx := t.Context()
	if err := here.Set(ctx, "{tea}1", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	slot := here.ClusterKeySlot(ctx, "{tea}1").Val()
	if err := do(t, here, "cluster", "setslot", slot, "migrating", thereID); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, here.Get(ctx, "{tea}2").Err(), "ASK", business)
	wantAnswer(t, here.MGet(ctx, "{tea}1", "{tea}2").Err(), "TRYAGAIN", policy.Report{RetryAfter: 1})
	wantAnswer(t, here.MGet(ctx, "{tea}1", "{milk}1").Err(), "CROSSSLOT", business)
	wantAnswer(t, there.Get(ctx, "{tea}1").Err(), "MOVED", business)
}

// twoNodes returns the clients of two nodes of a cluster that know each other, of
// which the first serves every slot, and the second's name.
func twoNodes(t *testing.T) (here, there *redis.Client, thereID string) {
	t.Helper()
	ctx := t.Context()
	node := func() (*redis.Client, string) {
		port := heldPort(t)
		return start(t, place(t), "--cluster-enabled", "yes", "--port", port, "--bind", "127.0.0.1", "--cluster-port", heldPort(t)).plain(t), port
	}
	here, _ = node()
	there, port := node()
	busPort := there.ConfigGet(ctx, "cluster-port").Val()["cluster-port"]
	thereID = there.ClusterMyID(ctx).Val()
	for _, words := range [][]any{{"cluster", "addslotsrange", 0, 16383}, {"cluster", "meet", "127.0.0.1", port, busPort}} {
		if err := do(t, here, words...); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both nodes know each other and the slots", func() bool {
		known, err := here.ClusterNodes(ctx).Result()
		return err == nil && strings.Contains(known, thereID) && !strings.Contains(known, "handshake") &&
			here.Get(ctx, "a").Err() == redis.Nil && redis.HasErrorPrefix(there.Get(ctx, "a").Err(), "MOVED")
	})
	return here, there, thereID
}

// A server that cannot write its file takes no more writes.
func TestAnswerWhenItCannotSave(t *testing.T) {
	gone, err := os.MkdirTemp(place(t), "gone")
	if err != nil {
		t.Fatal(err)
	}
	client := start(t, place(t), "--dir", gone, "--save", "3600 1").plain(t)
	ctx := t.Context()
	if err := client.Set(ctx, "a", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if err := client.BgSave(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "saving has failed", func() bool {
		return strings.Contains(client.Info(ctx, "persistence").Val(), "rdb_last_bgsave_status:err")
	})
	wantAnswer(t, client.Set(ctx, "a", 2, 0).Err(), "MISCONF", useless)
	if err := client.Get(ctx, "a").Err(); err != nil {
		t.Errorf("reading: %v", err)
	}
}

// A consumer group that is there already is no busy server.
func TestAnswerThatOnlyBeginsLikeBusy(t *testing.T) {
	client := start(t, place(t)).plain(t)
	ctx := t.Context()
	if err := client.XGroupCreateMkStream(ctx, "orders", "audit", "$").Err(); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, client.XGroupCreate(ctx, "orders", "audit", "$").Err(), "BUSYGROUP", business)
}
