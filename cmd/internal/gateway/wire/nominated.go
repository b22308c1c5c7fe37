package wire

import (
	"bytes"
	"net/http"
)

// Nominated reads what the Connection lines of one answer name, out of the
// bytes that the answer comes in. http.Transport removes the header when it
// also says "close", and with it the names (O-29). The zero value is ready.
type Nominated struct {
	names  []string
	line   []byte // the beginning of a line whose end has not come
	begun  bool   // the status line is past
	early  bool   // and was that of an informational answer: another follows
	listed bool   // the last line was a Connection line
	done   bool
}

// See takes in the next bytes of the answer, and of whatever follows it.
func (n *Nominated) See(p []byte) {
	for !n.done && len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			n.line = append(n.line, p...) // the transport limits the length of a head
			return
		}
		line := p[:end]
		if len(n.line) > 0 {
			n.line = append(n.line, line...)
			line = n.line
		}
		n.take(bytes.TrimSuffix(line, []byte("\r")))
		n.line, p = n.line[:0], p[end+1:]
	}
}

func (n *Nominated) take(line []byte) {
	const name = "connection:"
	switch {
	case !n.begun:
		_, status, _ := bytes.Cut(line, []byte(" "))
		n.begun, n.early = true, len(status) > 0 && status[0] == '1'
	case len(line) == 0:
		n.done, n.begun, n.listed = !n.early, false, false
		if n.early { // what it names is its own, and there may be any number of them
			n.names = n.names[:0]
		}
	case n.listed && (line[0] == ' ' || line[0] == '\t'):
		n.list(line)
	case len(line) >= len(name) && bytes.EqualFold(line[:len(name)], []byte(name)):
		n.listed = true
		n.list(line[len(name):])
	default:
		n.listed = false
	}
}

func (n *Nominated) list(value []byte) {
	for token := range bytes.SplitSeq(value, []byte(",")) {
		token = bytes.Trim(token, " \t")
		if len(token) > 0 && !bytes.EqualFold(token, []byte("close")) && !bytes.EqualFold(token, []byte("keep-alive")) {
			n.names = append(n.names, string(token))
		}
	}
}

// remove deletes the named headers.
func (n *Nominated) remove(dst http.Header) {
	if n != nil {
		for _, name := range n.names {
			delete(dst, http.CanonicalHeaderKey(name))
		}
	}
}
