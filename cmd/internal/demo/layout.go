package demo

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A layout is what the demo has to know of a configuration file: who is asked
// for what, and where things listen. The gateway reads the same file strictly;
// here nothing else of it matters.
type layout struct {
	Listen   string `yaml:"listen"`
	Admin    string `yaml:"admin"`
	Deadline struct {
		Header string `yaml:"header"`
	} `yaml:"deadline"`
	Routes []struct {
		Match    string `yaml:"match"`
		Upstream string `yaml:"upstream"`
	} `yaml:"routes"`

	bridges []string // the upstreams, in the order of the file
}

func readLayout(text []byte) (layout, error) {
	var l layout
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return l, err
	}
	if err := document.Decode(&l); err != nil {
		return l, err
	}
	for _, pair := range pairs(value(&document, "upstreams")) {
		l.bridges = append(l.bridges, pair[0].Value)
	}
	if len(l.bridges) == 0 || len(l.Routes) == 0 {
		return l, fmt.Errorf("the demo needs upstreams and routes to them, and finds %d and %d", len(l.bridges), len(l.Routes))
	}
	l.Listen = cmp.Or(l.Listen, ":8080")
	l.Admin = cmp.Or(l.Admin, "127.0.0.1:9901")
	l.Deadline.Header = cmp.Or(l.Deadline.Header, "X-Remaining-Ms")
	return l, nil
}

// asks returns what a caller of the bridge asks for: the method of each route
// that leads there, and the beginning of its path, without a slash at the end.
func (l layout) asks(bridge string) [][2]string {
	var asks [][2]string
	for _, r := range l.Routes {
		method, path, ok := strings.Cut(r.Match, " ")
		if r.Upstream == bridge && ok {
			asks = append(asks, [2]string{method, strings.TrimSuffix(path, "/")})
		}
	}
	return asks
}

// relocate returns the configuration with its listeners, and the one address
// of each upstream, moved to other ports. Everything else stays as written.
func relocate(text []byte, listen, admin string, bridges map[string]string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	set(&document, "listen", listen)
	set(&document, "admin", admin)
	for _, pair := range pairs(value(&document, "upstreams")) {
		address, ok := bridges[pair[0].Value]
		addresses := value(pair[1], "addresses")
		if !ok || addresses == nil {
			return nil, fmt.Errorf("upstream %s has no bridge or no addresses", pair[0].Value)
		}
		addresses.Content = []*yaml.Node{scalar((&url.URL{Scheme: "http", Host: address}).String())}
	}
	return yaml.Marshal(&document)
}

// value returns the value of a key of a mapping, or nil.
func value(n *yaml.Node, key string) *yaml.Node {
	for _, pair := range pairs(n) {
		if pair[0].Value == key {
			return pair[1]
		}
	}
	return nil
}

// pairs returns the keys and values of a mapping, or of the mapping that a
// document consists of.
func pairs(n *yaml.Node) [][2]*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var all [][2]*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		all = append(all, [2]*yaml.Node{n.Content[i], n.Content[i+1]})
	}
	return all
}

// set gives a key of the document's mapping a text, and adds the key if there
// is none.
func set(document *yaml.Node, key, text string) {
	if at := value(document, key); at != nil {
		*at = *scalar(text)
		return
	}
	root := document.Content[0]
	root.Content = append(root.Content, scalar(key), scalar(text))
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// freeAddresses returns n loopback addresses that nobody listens on. Somebody
// else may take one before it is used; then the gateway says so.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}
