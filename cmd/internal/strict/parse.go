package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kalan-go/kalan/policy"
	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

const (
	maxSize   = 1 << 20
	maxValues = 100_000
	maxDepth  = 64
)

// A source is the text of a file.
type source struct {
	file  string
	text  []byte
	lines int
}

func newSource(file string, text []byte) source {
	return source{file, text, bytes.Count(text, []byte("\n")) + 1}
}

// at is a position in the file. The parser stands behind the last line when
// something is missing there; nobody can go there to write it.
func (s source) at(line, column int) Position {
	if line > s.lines {
		last := s.text[bytes.LastIndexByte(s.text, '\n')+1:]
		return Position{s.file, s.lines, utf8.RuneCount(last) + 1}
	}
	return Position{s.file, max(line, 1), max(column, 1)}
}

// parse returns the one mapping, list or scalar that the text holds.
func (s source) parse() (*yaml.Node, *Problem) {
	if len(s.text) > maxSize {
		return nil, problemAt(s.at(1, 1), "the file has more than %d bytes, which is the most that is read; write less into it", maxSize)
	}
	if p := s.checkCharacters(); p != nil {
		return nil, p
	}
	// Doubled keys are the decoder's business: the library's own check knows
	// neither the path nor the first of the two.
	loader, err := yaml.NewLoader(bytes.NewReader(s.text), yaml.WithUniqueKeys(false),
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		return nil, problemAt(s.at(1, 1), "%v", err)
	}
	root, err := load(loader)
	switch {
	case err == io.EOF || err == nil && root.ShortTag() == "!!null":
		return nil, problemAt(s.at(1, 1), "the file is empty; --help names one to begin with")
	case err != nil:
		return nil, s.syntax(err)
	}
	switch second, err := load(loader); {
	case err == nil:
		return nil, problemAt(s.at(second.Line, second.Column), "a second document begins here; one file holds one, so remove the line --- or make two files")
	case err != io.EOF:
		return nil, s.syntax(err)
	}
	return root, nil
}

// load reads the next document. A panic of the parser on hostile text is a
// syntax error and not the end of a process that was asked to reload.
func load(loader *yaml.Loader) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	var doc yaml.Node
	if err := loader.Load(&doc); err != nil {
		return nil, err
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		return doc.Content[0], nil
	}
	return &doc, nil
}

// checkCharacters finds what is not text: the parser refuses it too, without
// saying where.
func (s source) checkCharacters() *Problem {
	text := s.text
	line, column := 1, 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return problemAt(Position{s.file, line, column}, "byte 0x%02x is not UTF-8; save the file as UTF-8", text[i])
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f, r >= 0x80 && r < 0xa0 && r != 0x85:
			return problemAt(Position{s.file, line, column}, "control character %U; remove it", r)
		}
		i, column = i+size, column+1
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return nil
}

// syntax makes a problem of what the parser says.
func (s source) syntax(err error) *Problem {
	at, message := s.at(1, 1), err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		message = load.Message
		if load.ContextMsg != "" {
			message = load.ContextMsg + ": " + message
		}
		at = s.at(load.Mark.Line, load.Mark.Column)
	}
	if indent(strings.Split(string(s.text), "\n")[at.Line-1]) {
		message = "a tab cannot indent; use spaces"
	}
	return problemAt(at, "syntax: %s", message)
}

// indent reports whether there is a tab in the white space that a line begins
// with.
func indent(line string) bool {
	return strings.Contains(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t")
}

func problemAt(at Position, text string, args ...any) *Problem {
	return &Problem{at, policy.Problem{Text: printable(fmt.Sprintf(text, args...))}}
}

// printable takes out what would break the line or drive the terminal: texts
// quote what the file says, and the file may be anybody's.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
