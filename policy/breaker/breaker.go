package breaker

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A Pass is the permission for one attempt. Its owner keeps it and hands it
// back once, to Settle or Undo, which clear it. The zero Pass is stale, as is
// every Pass of an older generation: no verb does anything with it.
type Pass struct {
	generation uint32
	flags      uint8
}

const (
	isProbe   uint8 = 1 << iota
	isCounted       // its verdict is in; whatever comes later adds nothing
	isRamped        // it spent credit of the ramp
)

// Probe reports whether the attempt is a half-open probe.
func (p Pass) Probe() bool { return p.flags&isProbe != 0 }

// A Breaker decides which attempts may start. It is made by New and is not
// safe for concurrent use. Most callers use Admit before an attempt and Settle
// after it, and Overdue in between for one that hangs.
type Breaker struct {
	last, due  policy.Instant // due: the next timed move
	state      State
	mode       Mode
	generation uint32
	since      policy.Instant
	score      score
	over       policy.Instant // since when the window has been over a rate
	probes     probes
	credit     uint32        // of the ramp, in millionths of a call
	delay      time.Duration // the open time before jitter
	random     splitmix

	opened, refused, ignored uint64

	rules  rules
	window window
}

// New returns a closed breaker, or one that is as c.Mode forces it to be.
func New(c Config) *Breaker {
	b := &Breaker{due: policy.Never, over: policy.Never, generation: 1, random: splitmix(c.Seed), rules: c.rules()}
	b.window = newWindow(&b.rules)
	b.SetMode(0, b.rules.Mode)
	return b
}

// Admit asks for one attempt. False means refused: open, every probe out, or
// held back by the ramp. A refusal costs nothing and is counted nowhere but in
// its own counter (O-06); RetryAt says when to come back.
func (b *Breaker) Admit(now policy.Instant) (Pass, bool) {
	now = b.seen(now)
	switch {
	case b.mode == Disabled:
		return Pass{}, true
	case b.state == HalfOpen:
		return b.admitProbe(now)
	case b.state == Open:
		return b.refuse()
	case b.due != policy.Never:
		return b.admitRamped(now)
	}
	return Pass{generation: b.generation}, true
}

// refuse counts a refusal. An observer lets the call run, with a pass that
// changes nothing: had it been enforced, the call would not have run.
func (b *Breaker) refuse() (Pass, bool) {
	b.refused++
	return Pass{}, b.mode == Observe
}

// Undo gives p back, admitted but never started, as if it had never been.
func (b *Breaker) Undo(now policy.Instant, p *Pass) {
	now = b.seen(now)
	pass := b.take(p)
	switch {
	case pass.flags&isRamped != 0:
		b.repay(now)
	case pass.Probe():
		b.returnProbe(pass)
	}
}

// Overdue tells that the attempt is still unanswered past SlowAfter. It counts
// as slow from now on, once; a later Settle of p adds nothing.
func (b *Breaker) Overdue(now policy.Instant, p *Pass) {
	now = b.seen(now)
	if p.generation != b.generation || p.flags&isCounted != 0 || b.rules.Slow <= 0 {
		return
	}
	p.flags |= isCounted
	if p.Probe() {
		b.countProbe(now, slow)
		return
	}
	b.countBad(now, slow)
}

// Settle gives p back after the attempt ended with o, having run for so long.
// Ignored and Cut say nothing: neither a count nor the score changes, and a
// probe's place comes back.
func (b *Breaker) Settle(now policy.Instant, p *Pass, o policy.Outcome, ran time.Duration) {
	now = b.seen(now)
	pass := b.take(p)
	if pass.generation == 0 {
		return
	}
	k, told := b.read(o, ran)
	if !told {
		b.ignored++
	}
	told = told && pass.flags&isCounted == 0
	switch {
	case pass.Probe() && told:
		b.probes.out--
		b.countProbe(now, k)
	case pass.Probe():
		b.returnProbe(pass)
	case !told:
	case k == good:
		b.window.add(now, good)
		b.score.good()
	default:
		b.countBad(now, k)
	}
}

// take clears p and returns what it was: the zero Pass if it is stale.
func (b *Breaker) take(p *Pass) Pass {
	pass := *p
	*p = Pass{}
	if pass.generation != b.generation {
		return Pass{}
	}
	return pass
}

// read returns what an outcome says; false: nothing.
func (b *Breaker) read(o policy.Outcome, ran time.Duration) (kind, bool) {
	k := good
	if ran >= b.rules.slow {
		k = slow
	}
	switch o {
	case policy.Success:
		return k, true
	case policy.Failure:
		return k | failed, true
	}
	return good, false
}

// returnProbe takes back a probe that has no verdict to add.
func (b *Breaker) returnProbe(p Pass) {
	b.probes.out--
	if p.flags&isCounted == 0 {
		b.dropProbe()
	}
}
