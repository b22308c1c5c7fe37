package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/kalan-go/kalan/cmd/internal/report"
	"github.com/kalan-go/kalan/sim"
)

// A page is the file that a report goes to. It is opened before anything is
// played, so that nobody waits for half an hour to learn that there is no such
// directory, and keeps what it has until there is something to write.
type page struct {
	file  *os.File
	fresh bool // it was not there before
}

// open opens the file of that name; none without a name.
func (p *page) open(name string) (err error) {
	if name == "" {
		return nil
	}
	_, err = os.Stat(name)
	p.fresh = errors.Is(err, fs.ErrNotExist)
	p.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o666)
	return err
}

// write writes the report in the place of what was there.
func (p *page) write(r *sim.Result, o report.Options) error {
	p.fresh = false
	if info, err := p.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := p.file.Truncate(0); err != nil {
			return err
		}
	}
	return report.Write(p.file, r, o)
}

// close closes the file, and takes it away if nothing was written.
func (p *page) close() {
	if p.file == nil {
		return
	}
	p.file.Close()
	if p.fresh {
		os.Remove(p.file.Name())
	}
}
