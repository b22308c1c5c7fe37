// Package fault hurts calls on purpose, so that one can see that what stands
// around them holds before somebody else shows it: in a test, on a stage, or for
// one call in a thousand in production.
//
//	chaos, err := fault.New(
//		fault.Fault{Kind: fault.Slow, Share: 0.05, Delay: span.Range{Min: time.Second, Max: 3 * time.Second}},
//		fault.Fault{Kind: fault.Lose, Share: 0.01},
//	)
//	...
//	price, err := kalan.Do(ctx, bridge, func(ctx context.Context) (Price, error) {
//		return fault.Do(ctx, chaos, client.Price)
//	})
//
// It belongs inside of the guard, in the dependency's place: then the guard's
// limit, breaker and retries have to do with it. [Transport] is the same for an
// http.Client.
//
// # What it does to a call
//
//	Slow   makes it after a delay
//	Fail   does not make it, and returns an error of the network
//	Hang   does not make it, and waits until its context ends
//	Lose   makes it, and returns an error in place of the answer
//
// The last one is the one that is forgotten: the work has been done, and who
// repeats it does it twice (B9, O-17).
//
// A draw for each call decides; at most one fault befalls it. Shares can be
// changed while the program runs, and no faults are none.
//
// # Limits
//
// It hurts calls of this program. What a process, a machine or a network does when
// it is hurt, it does not show: nothing here holds a processor, fills a disk or
// drops a packet.
package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A Kind says what happens to a call.
type Kind uint8

const (
	// Slow makes the call after a delay.
	Slow Kind = iota
	// Fail returns an error and makes no call.
	Fail
	// Hang waits until the call's context ends, for ever where it does not, and
	// makes no call.
	Hang
	// Lose makes the call, and returns an error in place of its answer.
	Lose

	kinds
)

var names = [kinds]string{"slow", "fail", "hang", "lose"}

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// A Fault befalls a share of the calls.
type Fault struct {
	// Kind says what happens to them.
	Kind Kind
	// Share is how many of all calls, from 0 to 1; the shares of several faults
	// add up. 0 is none.
	Share float64
	// Delay is how much later a slow call is made, drawn from the range. Zero
	// means 100 ms to 1 s. The others have none.
	Delay span.Range
	// Err is what Fail and Lose return. nil means an [Error].
	Err error
}

// An Error is what a call returns that was hurt. It is an error of the network, so
// that kalan.Classify takes it for what it stands for.
type Error struct{ Kind Kind }

// Error says that it was on purpose.
func (e Error) Error() string { return "fault: " + e.Kind.String() + ", on purpose" }

// Timeout and Temporary make it a net.Error.
func (e Error) Timeout() bool { return false }

// Temporary is what a net.Error has beside Timeout.
func (e Error) Temporary() bool { return true }

// An Injector hurts calls. It is made by New and safe for concurrent use; a nil
// one hurts none and cannot be configured. Most callers use Do.
type Injector struct {
	faults atomic.Pointer[[]Fault]
	calls  atomic.Uint64
	hurt   [kinds]atomic.Uint64
}

// New returns an injector of the faults, or everything that is wrong with them.
func New(faults ...Fault) (*Injector, error) {
	i := new(Injector)
	if err := i.Configure(faults...); err != nil {
		return nil, err
	}
	return i, nil
}

// Configure changes the faults; none switches them off. Calls that are being hurt
// go on being hurt. On an error nothing has changed.
func (i *Injector) Configure(faults ...Fault) error {
	faults = append([]Fault(nil), faults...)
	for n := range faults {
		field.Default(&faults[n].Delay, span.Range{Min: 100 * time.Millisecond, Max: time.Second})
		if faults[n].Err == nil {
			faults[n].Err = Error{faults[n].Kind}
		}
	}
	if err := field.Error("fault", "", check(faults)); err != nil {
		return err
	}
	i.faults.Store(&faults)
	return nil
}

// check returns everything that is wrong with faults.
func check(faults []Fault) policy.Problems {
	var c field.Check
	sum := 0.
	for n, f := range faults {
		path := fmt.Sprintf("faults[%d]", n)
		if f.Kind >= kinds {
			c.Refuse(path+".kind", "%v is no fault; write slow, fail, hang or lose", f.Kind)
		}
		if f.Delay.Min < 0 || f.Delay.Max < f.Delay.Min {
			c.Refuse(path+".delay", "%v to %v is no range; write the smaller first", f.Delay.Min, f.Delay.Max)
		}
		c.Number(path+".share", f.Share, 0, 1)
		sum += f.Share
	}
	if sum > 1+1e-9 {
		c.Refuse("faults", "befall %v of the calls; write shares that add up to 1 at most", sum)
	}
	return c.Problems()
}

// befalls returns the fault that the draw u, from [0, 1), stands for; nil for none.
func befalls(faults []Fault, u float64) *Fault {
	for n := range faults {
		if u < faults[n].Share {
			return &faults[n]
		}
		u -= faults[n].Share
	}
	return nil
}

// Do runs fn, or does to it what the draw says.
func Do[T any](ctx context.Context, i *Injector, fn func(context.Context) (T, error)) (T, error) {
	return do(ctx, i, fn, func(T) {})
}

// do gives an answer that is lost to discard.
func do[T any](ctx context.Context, i *Injector, fn func(context.Context) (T, error), discard func(T)) (none T, _ error) {
	f := i.draw()
	if f == nil {
		return fn(ctx)
	}
	switch f.Kind {
	case Slow:
		if err := jitter.Sleep(ctx, f.Delay.Pick(rand.Float64())); err != nil {
			return none, err
		}
		return fn(ctx)
	case Hang:
		<-ctx.Done()
		return none, ctx.Err()
	case Lose:
		if value, err := fn(ctx); err == nil {
			discard(value)
		}
	}
	return none, f.Err
}

// draw counts a call, and returns what befalls it.
func (i *Injector) draw() *Fault {
	if i == nil {
		return nil
	}
	i.calls.Add(1)
	faults := i.faults.Load()
	if faults == nil { // made without New
		return nil
	}
	f := befalls(*faults, rand.Float64())
	if f != nil {
		i.hurt[f.Kind].Add(1)
	}
	return f
}

// A Snapshot counts what an injector has done.
type Snapshot struct {
	// Calls that came, hurt or not.
	Calls uint64
	// Slow, Fail, Hang and Lose are those that were hurt so.
	Slow, Fail, Hang, Lose uint64
}

// Snapshot returns the counts since the injector was made.
func (i *Injector) Snapshot() Snapshot {
	if i == nil {
		return Snapshot{}
	}
	return Snapshot{i.calls.Load(), i.hurt[Slow].Load(), i.hurt[Fail].Load(), i.hurt[Hang].Load(), i.hurt[Lose].Load()}
}
