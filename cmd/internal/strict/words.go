package strict

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// kind names what a node is, in the words of somebody who looks at the file.
func kind(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!map":
		return "a block"
	case "!!seq":
		return "a list"
	case "!!int", "!!float":
		return "the number " + shorten(n.Value)
	case "!!bool":
		return n.Value
	case "!!null":
		return "empty"
	}
	return "the text " + quote(n.Value)
}

// example is a scalar as it would stand in a list.
func example(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return shorten(n.Value)
	}
	return "..."
}

func quote(s string) string { return fmt.Sprintf("%q", shorten(s)) }

// shorten cuts a value that would fill the terminal.
func shorten(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}
