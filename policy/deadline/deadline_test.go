package deadline_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/deadline"
)

const never = deadline.None

func TestEffective(t *testing.T) {
	for _, c := range []struct{ inbound, promise, want time.Duration }{
		{450 * ms, 800 * ms, 450 * ms}, // what comes in can only shorten
		{time.Hour, 800 * ms, 800 * ms},
		{never, 800 * ms, 800 * ms}, // nobody said
		{450 * ms, 0, 450 * ms},     // nothing promised
		{never, 0, never},
		{0, 800 * ms, 0}, // nothing left
		{-ms, 800 * ms, 0},
	} {
		if got := deadline.Effective(c.inbound, c.promise); got != c.want {
			t.Errorf("inbound %v, promise %v: %v, want %v", c.inbound, c.promise, got, c.want)
		}
	}
}

func TestOutbound(t *testing.T) {
	for _, c := range []struct{ limit, remaining, margin, want time.Duration }{
		{800 * ms, 450 * ms, 5 * ms, 445 * ms},
		{200 * ms, 450 * ms, 5 * ms, 200 * ms},
		{0, 450 * ms, 5 * ms, 445 * ms}, // no limit of its own
		{0, never, 5 * ms, never},       // and nobody waits
		{800 * ms, never, 5 * ms, 800 * ms},
		{800 * ms, 5 * ms, 5 * ms, 0}, // the margin is all that is left
		{800 * ms, 0, 5 * ms, 0},
		{800 * ms, -time.Hour, 5 * ms, 0},
		{200 * ms, 174 * ms, 0, 174 * ms}, // the lesson's B7
		{800 * ms, 450 * ms, -time.Hour, 450 * ms},
		{800 * ms, 450 * ms, never, 0},
	} {
		if got := deadline.Outbound(c.limit, c.remaining, c.margin); got != c.want {
			t.Errorf("limit %v, remaining %v, margin %v: %v, want %v", c.limit, c.remaining, c.margin, got, c.want)
		}
	}
}

// O-18: 1,000 ms at the client; the first gateway allows 10 s and spends 300
// ms, the second allows 5 s. The backend sees at most 700 ms, whatever the
// hops in between say.
func TestSecondHopDoesNotBeginAnew(t *testing.T) {
	at := policy.Instant(0)
	end := deadline.At(at, deadline.Effective(time.Second, 10*time.Second))
	at = at.Add(300 * ms)
	sent := string(deadline.AppendMs(nil, deadline.Outbound(10*time.Second, deadline.Remaining(at, end), deadline.DefaultMargin)))
	if sent != "695" {
		t.Fatalf("the first gateway sends %q, want 695", sent)
	}
	inbound, err := deadline.ParseMs(sent)
	if err != nil {
		t.Fatal(err)
	}
	second := deadline.Outbound(5*time.Second, deadline.Effective(inbound, 0), deadline.DefaultMargin)
	if sent := string(deadline.AppendGRPC(nil, second)); sent != "690000u" || at.Add(second) > end {
		t.Errorf("the second gateway sends %q, want 690 ms", sent)
	}
}

func TestInstants(t *testing.T) {
	now := policy.Instant(time.Hour)
	for _, c := range []struct {
		remaining time.Duration
		at        policy.Instant
		back      time.Duration
	}{
		{450 * ms, now.Add(450 * ms), 450 * ms},
		{never, policy.Never, never},
		{0, now, 0},
		{-ms, now, 0},
	} {
		at := deadline.At(now, c.remaining)
		if back := deadline.Remaining(now, at); at != c.at || back != c.back {
			t.Errorf("%v at %v: %v and back %v, want %v and %v", c.remaining, now, at, back, c.at, c.back)
		}
	}
	if left := deadline.Remaining(now.Add(time.Second), now); left != 0 {
		t.Errorf("past: %v left", left)
	}
}

// B1.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		depth, attempts int
		want            time.Duration
	}{
		{1, 1, 180 * ms}, {1, 3, 60 * ms}, {2, 1, 90 * ms}, {2, 3, 30 * ms},
		{3, 1, 60 * ms}, {3, 3, 20 * ms}, {4, 1, 45 * ms}, {4, 3, 15 * ms},
		{0, 0, 180 * ms}, {-1, math.MinInt, 180 * ms}, {math.MaxInt, math.MaxInt, 0}, {7, 1, 180 * ms / 7},
	} {
		if got := deadline.Divide(200*ms, 20*ms, c.depth, c.attempts); got != c.want {
			t.Errorf("depth %d, %d attempts: %v, want %v", c.depth, c.attempts, got, c.want)
		}
	}
	if got := deadline.Divide(200*ms, 200*ms, 1, 1); got != 0 {
		t.Errorf("nothing left for the chain: %v", got)
	}
	if got := deadline.Divide(never, -ms, 1, 1); got != never {
		t.Errorf("no budget to keep: %v", got)
	}
}

