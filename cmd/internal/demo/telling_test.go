package demo

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
	"github.com/kalan-go/kalan/examples"
)

// The story, with real processes and wide margins: what the machine adds when
// others use it too is not what is tested here.
func TestTheStoryIsTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("tells the story in real time, twenty seconds: left out of -short")
	}
	for name, told := range map[string]struct {
		config []byte
		check  func(*testing.T, *account)
	}{
		"without defences all fall": {examples.TradingBare, func(t *testing.T, a *account) {
			for i, bridge := range a.bridges {
				if _, fell := a.fall(i); !fell {
					t.Errorf("callers of %s are still answered at the end", bridge)
				}
			}
		}},
		"with them one does": {examples.Trading, func(t *testing.T, a *account) {
			for i, bridge := range a.bridges[1:] {
				if share := a.all(i + 1).Share(openloop.InTime); share < .9 {
					t.Errorf("%s answers %s in time", bridge, percent(share))
				}
			}
			if after, opened := a.opening(0); !opened || after > 2*opensWithin {
				t.Errorf("the breaker of %s opened %v after the hang, %v", a.bridges[0], after, opened)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			a, err := tell(t.Context(), &out, told.config, hurried)
			if err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			told.check(t, a)
			if t.Failed() {
				table(&out, a)
				t.Log(out.String())
			}
		})
	}
}

// The curl line that is printed answers at once, and everything is gone
// afterwards.
func TestServeStartsWhatItSays(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, writer, Config{Name: "trading", Text: examples.Trading})
		writer.Close()
	}()

	var url string
	lines := bufio.NewScanner(reader)
	for url == "" && lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "curl" {
			url = words[2]
		}
	}
	if url == "" {
		t.Fatalf("no curl line was printed: %v", <-ended)
	}
	if status, err := visit(ctx, http.MethodGet, url); status != http.StatusOK || err != nil {
		t.Errorf("%s: %d, %v", url, status, err)
	}
	cancel()
	for lines.Scan() { // the rest of what it says, so that it can say it
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := visit(context.WithoutCancel(ctx), http.MethodGet, url); err == nil {
		t.Errorf("%s still answers", url)
	}
}

func TestServeSaysWhatTheGatewayFindsWrong(t *testing.T) {
	bad := bytes.Replace(examples.Trading, []byte("grace: 30s"), []byte("grace: 1s"), 1)
	err := Serve(t.Context(), io.Discard, Config{Name: "trading", Text: bad})
	if err == nil || !strings.Contains(err.Error(), "the gateway ended too early") || !strings.Contains(err.Error(), "grace") {
		t.Errorf("error %v does not say who ended and why", err)
	}
}

func TestATakenAddressIsNotUsed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var out bytes.Buffer
	taken := listener.Addr().String()
	got, err := available(&out, taken)
	if err != nil || got == taken || !strings.Contains(out.String(), taken+" is taken") {
		t.Errorf("for %s it takes %s, %v, and says %q", taken, got, err, &out)
	}
}
