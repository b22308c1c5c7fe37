package demo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestABridgeIsAProcessThatHangsAndHeals(t *testing.T) {
	p, err := start("bridge-x", BridgeCommand, "--name", "bridge-x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	address, err := p.line()
	if err != nil {
		t.Fatal(err)
	}

	if body := ask(t, address, time.Minute); !strings.Contains(body, "bridge-x") {
		t.Errorf("it answers %q", body)
	}
	tell := func(what string) {
		if status, err := visit(t.Context(), http.MethodPost, "http://"+address+what); status != http.StatusOK || err != nil {
			t.Fatalf("%s: %d, %v", what, status, err)
		}
	}
	for range 2 { // telling it twice is telling it once
		tell(hang)
	}
	if body := ask(t, address, 50*time.Millisecond); body != "" {
		t.Errorf("while it hangs it answers %q", body)
	}
	for range 2 {
		tell(heal)
	}
	if body := ask(t, address, time.Minute); !strings.Contains(body, "bridge-x") {
		t.Errorf("once healed it answers %q", body)
	}
}

// ask returns the bridge's answer, "" when there is none within the patience.
func ask(t *testing.T, address string, patience time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/orders/1", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := plain.Do(request)
	if errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestABridgeEndsWithItsParentsPipe(t *testing.T) {
	p, err := start("bridge-x", BridgeCommand, "--name", "bridge-x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	if _, err := p.line(); err != nil {
		t.Fatal(err)
	}
	p.stdin.Close()
	<-p.ended
	if p.status != nil {
		t.Errorf("it ended with %v", p.status)
	}
}

func TestAProcessThatEndsTooEarlyIsNamed(t *testing.T) {
	p, err := start("the gateway", "-test.run=^$", "-no-such-flag")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	_, err = p.line()
	if err == nil || !strings.Contains(err.Error(), "the gateway ended too early") || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("error %v does not say who ended and why", err)
	}
}

func TestATailKeepsTheEnd(t *testing.T) {
	var kept tail
	for range 10 {
		if _, err := io.WriteString(&kept, strings.Repeat("x", tailLength/3)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(&kept, "the end"); err != nil {
		t.Fatal(err)
	}
	if got := kept.String(); len(got) != tailLength || !strings.HasSuffix(got, "the end") {
		t.Errorf("%d bytes are kept, ending in %q", len(got), got[max(0, len(got)-10):])
	}
}
