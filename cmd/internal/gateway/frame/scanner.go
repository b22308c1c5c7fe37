package frame

import (
	"bytes"
	"strconv"
)

type state uint8

const (
	firstLine state = iota // of a head
	headers
	counted // a body whose length is known
	size    // a chunk's size line
	chunk   // a chunk's bytes and the line end after them
	trailer
	lost // no more sense can be made of it: whatever follows is refused
)

// longest is the longest line of one of the two headers that is read: longer
// ones are not written in good faith.
const longest = 80

// A Scanner is told the bytes of one connection in order. The zero value is
// ready. It is not safe for concurrent use.
type Scanner struct {
	state state
	line  [longest]byte // the beginning of the line that is being read
	size  int           // of the line so far, also beyond what is kept
	left  int64         // bytes of the body or the chunk that are still to come

	heads   uint64 // complete heads
	bad     uint64 // the number of the first bad one, 0 if none
	old     bool   // the head is of HTTP/1.0
	length  bool   // it has Content-Length,
	coding  bool   // and Transfer-Encoding
	odd     bool   // one of the two is written as nobody does
	framing bool   // the last line was one of the two
}

// Bad returns the number of the first request, counted from 1, that must not
// be served, and 0 while there is none.
func (s *Scanner) Bad() uint64 { return s.bad }

// See takes in the next bytes.
func (s *Scanner) See(p []byte) {
	for len(p) > 0 && s.state != lost {
		if s.state == firstLine && s.size == 0 {
			// net/http passes over empty lines after a POST (RFC 9112, 2.2), and
			// serves nothing any more where it finds them elsewhere.
			if p = bytes.TrimLeft(p, "\r\n"); len(p) == 0 {
				return
			}
		}
		if s.state == counted || s.state == chunk {
			p = s.skip(p)
			continue
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			s.keep(p)
			return
		}
		s.keep(p[:end])
		p = p[end+1:]
		s.endLine()
	}
}

// skip passes over bytes of a body.
func (s *Scanner) skip(p []byte) []byte {
	if int64(len(p)) < s.left {
		s.left -= int64(len(p))
		return nil
	}
	p = p[s.left:]
	s.left = 0
	if s.state == counted {
		s.state = firstLine
	} else {
		s.state = size
	}
	return p
}

// keep adds to the line: to the beginning that is kept of a header, and to the
// end of a first line, where the version is.
func (s *Scanner) keep(p []byte) {
	if over := min(s.size, longest) + len(p) - longest; s.state == firstLine && over > 0 {
		kept := copy(s.line[:], s.line[min(over, min(s.size, longest)):min(s.size, longest)])
		copy(s.line[kept:], p[max(0, len(p)-longest):])
	} else if s.size < longest {
		copy(s.line[s.size:], p)
	}
	s.size += len(p)
}

func (s *Scanner) endLine() {
	whole := s.line[:min(s.size, longest)]
	line := bytes.TrimSuffix(whole, []byte("\r"))
	long := s.size > longest
	s.size = 0
	switch s.state {
	case firstLine:
		s.old = bytes.HasSuffix(line, []byte("HTTP/1.0"))
		s.state = headers
		s.length, s.coding, s.odd, s.framing, s.left = false, false, false, false, 0
	case headers:
		s.header(line, long)
	case size:
		s.chunkSize(line)
	case trailer:
		if len(whole) == len(line) {
			s.lose() // net/http takes no bare line feed here
		} else if len(line) == 0 {
			s.state = firstLine
		}
	}
}

// lose gives up: the next request is the first that must not be served.
func (s *Scanner) lose() {
	s.state = lost
	if s.bad == 0 {
		s.bad = s.heads + 1
	}
}

// header reads one header, or ends the head.
func (s *Scanner) header(line []byte, long bool) {
	switch {
	case len(line) == 0:
		s.endHead()
	case line[0] == ' ' || line[0] == '\t': // folded (RFC 9112, 5.2)
		s.odd = s.odd || s.framing
	case is(line, "content-length"):
		s.length, s.framing, s.odd = true, true, s.odd || long
		value := bytes.Trim(line[len("content-length")+1:], " \t")
		n, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil {
			s.odd = true
		}
		s.left = int64(n)
	case is(line, "transfer-encoding"):
		s.coding, s.framing, s.odd = true, true, s.odd || long
	default:
		s.framing = false
	}
}

// is reports whether the line is the header of that lower-case name.
func is(line []byte, name string) bool {
	return len(line) > len(name) && line[len(name)] == ':' && bytes.EqualFold(line[:len(name)], []byte(name))
}

func (s *Scanner) endHead() {
	s.heads++
	if s.bad == 0 && (s.odd || s.coding && (s.length || s.old)) {
		s.bad = s.heads
	}
	switch {
	case s.bad != 0:
		s.state = lost
	case s.coding:
		s.state = size
	case s.left > 0:
		s.state = counted
	default:
		s.state = firstLine
	}
}

// chunkSize reads "1f;extension".
func (s *Scanner) chunkSize(line []byte) {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	n, err := strconv.ParseUint(string(bytes.Trim(digits, " \t")), 16, 62)
	switch {
	case err != nil:
		s.lose()
	case n == 0:
		s.state = trailer
	default:
		s.state, s.left = chunk, int64(n)
		s.left += int64(len("\r\n"))
	}
}
