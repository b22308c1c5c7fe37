//go:build unix

package pause

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const child = "KALAN_TEST_STOPPED_CHILD"

// F23, with a real process that is really stopped for 1.8 s: it sees the pause
// when it goes on, and knows at once that work with a deadline of 1 s is over.
func TestAStoppedProcessKnowsWhenItGoesOn(t *testing.T) {
	if os.Getenv(child) != "" {
		beStopped()
		return
	}
	if testing.Short() {
		t.Skip("stops a process for 1.8 s: run without -short")
	}
	command := exec.Command(os.Args[0], "-test.run=^TestAStoppedProcessKnowsWhenItGoesOn$")
	command.Env = append(os.Environ(), child+"=1")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })

	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "beating" { // a busy machine makes pauses too
	}
	if lines.Text() != "beating" {
		t.Fatalf("the child ended with %q before it was beating", lines.Text())
	}
	command.Process.Signal(syscall.SIGSTOP)
	answer := make(chan string, 1)
	go func() {
		for lines.Scan() && !long(lines.Text()) {
		}
		answer <- lines.Text()
	}()
	select {
	case early := <-answer:
		t.Fatalf("a stopped child said %q", early)
	case <-time.After(1800 * time.Millisecond):
	}
	command.Process.Signal(syscall.SIGCONT)
	if line := <-answer; !long(line) || !strings.HasSuffix(line, " expired") {
		t.Errorf("after a pause of 1.8 s and a deadline of 1 s the child said %q", line)
	}
}

// long reports whether the child speaks of a pause like the one it was given.
func long(line string) bool {
	length, _, _ := strings.Cut(line, " ")
	late, err := time.ParseDuration(length)
	return err == nil && late >= 1700*time.Millisecond && late < time.Minute
}

// beStopped is the child: it works for a caller who waits 1 s.
func beStopped() {
	watch, err := New(Config{Every: 20 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	work, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	running, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	go func() {
		for watch.Snapshot().Pauses.Beats == 0 && running.Err() == nil {
			select {
			case <-time.After(time.Millisecond):
			case <-running.Done():
			}
		}
		fmt.Println("beating")
	}()
	watch.Run(running, func(late time.Duration) {
		line := fmt.Sprintln(late, Over(work).String())
		if fmt.Print(line); long(line) {
			stop()
		}
	})
}
