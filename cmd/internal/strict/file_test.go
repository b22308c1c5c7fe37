//go:build unix

package strict

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAPipeWithoutAWriterIsRefused: opening one waits for a writer, and a
// program that was given one by mistake would say nothing for ever.
func TestAPipeWithoutAWriterIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kalan.yaml")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(chan error, 1)
	go func() {
		_, err := ReadFile(name)
		said <- err
	}()
	select {
	case err := <-said:
		if want := name + ": is a pipe to which nobody writes; "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for somebody to write")
	}
}

// TestAPipeWithAWriterIsRead: to its end, however slowly it comes.
func TestAPipeWithAWriterIsRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pieces := []string{"listen: ", "\":8080\"\n", strings.Repeat("# filled\n", 10_000)}
	go func() {
		defer w.Close()
		for _, p := range pieces {
			io.WriteString(w, p)
		}
	}()
	text, err := ReadFile(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	if want := strings.Join(pieces, ""); err != nil || string(text) != want {
		t.Errorf("%v; %d bytes, want %d", err, len(text), len(want))
	}
}