// Nothing that is passed on is more than there is, in either form.
func TestNobodyIsPromisedMoreThanThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.OneOf(rapid.Int64Range(-1e9, 1e9), rapid.Int64())
		limit, remaining := time.Duration(length.Draw(t, "limit")), time.Duration(length.Draw(t, "remaining"))
		out := deadline.Outbound(limit, remaining, time.Duration(length.Draw(t, "margin")))
		if out < 0 || out > max(remaining, 0) || limit > 0 && out > limit {
			t.Fatalf("%v of %v, the limit is %v", out, remaining, limit)
		}
		sent, err := deadline.ParseMs(string(deadline.AppendMs(nil, out)))
		if err != nil || sent > out || out-sent >= ms {
			t.Fatalf("%v is sent as %v (%v)", out, sent, err)
		}
		text := string(deadline.AppendGRPC(nil, out))
		grpc, err := deadline.ParseGRPC(text)
		if err != nil || grpc > out || (grpc == 0) != (out == 0) {
			t.Fatalf("%v is sent as %q, read as %v (%v)", out, text, grpc, err)
		}
		if lost := out - grpc; lost > out/100_000 {
			t.Fatalf("%v is sent as %q and loses %v", out, text, lost)
		}
	})
}

func TestAppendGRPC(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0n", -ms: "0n", 1: "1n", 99999999: "99999999n", 100000000: "100000u", 450 * ms: "450000u",
		99999999*time.Microsecond + 999: "99999999u", 100 * time.Second: "100000m", time.Hour: "3600000m",
		99999999 * ms: "99999999m", 99999999*ms + 1: "99999999m", 100000 * time.Second: "100000S", never: "2562047H",
	} {
		if got := string(deadline.AppendGRPC([]byte("grpc-timeout: "), d)); got != "grpc-timeout: "+want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

func TestAppendMs(t *testing.T) {
	for d, want := range map[time.Duration]string{450 * ms: "450", 999999: "0", ms: "1", 0: "0", -time.Hour: "0", never: "9223372036854"} {
		if got := string(deadline.AppendMs(nil, d)); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

// Errors quote what came in, and not all of it.
func TestErrorsAreBounded(t *testing.T) {
	flood := make([]byte, 1<<20)
	for i := range flood {
		flood[i] = 'x'
	}
	_, first := deadline.ParseMs(string(flood))
	_, second := deadline.ParseGRPC(string(flood))
	for _, err := range []error{first, second} {
		if err == nil || len(err.Error()) > 200 {
			t.Errorf("%.300v: want a short error", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0", "450", "9223372036855", "-1", "1.5", "", " 1", "99999999999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := deadline.ParseMs(text)
		digits := text != ""
		for _, c := range []byte(text) {
			digits = digits && c >= '0' && c <= '9'
		}
		switch {
		case (err == nil) != digits || err != nil && d != 0 || d < 0:
			t.Errorf("%q: %v, %v", text, d, err)
		case err == nil && d != never:
			if again, err := deadline.ParseMs(string(deadline.AppendMs(nil, d))); err != nil || again != d {
				t.Errorf("%q is %v, written and read again %v (%v)", text, d, again, err)
			}
		}
	})
}

func FuzzParseGRPC(f *testing.F) {
	for _, seed := range []string{"0S", "250m", "99999999H", "100000000S", "1n", "-5S", "5s", "", "S"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := deadline.ParseGRPC(text)
		switch {
		case err != nil && d != 0 || d < 0 || err == nil && (len(text) < 2 || len(text) > 9):
			t.Errorf("%q: %v, %v", text, d, err)
		case err == nil:
			again, err := deadline.ParseGRPC(string(deadline.AppendGRPC(nil, d)))
			if err != nil || again > d || d > 0 && again == 0 {
				t.Errorf("%q is %v, written and read again %v (%v)", text, d, again, err)
			}
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	buffer := make([]byte, 0, 32)
	if n := testing.AllocsPerRun(1000, func() {
		d, err := deadline.ParseMs("450")
		grpc, errGRPC := deadline.ParseGRPC("450m")
		if err != nil || errGRPC != nil || d != grpc {
			t.Fatal(d, grpc, err, errGRPC)
		}
		out := deadline.Outbound(time.Second, deadline.Effective(d, time.Second), deadline.DefaultMargin)
		buffer = deadline.AppendGRPC(deadline.AppendMs(buffer[:0], out), out)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
