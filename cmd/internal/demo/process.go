package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A process is a child of this one, running the same binary.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer
	first  chan string // the first line it writes; closed when there is none
	errors *tail
	ended  chan struct{} // closed when the process has ended
	status error         // how, once ended is closed
}

// start runs this binary again with other arguments. The child lives at most
// as long as this process: its stdin is a pipe that ends when we do.
func start(name string, args ...string) (*process, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the path of this binary, to start %s: %w", name, err)
	}
	p := &process{
		name: name, cmd: exec.Command(binary, args...), errors: &tail{},
		first: make(chan string, 1), ended: make(chan struct{}),
	}
	p.cmd.Stderr = p.errors
	dieWithParent(p.cmd)
	stdout, errOut := p.cmd.StdoutPipe()
	stdin, errIn := p.cmd.StdinPipe()
	if err := errors.Join(errOut, errIn); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.stdin = stdin
	go p.collect(stdout)
	return p, nil
}

// collect reads what the process writes until it ends.
func (p *process) collect(stdout io.Reader) {
	out := bufio.NewReader(stdout)
	if text, err := out.ReadString('\n'); err == nil {
		p.first <- strings.TrimSpace(text)
	}
	close(p.first)
	_, _ = io.Copy(io.Discard, out)
	p.status = p.cmd.Wait()
	close(p.ended)
}

// line returns the first line that the process writes.
func (p *process) line() (string, error) {
	text, ok := <-p.first
	if !ok {
		<-p.ended
		return "", p.obituary()
	}
	return text, nil
}

// obituary says how a process ended that should not have.
func (p *process) obituary() error {
	return fmt.Errorf("%s ended too early: %v\n%s", p.name, p.status, p.errors)
}

// stop ends the process: it is asked twice, the second time to be quick about
// it, and then not asked any more. In between is long enough for a gateway to
// take the second time for one.
func (p *process) stop() {
	_ = p.stdin.Close()
	for _, force := range []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGKILL} {
		if p.within(200 * time.Millisecond) {
			return
		}
		_ = p.cmd.Process.Signal(force)
	}
	<-p.ended
}

func (p *process) within(d time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	select {
	case <-p.ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// A tail keeps the end of what is written to it, to be shown when something
// goes wrong.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailLength = 4096

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, text...)
	t.kept = bytes.Clone(t.kept[max(0, len(t.kept)-tailLength):])
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
