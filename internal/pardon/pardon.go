// Package pardon says when an attempt has waited for its caller so long that it
// says nothing about the dependency: for a reader who does not take an answer as
// it comes, or for a sender whose request comes slowly.
//
// An attempt's clock runs until its last byte. Without a pardon a few such callers
// open the breaker of a dependency that answers everybody else at once.
package pardon

import (
	"sync"
	"time"

	"github.com/kalan-go/kalan/policy/stack"
)

// atMost bounds After where nothing makes an attempt slow, or hours do.
const atMost = time.Second

// After returns how much of an attempt behind c may be spent on waiting for its
// caller, all pauses together: little of what makes it slow, so that it is
// excused before it is.
func After(c stack.Config) time.Duration {
	after := atMost
	if c.Exchange > 0 {
		after = min(after, c.Exchange/8)
	}
	if slow := c.Breaker.Slow; slow > 0 {
		after = min(after, slow/4)
	}
	return after
}

// An Account adds up an attempt's pauses. Its methods may be called from any
// goroutine. The zero Account has nothing left.
type Account struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time // when the pause began; zero: there is none
}

// Open fills the account.
func (a *Account) Open(left time.Duration) { a.left = left }

// Begin begins a pause. A second Begin changes nothing.
func (a *Account) Begin() {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = now
	}
}

// End ends the pause, if there is one.
func (a *Account) End() {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.since.IsZero() {
		a.left -= now.Sub(a.since)
		a.since = time.Time{}
	}
}

// Left returns what is left, 0 or less when the attempt is to be excused, and
// whether that becomes less now.
func (a *Account) Left() (left time.Duration, paused bool) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		return a.left, false
	}
	return a.left - now.Sub(a.since), true
}

// An Attempt is what can be excused: a kalan.Held.
type Attempt interface{ Excuse() }

// A Pardon is an Account that excuses the attempt itself, also in the middle of
// a pause: by a timer that is made at the first one. A pause is cheap: the timer
// is not stopped at its end but looks, when it fires, at what is left. The zero
// Pardon is for an attempt that is over.
type Pardon struct {
	account Account

	mu      sync.Mutex // guards what follows
	attempt Attempt    // nil: it is excused, or over
	timer   *time.Timer
	armed   bool
}

// Open lets the attempt wait for its caller so long. It may be excused from any
// goroutine, and not after Stop.
func (p *Pardon) Open(after time.Duration, a Attempt) {
	p.account.Open(after)
	p.attempt = a
}

// Rest lets the timer be until Look is called: for an attempt that has a timer of
// its own, which is nearly always over before that, or that nobody finds slow.
func (p *Pardon) Rest() { p.armed = true }

// Begin begins a pause: the caller is waited for.
func (p *Pardon) Begin() {
	p.account.Begin()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.attempt == nil || p.armed {
		return
	}
	left, _ := p.account.Left()
	p.arm(left)
}

// End ends it: the dependency is waited for.
func (p *Pardon) End() { p.account.End() }

// Look excuses the attempt if it is time, and otherwise sees to it that somebody
// looks again while the caller is waited for.
func (p *Pardon) Look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = false
	if left, paused := p.decide(); paused && p.attempt != nil {
		p.arm(left)
	}
}

// Stop says that the attempt is at its end, and excuses it for what nobody has
// looked at yet.
func (p *Pardon) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.decide()
	p.attempt = nil
}

// arm lets the timer look after so long; the lock is held.
func (p *Pardon) arm(left time.Duration) {
	p.armed = true
	if p.timer == nil {
		p.timer = time.AfterFunc(left, p.Look)
	} else {
		p.timer.Reset(left)
	}
}

// decide excuses the attempt if nothing is left; the lock is held.
func (p *Pardon) decide() (left time.Duration, paused bool) {
	left, paused = p.account.Left()
	if left <= 0 && p.attempt != nil {
		p.attempt.Excuse()
		p.attempt = nil
	}
	return left, paused
}
