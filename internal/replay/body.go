package replay

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// ErrLeft is what a reader says when its attempt is over.
var ErrLeft = errors.New("replay: this attempt is over")

var errBegun = errors.New("replay: the beginning of the body is not kept any more")

// A Body is a request's body. Its methods may be called from any goroutine.
type Body struct {
	src  io.ReadCloser
	most int
	shut sync.Once
	turn sync.Mutex // held by the one that reads from src, which may take long

	mu      sync.Mutex // guards what follows; never held while reading
	current *reader
	kept    []byte
	lost    bool  // more has gone by than may be kept
	end     error // io.EOF, or what broke
}

// New returns the body that src sends, of which at most the given number of
// bytes is kept.
func New(src io.ReadCloser, most int) *Body {
	return &Body{src: src, most: most}
}

// Load reads a body whose length is known, whole.
func (b *Body) Load(length int) error {
	kept, err := collect(b.src, length)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end = err; err == nil {
		b.kept, b.end = kept, io.EOF
	}
	return err
}

// believed is the length for which there is memory before anything has come. It
// holds most bodies, and is no more than net/http has for any connection.
const believed = 4 << 10

// collect reads so many bytes. What is announced costs its sender nothing, so
// beyond what is believed, memory at most doubles what has really come.
func collect(src io.Reader, length int) ([]byte, error) {
	var kept []byte
	for have := 0; have < length; have = len(kept) {
		more := make([]byte, min(length, max(2*have, believed)))
		copy(more, kept)
		kept = more
		switch _, err := io.ReadFull(src, kept[have:]); err {
		case nil:
		case io.EOF:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
	return kept, nil
}

// Attempt returns the body from its beginning, for one attempt; the one before
// is over. It calls ended, which may be nil, before it says io.EOF.
func (b *Body) Attempt(ended func()) io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = &reader{body: b, ended: ended}
	if b.whole() && ended == nil {
		// net/http sends headers and body at once when it knows the reader.
		return io.NopCloser(bytes.NewReader(b.kept))
	}
	return b.current
}

// Whole reports whether the body has ended and is all there.
func (b *Body) Whole() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.whole()
}

func (b *Body) whole() bool { return b.end == io.EOF && !b.lost }

// Ended reports whether the sender has said everything.
func (b *Body) Ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end == io.EOF
}

// Broken returns the error with which the sender broke off, or nil.
func (b *Body) Broken() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end == io.EOF {
		return nil
	}
	return b.end
}

// Leave ends the reader of an attempt that is over, if it is still the running
// one's, and reports whether another attempt could be given the same bytes. A
// nil reader is whichever runs.
func (b *Body) Leave(of io.ReadCloser) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of == nil || of == io.ReadCloser(b.current) {
		b.current = nil
	}
	return !b.lost && (b.end == nil || b.end == io.EOF)
}

// Wait returns when nobody reads from the real body any more; after Leave
// nobody begins to. The owner makes a read that waits for the sender return.
func (b *Body) Wait() {
	b.turn.Lock()
	defer b.turn.Unlock()
}

// Close ends the running attempt's reader and closes the real body, once. Wait
// first.
func (b *Body) Close() error {
	b.Leave(nil)
	var err error
	b.shut.Do(func() { err = b.src.Close() })
	return err
}
