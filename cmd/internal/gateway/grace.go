package gateway

import "time"

// A grace lets an attempt wait for its client for a while, all pauses together,
// and then excuses it: the upstream is not slow because a client is. Its begin
// and end are called in turn, so that it needs neither the lock nor the Stop of
// a pardon.Pardon: a delivery has seven ends.
type grace struct {
	left   time.Duration
	excuse func()
	begun  time.Time
	timer  *time.Timer
}

// begin says that the client is waited for.
func (p *grace) begin() {
	if p.left <= 0 {
		return
	}
	p.begun = time.Now()
	if p.timer == nil {
		p.timer = time.AfterFunc(p.left, p.excuse)
	} else {
		p.timer.Reset(p.left)
	}
}

// end says that it is not any more.
func (p *grace) end() {
	if p.left <= 0 {
		return
	}
	p.timer.Stop()
	if p.left -= time.Since(p.begun); p.left <= 0 {
		p.excuse()
	}
}
