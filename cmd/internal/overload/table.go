package overload

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Line is what one run of a case came to, as one line of a file.
type Line struct {
	Subject string   `json:"subject"`
	Case    string   `json:"case"`
	Figures []Figure `json:"figures"`
}

// Read reads the lines of a file.
func Read(r io.Reader) (lines []Line, err error) {
	for decoder := json.NewDecoder(r); ; {
		var l Line
		if err := decoder.Decode(&l); err == io.EOF {
			return lines, nil
		} else if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(lines)+1, err)
		}
		lines = append(lines, l)
	}
}

// A Table holds the medians of all runs, subjects side by side.
type Table struct {
	subjects []string
	rows     []*row
}

// A row is one figure of one case.
type row struct {
	in     string
	figure Figure
	seen   map[string][]float64 // by subject
}

// NewTable puts the lines side by side. Cases and figures are in the order in
// which the first subject has them.
func NewTable(lines []Line) *Table {
	t := &Table{}
	for _, l := range lines {
		if !slices.Contains(t.subjects, l.Subject) {
			t.subjects = append(t.subjects, l.Subject)
		}
		for _, f := range l.Figures {
			r := t.row(l.Case, f)
			r.seen[l.Subject] = append(r.seen[l.Subject], f.Value)
		}
	}
	return t
}

func (t *Table) row(in string, f Figure) *row {
	after := len(t.rows)
	for i, r := range t.rows {
		if r.in == in {
			if after = i + 1; r.figure.Name == f.Name {
				return r
			}
		}
	}
	r := &row{in, f, make(map[string][]float64)}
	t.rows = slices.Insert(t.rows, after, r)
	return r
}

// median returns the middle of what was seen of a subject, and whether it was
// seen at all.
func (r *row) median(subject string) (Figure, bool) {
	seen := slices.Sorted(slices.Values(r.seen[subject]))
	f := r.figure
	if len(seen) == 0 {
		return f, false
	}
	f.Value = seen[len(seen)/2]
	return f, true
}

// Write prints the table. A value behind "!" has not reached its mark.
func (t *Table) Write(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "case\tfigure\tmark\t%s\n", strings.Join(t.subjects, "\t"))
	last := ""
	for _, r := range t.rows {
		in := r.in
		if in == last {
			in = ""
		}
		last = r.in
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", in, r.figure.Name, r.figure.mark(), strings.Join(t.cells(r), "\t"))
	}
	return out.Flush()
}

// cells are what was seen of each subject, a dash where nothing was.
func (t *Table) cells(r *row) []string {
	cells := make([]string, len(t.subjects))
	for i, s := range t.subjects {
		cells[i] = "-"
		if f, seen := r.median(s); seen {
			cells[i] = f.text()
		}
	}
	return cells
}

// Missed returns the figures of a subject that have not reached their marks.
func (t *Table) Missed(subject string) (missed []string) {
	for _, r := range t.rows {
		if f, seen := r.median(subject); seen && !f.Reached() {
			missed = append(missed, fmt.Sprintf("%s: %s is %.4g %s, and has to be %s", r.in, f.Name, f.Value, f.Unit, f.mark()))
		}
	}
	return missed
}

func (f Figure) mark() string {
	sign := ">="
	if f.Most {
		sign = "<="
	}
	return fmt.Sprintf("%s %.4g %s", sign, f.Mark, f.Unit)
}

func (f Figure) text() string {
	sign := ""
	if !f.Reached() {
		sign = "! "
	}
	return fmt.Sprintf("%s%.3g %s", sign, f.Value, f.Unit)
}
