package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// configure writes a configuration and returns its name.
func configure(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kalan.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestServeForwardsAndLeaves(t *testing.T) {
	defer goleak.VerifyNone(t)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		left, err := strconv.Atoi(r.Header.Get("X-Remaining-Ms"))
		fmt.Fprintf(w, "%s in time: %v", r.URL.Path, err == nil && left > 0 && left <= 5000)
	}))
	defer upstream.Close()
	file := configure(t, fmt.Sprintf(`
listen: "127.0.0.1:0"
admin: "127.0.0.1:0"
drain: {delay: 0}
upstreams: {bridge: {addresses: [%q], exchange: 5s, connect: 5s}}
routes: [{match: "GET /prices", upstream: bridge, promise: 10s}]
`, upstream.URL))

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	logged, log := io.Pipe()
	ended := make(chan error, 1)
	var errOut strings.Builder
	go func() { ended <- serve(ctx, file, slog.New(slog.NewTextHandler(log, nil)), &errOut) }()
	lines := bufio.NewScanner(logged)
	base := listening(t, lines)
	go func() { // what is logged later must not hold up the gateway
		for lines.Scan() {
		}
	}()

	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(base + "/prices/gold")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK || string(body) != "/prices/gold in time: true" {
		t.Errorf("got %s, %q, %v", answer.Status, body, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it did not leave well: %v", err)
	}
	log.Close()
	if got := strings.Count(errOut.String(), "warning: "); got != 2 { // the two ports that are 0
		t.Errorf("%d warnings:\n%s", got, &errOut)
	}
}

// listening returns the URL that the gateway says it listens on.
func listening(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	for lines.Scan() {
		for word := range strings.FieldsSeq(lines.Text()) {
			if address, ok := strings.CutPrefix(word, "listen="); ok {
				return "http://" + address
			}
		}
	}
	t.Fatal("it never said where it listens")
	return ""
}

// Nothing is started from a file with a mistake in it: not even a listener.
func TestServeStartsNothingFromABadFile(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close() // a gateway that listened would fail with another status
	file := configure(t, fmt.Sprintf("listen: %q\nrate_limt: {}\nupstreams: {b: {addresses: [\"http://127.0.0.1:9\"]}}\nroutes: [{match: /, upstream: b}]\n", free.Addr()))
	_, errOut, status := tell("serve", "--config", file)
	want := file + ":2:1: rate_limt: unknown key; did you mean accept.rate or "
	if status != 2 || !strings.HasPrefix(errOut, want) {
		t.Errorf("ended with %d and\n%s", status, errOut)
	}
}

func TestServeFailsWhereItCannotListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := configure(t, fmt.Sprintf("listen: %q\nupstreams: {b: {addresses: [\"http://127.0.0.1:9\"]}}\nroutes: [{match: /, upstream: b}]\n", taken.Addr()))
	_, errOut, status := tell("serve", "--config", file)
	if status != 1 || !strings.HasPrefix(errOut, "kalan: listen: ") || !strings.Contains(errOut, "address already in use") {
		t.Errorf("ended with %d and\n%s", status, errOut)
	}
}

// Whoever forgets the flag, or a script whose variable is empty, is told what
// to write.
func TestServeNeedsAFile(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "kalan.yaml"}, "kalan: \"kalan.yaml\" stands alone; a flag names the file: --config kalan.yaml\n"},
		{[]string{"serve", "--config="}, "--config: is empty; write the name of a file, such as kalan.yaml\n"},
		{[]string{"serve", "--config", filepath.Join(t.TempDir(), "kalan.yaml")}, "kalan: "},
	} {
		if _, errOut, status := tell(c.args...); status != 2 || !strings.HasPrefix(errOut, c.want) {
			t.Errorf("%v ended with %d and\n%s", c.args, status, errOut)
		}
	}
}

// TestTheStandardLogIsForThoseWhoAskForEverything: an upstream can make net/http
// write to it.
func TestTheStandardLogIsForThoseWhoAskForEverything(t *testing.T) {
	flags, to := stdlog.Flags(), stdlog.Writer()
	defer func() {
		stdlog.SetFlags(flags)
		stdlog.SetOutput(to)
	}()
	for level, want := range map[string]string{"info": "", "debug": `"level":"DEBUG","msg":"Unsolicited response \"x\""`} {
		var out strings.Builder
		to, err := newLogger(&out, level, "json")
		if err != nil {
			t.Fatal(err)
		}
		captureLog(to)
		stdlog.Printf("Unsolicited response %q", "x")
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", level, got)
		}
	}
}
