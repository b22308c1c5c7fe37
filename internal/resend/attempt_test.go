package resend

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const kept = 12

// A killed server has kept that many connections and closes each of them once
// it has read a request to kill it.
type killed struct {
	*httptest.Server
	hits atomic.Int32
	base *http.Transport
}

func serve(t *testing.T, encrypted, h2 bool, wrap bool) *killed {
	t.Helper()
	k := new(killed)
	all := make(chan struct{})
	var here atomic.Int32
	k.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/kill":
			io.Copy(io.Discard, r.Body)
			k.hits.Add(1)
			panic(http.ErrAbortHandler)
		case "/keep":
			if here.Add(1) == kept {
				close(all)
			}
			<-all
		}
	}))
	k.EnableHTTP2, k.Config.ErrorLog = h2, log.New(io.Discard, "", 0)
	k.base = &http.Transport{MaxIdleConnsPerHost: kept}
	if encrypted {
		k.StartTLS()
		k.base.TLSClientConfig = k.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		k.base.ForceAttemptHTTP2 = h2
	} else {
		k.Start()
	}
	if wrap {
		k.base.DialContext = Dialer(new(net.Dialer).DialContext)
	}
	t.Cleanup(func() {
		k.base.CloseIdleConnections()
		k.CloseClientConnections()
		k.Close()
	})
	return k
}

