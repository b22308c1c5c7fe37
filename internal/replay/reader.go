package replay

import "io"

// A reader is the body as one attempt sees it.
type reader struct {
	body  *Body
	ended func()
	at    int // bytes read; guarded by body.mu
}

// Read returns what is kept, and otherwise reads on.
func (r *reader) Read(p []byte) (int, error) {
	n, waits, err := r.recall(p)
	if waits {
		n, err = r.fetch(p)
	}
	if err == io.EOF && r.ended != nil {
		r.ended()
		r.ended = nil
	}
	return n, err
}

// Close does nothing: the transport does not own the body.
func (r *reader) Close() error { return nil }

// recall reads what is kept. It reports waits when the sender has to be read.
func (r *reader) recall(p []byte) (n int, waits bool, err error) {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.current != r:
		return 0, false, ErrLeft
	case r.at < len(b.kept):
		n = copy(p, b.kept[r.at:])
		r.at += n
		return n, false, nil
	case b.lost && r.at == 0:
		return 0, false, errBegun
	}
	return 0, b.end == nil, b.end
}

// fetch reads from the sender, after whoever is reading from it now.
func (r *reader) fetch(p []byte) (int, error) {
	b := r.body
	b.turn.Lock()
	defer b.turn.Unlock()
	if n, waits, err := r.recall(p); !waits {
		return n, err
	}
	n, err := b.src.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = err
	r.keep(p[:n])
	switch {
	case b.current != r:
		return 0, ErrLeft
	case n > 0 && err != nil && err != io.EOF:
		err = nil // the bytes first, what broke with the next call
	}
	r.at += n
	return n, err
}

// keep stores what was read. What an attempt that is over has read belongs to
// its successor, whatever its length: it has not been sent.
func (r *reader) keep(p []byte) {
	b := r.body
	switch {
	case b.lost || len(p) == 0:
	case b.current == r && len(b.kept)+len(p) > b.most:
		b.lost, b.kept = true, nil
	default:
		b.kept = append(b.kept, p...)
	}
}
