package replay

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sent is a body that counts how often it is closed.
type sent struct {
	io.Reader
	closed  atomic.Int32
	reading atomic.Bool
	begun   chan struct{} // closed when somebody reads, unless nil
}

func (s *sent) Read(p []byte) (int, error) {
	s.reading.Store(true)
	defer s.reading.Store(false)
	if s.begun != nil {
		close(s.begun)
	}
	return s.Reader.Read(p)
}

func (s *sent) Close() error {
	if s.reading.Load() {
		return errors.New("closed while somebody reads")
	}
	s.closed.Add(1)
	return nil
}

func text(n int) string {
	draw := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + draw.IntN(26))
	}
	return string(b)
}

func read(t testing.TB, r io.Reader) string {
	t.Helper()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%v after %d bytes", err, len(all))
	}
	return string(all)
}

// TestEachAttemptReadsTheSameBytes is the heart of O-16: the transport closes
// what it was given, unread or half read.
func TestEachAttemptReadsTheSameBytes(t *testing.T) {
	for _, size := range []int{0, 1, 1024, 4096} {
		src := &sent{Reader: iotest.OneByteReader(strings.NewReader(text(size)))}
		b := New(src, 4096)
		b.Attempt(nil).Close()
		half := b.Attempt(nil)
		io.CopyN(io.Discard, half, int64(size/2))
		half.Close()
		if got := read(t, b.Attempt(nil)); got != text(size) {
			t.Errorf("%d bytes: the third attempt read %d others", size, len(got))
		}
		if got := read(t, b.Attempt(nil)); got != text(size) || !b.Whole() {
			t.Errorf("%d bytes: the fourth attempt read %d others", size, len(got))
		}
		b.Close()
		b.Close()
		if n := src.closed.Load(); n != 1 {
			t.Errorf("closed %d times", n)
		}
	}
}

func TestWhatOutgrowsTheCapCannotBeRepeated(t *testing.T) {
	b := New(&sent{Reader: strings.NewReader(text(5000))}, 4096)
	first := b.Attempt(nil)
	io.CopyN(io.Discard, first, 4000)
	if !b.Leave(nil) {
		t.Error("4,000 of 4,096 bytes are not kept")
	}
	if got := read(t, b.Attempt(nil)); got != text(5000) {
		t.Errorf("the second attempt read %d bytes", len(got))
	}
	if b.Leave(nil) || b.Whole() || !b.Ended() {
		t.Error("5,000 of 4,096 bytes are kept")
	}
	if _, err := b.Attempt(nil).Read(make([]byte, 1)); !errors.Is(err, errBegun) {
		t.Errorf("the third attempt begins in the middle: %v", err)
	}
}

func TestALateAttemptDoesNotEndItsSuccessor(t *testing.T) {
	b := New(&sent{Reader: strings.NewReader("hello")}, 16)
	late := b.Attempt(nil)
	next := b.Attempt(nil)
	if !b.Leave(late) || read(t, next) != "hello" {
		t.Error("the late attempt took its successor's body")
	}
}

func TestLoad(t *testing.T) {
	b := New(&sent{Reader: iotest.HalfReader(strings.NewReader("hello"))}, 16)
	if err := b.Load(5); err != nil || !b.Whole() {
		t.Fatal(err)
	}
	first := b.Attempt(nil)
	if read(t, first) != "hello" || read(t, b.Attempt(nil)) != "hello" || b.Broken() != nil {
		t.Error("a loaded body is not read again")
	}
	short := New(&sent{Reader: strings.NewReader("hell")}, 16)
	if err := short.Load(5); err != io.ErrUnexpectedEOF || short.Broken() != err || short.Leave(nil) {
		t.Errorf("a body that is too short: %v, broken %v", err, short.Broken())
	}
}

// offers is a reader that keeps the size of every buffer that it is given.
type offers struct {
	io.Reader
	sizes []int
}

func (o *offers) Read(p []byte) (int, error) {
	o.sizes = append(o.sizes, len(p))
	return o.Reader.Read(p)
}

// TestAnAnnouncementCostsNoMemory: twenty thousand connections that announce 64
// KiB each and send nothing are 80 MiB, and would be 1.3 GiB.
func TestAnAnnouncementCostsNoMemory(t *testing.T) {
	src := &offers{Reader: strings.NewReader(text(64 << 10))}
	b := New(&sent{Reader: src}, 64<<10)
	if err := b.Load(64 << 10); err != nil || read(t, b.Attempt(nil)) != text(64<<10) {
		t.Fatal("the body is another", err)
	}
	if want := []int{4 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10}; !slices.Equal(src.sizes, want) || cap(b.kept) != 64<<10 {
		t.Errorf("there was room for %v bytes at a time, want %v; %d are kept", src.sizes, want, cap(b.kept))
	}
}

