package cut

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// More workers begin what waits, fewer stop nothing that runs, and what is over
// is not replaced.
func TestConfigureKeepsWhatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{Name: "ldap", Workers: 1, Waiting: 4, Timeout: time.Minute})
		done := make(chan error, 5)
		for range 5 {
			go func() { _, err := Do(t.Context(), p, deaf(time.Second)); done <- err }()
		}
		synctest.Wait()
		look := func(when string, running, waiting int) {
			t.Helper()
			synctest.Wait()
			if s := p.Snapshot(); s.Running != running || s.Waiting != waiting {
				t.Errorf("%s: %d run and %d wait, want %d and %d", when, s.Running, s.Waiting, running, waiting)
			}
		}
		change := func(c Config) {
			t.Helper()
			if err := p.Configure(c); err != nil {
				t.Fatal(err)
			}
		}
		look("with one worker", 1, 4)
		change(Config{Workers: 3, Waiting: 4, Timeout: time.Minute})
		look("with three", 3, 2)
		change(Config{Workers: 2, Waiting: -1, Timeout: time.Minute})
		look("with two of them too many", 3, 2)
		if _, err := Do(t.Context(), p, deaf(0)); !errors.Is(err, policy.Full) {
			t.Errorf("where nobody may wait any more: %v", err)
		}
		time.Sleep(time.Second)
		look("a second later", 2, 0)
		for range 5 {
			if err := <-done; err != nil {
				t.Errorf("a call that had been taken was given up: %v", err)
			}
		}
		if err := p.Configure(Config{Workers: -1}); err == nil || p.config.Load().Workers != 2 {
			t.Errorf("a wrong change: %v", err)
		}
		if _, err := Do(cancelled(), p, deaf(0)); err == nil || p.config.Load().Name != "ldap" {
			t.Errorf("the name is %q after the changes", p.config.Load().Name)
		}
	})
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Observing cuts and refuses nobody, and counts each who would have been once.
func TestObserveCutsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{Workers: 2, Timeout: 100 * ms, Observe: true})
		done := make(chan error, 5)
		for range 5 {
			go func() { _, err := Do(t.Context(), p, deaf(time.Second)); done <- err }()
		}
		for range 5 {
			if err := <-done; err != nil {
				t.Errorf("cut or refused while observing: %v", err)
			}
		}
		if _, err := Do(t.Context(), p, deaf(50*ms)); err != nil {
			t.Error(err)
		}
		if s := p.Snapshot(); s != (Snapshot{Cut: 5, Refused: 3}) {
			t.Errorf("%+v; want 5 that would have been cut, and 3 refused", s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*ms)
		defer cancel()
		if _, err := Do(ctx, p, deaf(time.Second)); !errors.Is(err, policy.Expired) {
			t.Errorf("whose own time was up got %v", err)
		}
		if s := p.Snapshot(); s.Cut != 6 || s.Zombies != 1 {
			t.Errorf("%+v; want one more, counted once, and its zombie", s)
		}
		time.Sleep(time.Second)
		if s := p.Snapshot(); s.Zombies != 0 || s.Running != 0 {
			t.Errorf("at the end: %+v", s)
		}
	})
}
