package policy

import "strings"

// A Problem is one thing that is wrong with a configuration, where it is, and
// what to write instead.
type Problem struct {
	// Path leads to the value, in the words of the configuration file:
	// "upstreams.bridge-a.breaker.slow".
	Path string
	// Text says what is wrong and what to do next.
	Text string
	// Warning marks a value that is allowed and probably not meant.
	Warning bool
}

// String returns "path: text".
func (p Problem) String() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// Problems is everything that is wrong with a configuration. Validate methods
// return all problems, not the first.
type Problems []Problem

// Under returns the problems with their paths moved below prefix.
func (ps Problems) Under(prefix string) Problems {
	moved := make(Problems, len(ps))
	for i, p := range ps {
		p.Path = strings.TrimSuffix(prefix+"."+p.Path, ".")
		moved[i] = p
	}
	return moved
}

// Errors returns the problems that are not warnings.
func (ps Problems) Errors() Problems {
	var errs Problems
	for _, p := range ps {
		if !p.Warning {
			errs = append(errs, p)
		}
	}
	return errs
}

// Err returns nil when no problem is more than a warning, and otherwise one
// error that lists all that are.
func (ps Problems) Err() error {
	if errs := ps.Errors(); len(errs) > 0 {
		return errs
	}
	return nil
}

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