// TestABodyThatEndsEarlyIsBroken: wherever it ends.
func TestABodyThatEndsEarlyIsBroken(t *testing.T) {
	for _, came := range []int{0, 1, believed - 1, believed, believed + 1, 2 * believed} {
		b := New(&sent{Reader: strings.NewReader(text(came))}, 64<<10)
		if err := b.Load(2*believed + 1); err != io.ErrUnexpectedEOF || b.Broken() != err || b.Ended() {
			t.Errorf("after %d bytes: %v, broken %v", came, err, b.Broken())
		}
	}
}

func TestASmallBodyIsOneAllocation(t *testing.T) {
	src := strings.NewReader(text(believed))
	if n := testing.AllocsPerRun(100, func() {
		src.Seek(0, io.SeekStart)
		if kept, err := collect(src, believed); err != nil || len(kept) != believed {
			t.Fatal(err)
		}
	}); n != 1 {
		t.Errorf("%v allocations, want the body's", n)
	}
}

func TestTheSenderIsAtFaultWhenItsBodyBreaks(t *testing.T) {
	broke := errors.New("reset by peer")
	b := New(&sent{Reader: io.MultiReader(strings.NewReader("he"), iotest.ErrReader(broke))}, 16)
	got, err := io.ReadAll(b.Attempt(nil))
	if string(got) != "he" || err != broke || b.Broken() != broke || b.Leave(nil) {
		t.Errorf("%q, %v, broken %v", got, err, b.Broken())
	}
}

func TestEndedIsCalledOnceForEachAttempt(t *testing.T) {
	b := New(&sent{Reader: strings.NewReader("hello")}, 16)
	for attempt := range 2 {
		calls := 0
		r := b.Attempt(func() { calls++ })
		read(t, r)
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF || calls != 1 {
			t.Errorf("attempt %d: %d calls; then %d, %v", attempt, calls, n, err)
		}
	}
}

// TestWhatALateReaderGetsBelongsToItsSuccessor: the transport's goroutine still
// waits for the sender when the attempt is over.
func TestWhatALateReaderGetsBelongsToItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, sender := io.Pipe()
		b := New(src, 4)
		late, answers := b.Attempt(nil), make(chan error)
		go func() {
			_, err := late.Read(make([]byte, 100))
			answers <- err
		}()
		synctest.Wait()
		if !b.Leave(nil) {
			t.Fatal("nothing was read, and yet it cannot be repeated")
		}
		next := b.Attempt(nil)
		go io.WriteString(sender, "hello, you")
		if err := <-answers; err != ErrLeft {
			t.Errorf("the late reader: %v", err)
		}
		go sender.Close()
		if got := read(t, next); got != "hello, you" {
			t.Errorf("its successor read %q", got)
		}
		b.Close()
	})
}

func TestTheOwnerWaitsForWhoeverReads(t *testing.T) {
	pipe, sender := io.Pipe()
	src := &sent{Reader: pipe, begun: make(chan struct{})}
	b := New(src, 4)
	r, answers := b.Attempt(nil), make(chan error)
	go func() {
		_, err := r.Read(make([]byte, 100))
		answers <- err
	}()
	<-src.begun
	b.Leave(nil)
	closed := make(chan error)
	go func() {
		b.Wait()
		closed <- b.Close()
	}()
	go sender.CloseWithError(io.ErrClosedPipe)
	if err := <-answers; err != ErrLeft {
		t.Errorf("the reader: %v", err)
	}
	if err := <-closed; err != nil || src.closed.Load() != 1 {
		t.Errorf("%v, closed %d times", err, src.closed.Load())
	}
}

// TestAnyAttemptsReadThePrefix: whatever earlier attempts read, a later one
// reads the same from the beginning, or is told that it cannot.
func TestAnyAttemptsReadThePrefix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size, most := rapid.IntRange(0, 300).Draw(rt, "size"), rapid.IntRange(0, 300).Draw(rt, "most")
		b := New(&sent{Reader: iotest.HalfReader(strings.NewReader(text(size)))}, most)
		for range rapid.IntRange(1, 5).Draw(rt, "attempts") {
			again := b.Leave(nil)
			r := b.Attempt(nil)
			want := rapid.IntRange(0, 400).Draw(rt, "read")
			got, err := io.ReadAll(io.LimitReader(r, int64(want)))
			if !again && want > 0 && err != errBegun {
				rt.Fatalf("it cannot be repeated, and %d bytes were read: %v", len(got), err)
			}
			if again && (err != nil || !bytes.Equal(got, []byte(text(size)[:min(want, size)]))) {
				rt.Fatalf("it can be repeated, and %d of %d bytes were read: %v", len(got), want, err)
			}
			if len(b.kept) > most {
				rt.Fatalf("%d bytes are kept", len(b.kept))
			}
		}
	})
}
