package gateway

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strings"
	"testing"
	"time"
)

// TestProbesAreAnsweredWhateverIsOpen: whoever opens all the connections that the
// admin listener keeps, and more, keeps no probe out.
func TestProbesAreAnsweredWhateverIsOpen(t *testing.T) {
	t.Parallel()
	h := open(t, fileFor(backend(t, answers("ok"))))
	var idle []net.Conn
	for range 2 * mostAdmin {
		c, err := net.Dial("tcp", h.AdminAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		idle = append(idle, c)
	}
	if code, text := h.probe(t, "/livez"); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	for i, c := range idle[:mostAdmin] {
		if _, err := c.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
			t.Fatalf("connection %d is open: %v", i, err)
		}
	}
	l := h.admin.(*newest)
	until(t, "no more are kept than there may be", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.open) <= mostAdmin
	})
}

func TestAdminRequestsHaveAnEnd(t *testing.T) {
	h := open(t, fileFor(backend(t, answers("ok"))))
	if s := h.adminServer(); s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.ReadHeaderTimeout <= 0 {
		t.Errorf("%+v", s)
	}
}

func TestPanicsDoNotFillTheLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	var l panicLog
	long := strings.Repeat("x", 1<<20)
	for i := range 10_000 {
		l.write(log, time.Duration(i)*6*time.Millisecond, long) // in a minute
	}
	if n := strings.Count(out.String(), "stack="); n != mostStacks || out.Len() > mostStacks*(8<<10) {
		t.Errorf("%d stacks, %d bytes", n, out.Len())
	}
	out.Reset()
	l.write(log, time.Minute, "again")
	if want := fmt.Sprintf("untold=%d", 10_000-mostStacks); !strings.Contains(out.String(), want) {
		t.Errorf("%s is not said: %s", want, out.String())
	}
}

func TestSomeFilesAreKept(t *testing.T) {
	for files, want := range map[int]int{0: math.MaxInt, -1: math.MaxInt, 1: 1, 256: 128, 1024: 512, 4096: 2048, 65536: 65536 - keptFiles} {
		if got := mostConnections(files); got != want {
			t.Errorf("of %d files %d are for connections, want %d", files, got, want)
		}
	}
}
