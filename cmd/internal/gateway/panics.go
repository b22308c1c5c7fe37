package gateway

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// A panicLog writes down panics with their stacks, but not each: a request that
// causes one may be sent a thousand times a second, and would fill the disk with
// what is known after the first. The zero value is ready.
type panicLog struct {
	mu     sync.Mutex
	begun  time.Duration // of the minute that is counted
	stacks int           // written in it
	untold int           // panics since the last that was written
}

const (
	// mostStacks are written down a minute: there may be several causes.
	mostStacks = 5
	// mostPanic is how much of what was panicked with is written.
	mostPanic = 1 << 10
)

func (l *panicLog) write(log *slog.Logger, now time.Duration, p any) {
	untold, ok := l.turn(now)
	if !ok {
		return
	}
	log.Error("panic while serving a request", "panic", fmt.Sprintf("%.*s", mostPanic, fmt.Sprint(p)), "stack", string(debug.Stack()), "untold", untold)
}

// turn reports whether one that happens now is written, and how many were not.
func (l *panicLog) turn(now time.Duration) (untold int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now-l.begun >= time.Minute {
		l.begun, l.stacks = now, 0
	}
	if l.stacks >= mostStacks {
		l.untold++
		return 0, false
	}
	l.stacks++
	untold, l.untold = l.untold, 0
	return untold, true
}
