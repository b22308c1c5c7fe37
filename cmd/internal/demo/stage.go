package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/kalan-go/kalan/jitter"
)

// readyWithin is how long the gateway may take until it serves.
const readyWithin = 10 * time.Second

// A stage is the bridges and the gateway between them and their callers, all
// running.
type stage struct {
	layout    layout
	gateway   *process
	bridges   []*process
	addresses []string // of the bridges, in the order of the layout
	listen    string
	admin     string
	scratch   string // directory of the configuration that the gateway reads
}

// build starts a bridge for every upstream of the configuration and then a
// gateway that reads it, on listen and admin. What was started is stopped again
// when something fails.
func build(ctx context.Context, config []byte, listen, admin string) (s *stage, err error) {
	s = &stage{listen: listen, admin: admin}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if s.layout, err = readLayout(config); err != nil {
		return s, err
	}
	if err = s.startBridges(); err != nil {
		return s, err
	}
	if err = s.startGateway(config); err != nil {
		return s, err
	}
	return s, s.ready(ctx)
}

func (s *stage) startBridges() error {
	for _, name := range s.layout.bridges {
		p, err := start(name, BridgeCommand, "--name", name)
		if err != nil {
			return err
		}
		s.bridges = append(s.bridges, p)
		address, err := p.line()
		if err != nil {
			return err
		}
		s.addresses = append(s.addresses, address)
	}
	return nil
}

func (s *stage) startGateway(config []byte) error {
	bridges := make(map[string]string)
	for i, name := range s.layout.bridges {
		bridges[name] = s.addresses[i]
	}
	moved, err := relocate(config, s.listen, s.admin, bridges)
	if err != nil {
		return err
	}
	if s.scratch, err = os.MkdirTemp("", "kalan-demo-"); err != nil {
		return err
	}
	file := filepath.Join(s.scratch, "kalan.yaml")
	if err := os.WriteFile(file, moved, 0o600); err != nil {
		return err
	}
	s.gateway, err = start("the gateway", "serve", "--config", file)
	return err
}

// ready waits until the gateway says that it is.
func (s *stage) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		select {
		case <-s.gateway.ended:
			return s.gateway.obituary()
		case <-ctx.Done():
			return fmt.Errorf("the gateway was not ready within %v; it wrote:\n%s", readyWithin, s.gateway.errors)
		default:
		}
		if status, err := visit(ctx, http.MethodGet, "http://"+s.admin+"/readyz"); err == nil && status == http.StatusOK {
			return nil
		}
		jitter.Sleep(ctx, 20*time.Millisecond)
	}
}

// hang tells the first bridge to stop answering.
func (s *stage) hang(ctx context.Context) error {
	status, err := visit(ctx, http.MethodPost, "http://"+s.addresses[0]+hang)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("it answered %d", status)
	}
	if err != nil {
		return fmt.Errorf("tell %s to hang: %w", s.layout.bridges[0], err)
	}
	return nil
}

// stop ends every process and removes what was written.
func (s *stage) stop() {
	if s.gateway != nil {
		s.gateway.stop()
	}
	for _, p := range s.bridges {
		p.stop()
	}
	if s.scratch != "" {
		_ = os.RemoveAll(s.scratch)
	}
}

// alive fails when a process of the stage has ended.
func (s *stage) alive() error {
	var dead error
	for _, p := range append([]*process{s.gateway}, s.bridges...) {
		select {
		case <-p.ended:
			dead = errors.Join(dead, p.obituary())
		default:
		}
	}
	return dead
}

// visit asks for something whose answer is its status.
func visit(ctx context.Context, method, url string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := plain.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	return answer.StatusCode, nil
}

// plain keeps no connection open, so that nothing outlives the stage.
var plain = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