// keep makes the connections, and returns when all of them are idle again.
func (k *killed) keep(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	for range kept {
		all.Go(func() {
			if err := k.get(t, k.base, "/keep", "GET", true, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// get sends a request, watched or not.
func (k *killed) get(t *testing.T, base http.RoundTripper, path, method string, watch, ours bool) error {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if watch {
		ctx = new(Attempt).Watch(ctx, method, ours, cancel)
	}
	r, err := http.NewRequestWithContext(ctx, method, k.URL+path, nil)
	if err != nil {
		t.Error(err)
		return err
	}
	answer, err := base.RoundTrip(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	return err
}

// Without a watch the request is sent on every connection that is kept: the
// test shows what is held off, and that it can fail.
func TestNetHTTPSendsAgain(t *testing.T) {
	k := serve(t, false, false, false)
	k.keep(t)
	if err := k.get(t, k.base, "/kill", "GET", false, false); err == nil || k.hits.Load() < 2 {
		t.Errorf("%v after %d hits; if net/http has given this up, so can this package", err, k.hits.Load())
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// O-14: whatever the connections are, one attempt arrives once.
func TestAnAttemptArrivesOnce(t *testing.T) {
	for name, c := range map[string]struct{ ours, encrypted, h2 bool }{
		"our connections":            {ours: true},
		"our connections, TLS":       {ours: true, encrypted: true},
		"our connections, HTTP/2":    {ours: true, encrypted: true, h2: true},
		"others' connections":        {},
		"others' connections, TLS":   {encrypted: true},
		"others' connections, HTTP2": {encrypted: true, h2: true},
	} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "DELETE"} {
			k := serve(t, c.encrypted, c.h2, c.ours)
			k.keep(t)
			err := k.get(t, tripper(k.base.RoundTrip), "/kill", method, true, c.ours)
			if err == nil || k.hits.Load() != 1 {
				t.Errorf("%s, %s: %d hits (%v)", name, method, k.hits.Load(), err)
			}
			if c == (struct{ ours, encrypted, h2 bool }{ours: true}) && !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: %v does not say how the connection ended", name, method, err)
			}
		}
	}
}

// A first connection is none that had died idle: its own error is kept.
func TestWhatBreaksAtOnceSaysHow(t *testing.T) {
	k := serve(t, false, false, true)
	if err := k.get(t, k.base, "/kill", "GET", true, true); !errors.Is(err, io.EOF) || k.hits.Load() != 1 {
		t.Errorf("%v after %d hits", err, k.hits.Load())
	}
}

// mute is a connection whose writes fail as if the peer had gone long ago.
type mute struct {
	net.Conn
	now *atomic.Bool
}

func (m mute) Write(p []byte) (int, error) {
	if m.now.Swap(false) {
		return 0, net.ErrClosed
	}
	return m.Conn.Write(p)
}

// A connection that took nothing has sent nothing: another may be used, also
// for what must not be done twice.
func TestWhatWasNotWrittenMayHaveAnother(t *testing.T) {
	for _, method := range []string{"GET", "DELETE"} {
		k := serve(t, false, false, false)
		var now atomic.Bool
		k.base.DialContext = Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			return mute{c, &now}, err
		})
		k.keep(t)
		now.Store(true)
		if err := k.get(t, k.base, "/", method, true, true); err != nil || now.Load() {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// The connection that took nothing ends late, when another has the request: that
// is no end of the attempt.
func TestALateEndOfAnotherConnection(t *testing.T) {
	ended := error(nil)
	a := &Attempt{replayable: true, end: func(err error) { ended = err }}
	var conns [2]*Conn
	for i := range conns {
		here, there := net.Pipe()
		there.Close()
		conns[i] = &Conn{Conn: here}
		a.ask("")
		a.connect(httptrace.GotConnInfo{Conn: conns[i]})
	}
	a.sent.Store(true)
	if conns[0].Read(make([]byte, 1)); ended != nil {
		t.Errorf("ended by the first: %v", ended)
	}
	if conns[1].Read(make([]byte, 1)); !errors.Is(ended, io.EOF) {
		t.Errorf("ended by the second: %v", ended)
	}
}

// What an HTTP/2 server has not processed is sent again: that is how one leaves
// without errors. Connections that do not say that they are HTTP/2 are known by
// the first header that only HTTP/2 has.
func TestAStreamMayBeSentAgain(t *testing.T) {
	for first, want := range map[string]bool{"Host": true, ":authority": false} {
		here, there := net.Pipe()
		defer there.Close()
		ended := false
		a := &Attempt{replayable: true, end: func(error) { ended = true }}
		for range 2 {
			a.ask("")
			a.connect(httptrace.GotConnInfo{Conn: here})
			a.wroteField(first, nil)
			a.wroteHead()
		}
		if err := here.SetDeadline(time.Time{}); ended != want || (err != nil) != want {
			t.Errorf("%s: ended %v, the connection: %v", first, ended, err)
		}
	}
}

// What wraps http.Transport may send two requests for one, such as a first that
// is told how to log in. Each is sent once.
func TestAWrapperMayAskTwice(t *testing.T) {
	for _, ours := range []bool{true, false} {
		k := serve(t, false, false, ours)
		k.keep(t)
		twice := tripper(func(r *http.Request) (*http.Response, error) {
			first := r.Clone(r.Context())
			first.URL.Path = "/login"
			answer, err := k.base.RoundTrip(first)
			if err != nil {
				return nil, err
			}
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			return k.base.RoundTrip(r)
		})
		if err := k.get(t, twice, "/", "GET", true, ours); err != nil {
			t.Errorf("ours %v: %v", ours, err)
		}
		if err := k.get(t, twice, "/kill", "GET", true, ours); err == nil || k.hits.Load() != 1 {
			t.Errorf("ours %v: %d hits (%v)", ours, k.hits.Load(), err)
		}
	}
}

// An idle connection keeps no attempt alive, and hears of none.
func TestAnAnswerLetsGoOfTheConnection(t *testing.T) {
	k := serve(t, false, false, false)
	conns := make(chan *Conn, 1)
	dial := Dialer(new(net.Dialer).DialContext)
	k.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err == nil {
			conns <- c.(*Conn)
		}
		return c, err
	}
	if err := k.get(t, k.base, "/", "GET", true, true); err != nil {
		t.Fatal(err)
	}
	if c := <-conns; c.user.Load() != nil {
		t.Error("it is still held")
	}
}

// A body that comes from a file goes out without a copy, and counts as sent.
func TestABodyIsSentThroughReadFrom(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	a := new(Attempt)
	a.end = func(error) {}
	c := &Conn{Conn: here}
	a.conn.Store(c)
	c.user.Store(a)
	go func() {
		c.ReadFrom(io.LimitReader(endless{}, 10))
		here.Close()
	}()
	there.SetReadDeadline(time.Now().Add(10 * time.Second))
	if got, err := io.ReadAll(there); len(got) != 10 || err != nil || !a.sent.Load() {
		t.Errorf("%d bytes, %v, sent %v", len(got), err, a.sent.Load())
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
