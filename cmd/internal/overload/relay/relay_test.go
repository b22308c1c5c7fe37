package relay

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestItPassesOnRequestsAndAnswers(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("X-Remaining-Ms"))
		w.WriteHeader(http.StatusTeapot)
		w.Write(body)
	}))
	defer upstream.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- serve(ctx, listener, strings.TrimPrefix(upstream.URL, "http://")) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequest(http.MethodPut, "http://"+listener.Addr().String()+"/a?b=c", strings.NewReader("some"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Remaining-Ms", "200")
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if a.StatusCode != http.StatusTeapot || string(body) != "some" || err != nil || a.Header.Get("X-Seen") != "PUT /a?b=c 200" {
		t.Errorf("%d %q %v, upstream saw %q", a.StatusCode, body, err, a.Header.Get("X-Seen"))
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestItSaysWhenThereIsNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // nobody listens at its end, and nobody else is given that
	transport := &http.Transport{}
	w := httptest.NewRecorder()
	relay{transport, c.LocalAddr().String()}.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusBadGateway {
		t.Errorf("%d", w.Code)
	}
}
