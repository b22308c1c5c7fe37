package gateway

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
)

// A terminal is one of those that lost their connection together.
type terminal struct {
	visits  int
	cut     int           // visits that ended without an answer
	refused time.Duration // the longest that a refusal took
	told    time.Duration // the last Retry-After
	back    time.Time     // when it came the last time
	served  time.Time
}

var errRefused = errors.New("refused")

// connect opens a connection and asks for something on it, as a login would.
func (m *terminal) connect(address string) (net.Conn, error) {
	m.visits++
	m.back = time.Now()
	c, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, "GET /login HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return c, err
	}
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	switch {
	case err != nil:
		return c, err
	case a.StatusCode == http.StatusNotFound:
		m.served = time.Now()
		return c, nil
	}
	m.refused = max(m.refused, time.Since(m.back))
	after, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || a.StatusCode != http.StatusServiceUnavailable || !a.Close {
		return c, errors.New("answered " + a.Status)
	}
	m.told = time.Duration(after) * time.Second
	return c, errRefused
}

// persist connects until it is served or the end comes, and waits each time as
// it was told, with a second's jitter of its own (F5). One that was told nothing
// waits a second too: of many refused in one moment some see a reset (package
// accept), and the kernel drops connections when its queue is full. A connection
// is kept until the end.
func (m *terminal) persist(address string, in *atomic.Int32, end <-chan struct{}) {
	for {
		c, err := m.connect(address)
		if err == nil {
			defer c.Close()
			in.Add(1)
			<-end
			return
		}
		if c != nil {
			c.Close()
		}
		wait := m.told
		if !errors.Is(err, errRefused) {
			m.cut++
			wait = time.Second
		}
		select {
		case <-end:
			return
		case <-time.After(wait + time.Duration(rand.Int64N(int64(time.Second)))):
		}
	}
}

// TestTheReconnectStorm is F4's: 5,000 terminals lose their connections in one
// moment and come back in the next. What is over the rate is told so at once,
// and whoever comes back when it was told is let in.
func TestTheReconnectStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("5,000 connections and ten seconds of real time: left out of -short")
	}
	const terminals, rate, burst = 5000, 2000, 500
	file := fileFor(backend(t, answers("ok")))
	file.Accept = &settings.Accept{Rate: rate, Burst: burst}
	file.Routes[0].Match.Prefix = "/orders" // elsewhere the gateway answers by itself: what is drilled is the way in
	h := open(t, file)
	all := make([]terminal, terminals)
	end := make(chan struct{})
	var connected sync.WaitGroup
	var in atomic.Int32 // those that were served: of the open connections some may be reset at their other end
	begin := time.Now()
	for i := range all {
		connected.Go(func() { all[i].persist(h.Addr().String(), &in, end) })
	}
	until := time.After(2 * time.Minute)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for waiting := true; waiting && in.Load() < terminals; {
		select {
		case <-look.C:
		case <-until:
			waiting = false
		}
	}
	took := time.Since(begin)
	close(end)
	connected.Wait()
	judgeStorm(t, all, took, h.gate.Snapshot().Refused)
	// Within the rate: the burst, and what the rate has given since.
	if least := time.Duration(terminals-burst) * time.Second / rate; took < least {
		t.Errorf("all are in after %v; at the rate that takes %v", took, least)
	}
}

func judgeStorm(t *testing.T, all []terminal, took time.Duration, refused any) {
	t.Helper()
	var visits, slowest []time.Duration
	outside, cut, late := 0, 0, 0
	for i := range all {
		m := &all[i]
		if m.served.IsZero() {
			outside++
		}
		cut += m.cut
		visits = append(visits, time.Duration(m.visits))
		slowest = append(slowest, m.refused)
		// Served at the visit that it was told to make: within its window.
		if m.told > 0 && m.served.Sub(m.back) > 2*time.Second {
			late++
		}
	}
	slices.Sort(visits)
	slices.Sort(slowest)
	n := len(visits)
	t.Logf("%d terminals in %v, refused %v, cut %d; visits: median %d, p99 %d, most %d; refusals told within %v (p99), %v (all)",
		n, took.Round(time.Millisecond), refused, cut, visits[n/2], visits[n*99/100], visits[n-1], slowest[n*99/100], slowest[n-1])
	if outside > 0 || late > len(all)/100 || cut > len(all)/10 {
		t.Errorf("%d are outside, %d were served late, %d connections ended without an answer", outside, late, cut)
	}
	if visits[n*99/100] > 4 {
		t.Errorf("one of a hundred comes %d times", visits[n*99/100])
	}
	if slowest[n/2] > 2*time.Second {
		t.Errorf("the median refusal took %v", slowest[n/2])
	}
}
