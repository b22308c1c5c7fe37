package gateway

import "time"

// This file is what is done to the client's connection beside writing an
// answer to it.

// The writers of net/http can do more than they say.
type canFlush interface{ FlushError() error }
type canLimitWrites interface{ SetWriteDeadline(time.Time) error }
type canLimitReads interface{ SetReadDeadline(time.Time) error }

func (x *exchange) flush() error {
	if f, ok := x.w.(canFlush); ok {
		return f.FlushError()
	}
	return nil
}

func (x *exchange) limitWrites(at time.Time) {
	if l, ok := x.w.(canLimitWrites); ok {
		l.SetWriteDeadline(at)
	}
}

// readBefore limits reading from the client's connection, as long as it is
// ours. The zero time is no limit.
func (x *exchange) readBefore(at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l, ok := x.w.(canLimitReads); ok && !x.over {
		l.SetReadDeadline(at)
	}
}

// linger is how long a client may go on sending a request that was answered
// before its end, so that it sees the answer and not a reset.
const linger = 500 * time.Millisecond

// endBody takes the request's body away from whoever still reads it.
func (x *exchange) endBody() {
	if x.body == nil {
		return
	}
	x.mu.Lock()
	x.quit = true
	x.mu.Unlock()
	if x.body.Leave(nil); !x.body.Ended() {
		x.readBefore(time.Now()) // a read that waits returns
		x.body.Wait()
		x.readBefore(time.Now().Add(linger))
	}
	x.body.Close()
}
