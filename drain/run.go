package drain

import (
	"context"
	"errors"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Steps are what a process does on its way out. Each may be nil.
type Steps struct {
	// Leave is called first, when readiness says no already. It must not block.
	Leave func()
	// Finish is called when nothing new is taken, on a goroutine of its own: it
	// closes listeners, and returns when what they accepted is done. Its context
	// ends when the time to finish is over. It counts as a piece of work until
	// it returns. The method Shutdown of an http.Server is one.
	Finish func(context.Context) error
	// Close is called last, and closes what is left. The method Close of an
	// http.Server is one.
	Close func() error
}

// Run leaves, and returns when that is done: how many pieces of work had to be
// cut, and the errors of the steps. When ctx ends, what is left is cut at once.
// Run leaves once; whoever calls it again waits for the same end.
func (d *Drain) Run(ctx context.Context, steps Steps) (cut int, err error) {
	d.once.Do(func() { d.cut, d.err = d.run(ctx, steps) })
	return d.cut, d.err
}

func (d *Drain) run(ctx context.Context, steps Steps) (int, error) {
	pinned := steps.Finish != nil && d.Enter()
	d.tell((*Machine).Leave)
	if steps.Leave != nil {
		steps.Leave()
	}
	if d.await(ctx, Leaving) != nil && pinned {
		d.Exit() // and is never begun
		pinned = false
	}
	close(d.finishing)
	finished := d.finish(ctx, steps, pinned)
	d.await(ctx, Finishing)
	d.tell((*Machine).Abort) // of nothing, unless ctx has ended
	err := finished()
	if steps.Close != nil {
		err = errors.Join(err, steps.Close())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machine.Cut(), err
}

// tell tells the machine that something happens now.
func (d *Drain) tell(verb func(*Machine, policy.Instant)) {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	verb(&d.machine, now)
}

// await waits while the machine stands at state, and returns early, with the
// reason, when ctx ends.
func (d *Drain) await(ctx context.Context, state State) error {
	for {
		at, until := d.look()
		if at != state {
			return nil
		}
		timer := time.NewTimer(until.Sub(d.now()))
		select {
		case <-timer.C:
		case <-d.wake:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// finish begins the step of that name, and returns the function that ends it: it
// cancels the step's context, and returns what the step said if it was done. Its
// context ends here and not by itself, so that a step which is not done when the
// time is over has been cut, and never been just in time.
func (d *Drain) finish(ctx context.Context, steps Steps, begin bool) (finished func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	result := make(chan error, 1)
	if begin {
		go func() {
			defer d.Exit()
			result <- steps.Finish(ctx)
		}()
	}
	return func() error {
		defer cancel()
		select {
		case err := <-result:
			return err
		default:
			return nil
		}
	}
}
