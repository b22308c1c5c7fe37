package replay

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

var (
	errLeft  = errors.New("replay: this attempt is over")
	errBegun = errors.New("replay: the beginning of the body is not kept any more")
)

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
	kept := make([]byte, length)
	_, err := io.ReadFull(b.src, kept)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end = err; err == nil {
		b.kept, b.end = kept, io.EOF
	}
	return err
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

// Leave ends the running attempt's reader and reports whether another attempt
// could be given the same bytes.
func (b *Body) Leave() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = nil
	return !b.lost && (b.end == nil || b.end == io.EOF)
}

// Close ends the running attempt's reader and closes the real body, once. When
// somebody waits for the sender at this moment, wake is called first: it has
// to make that read return.
func (b *Body) Close(wake func()) error {
	b.Leave()
	if !b.turn.TryLock() {
		wake()
		b.turn.Lock()
	}
	defer b.turn.Unlock()
	var err error
	b.shut.Do(func() { err = b.src.Close() })
	return err
}
