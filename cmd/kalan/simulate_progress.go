package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A progress tells a terminal how far a run is and how long it may take. The
// zero value tells nobody.
type progress struct {
	out         io.Writer // nil: there is no terminal
	name        string
	began, last time.Time
	now         func() time.Time
}

// newProgress returns one that tells out, if it is a terminal.
func newProgress(out io.Writer, name string) *progress {
	f, ok := out.(*os.File)
	if !ok || !isTerminal(f) {
		return &progress{}
	}
	return &progress{out: out, name: name, began: time.Now(), now: time.Now}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// tell returns what the simulator reports to, nil where nobody listens.
func (p *progress) tell() func(share float64) {
	if p.out == nil {
		return nil
	}
	return p.draw
}

// often is how often the line is drawn anew; before the first time nobody has
// begun to wonder.
const often = 500 * time.Millisecond

func (p *progress) draw(share float64) {
	now := p.now()
	if now.Sub(p.began) < 2*often || now.Sub(p.last) < often {
		return
	}
	p.last = now
	fmt.Fprintf(p.out, "\r\x1b[K%s", progressLine(p.name, share, now.Sub(p.began)))
}

// progressLine says how far a run is, in less than the 80 columns that every
// terminal has.
func progressLine(name string, share float64, took time.Duration) string {
	const wide, longest = 20, 24
	share = min(max(share, 0), 1)
	if letters := []rune(name); len(letters) > longest {
		name = string(letters[:longest-1]) + "…"
	}
	full := int(share * wide)
	line := fmt.Sprintf("%s [%s%s] %3.0f %%", name, strings.Repeat("=", full), strings.Repeat(" ", wide-full), 100*share)
	if share < 0.01 {
		return line // too early to say
	}
	left := time.Duration(float64(took) * (1 - share) / share)
	return line + ", about " + left.Round(time.Second).String() + " left"
}

// end takes the line away.
func (p *progress) end() {
	if p.out != nil && !p.last.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
