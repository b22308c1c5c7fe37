// Package house holds the rules of this repository as tests.
//
// A rule that is only written down is broken within a month, and nobody can
// say afterwards which lines rest on it. Each rule here is a function over
// parsed source, and a failure says where the rule is broken and why there is
// such a rule: the reader decides whether to mend the line or the rule.
//
// Every rule is also shown a source that breaks it and one that keeps it, so
// that a rule that has stopped seeing anything fails too.
package house
