package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/kalan-go/kalan/cmd/internal/config"
	"github.com/kalan-go/kalan/cmd/internal/schema"
	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/span"
)

// forms say how the types are written that read themselves.
var forms = map[reflect.Type]schema.Node{
	reflect.TypeFor[settings.Defences](): {"enum": []string{"on", "off", "observe"}},
	reflect.TypeFor[settings.Network]():  {"type": "string", "pattern": `^[0-9a-fA-F.:]+(/[0-9]{1,3})?$`},
	reflect.TypeFor[settings.Match]():    {"type": "string", "pattern": `^([A-Z]+ )?/[^?#*{} ]*$`},
	reflect.TypeFor[span.Range]():        {"type": "string", "pattern": `^[0-9.]+[a-zµ]+[0-9.a-zµ]*(-[0-9.]+[a-zµ]+[0-9.a-zµ]*)?$`},
	reflect.TypeFor[limit.Config]():      {"anyOf": []any{schema.Node{"type": "integer", "minimum": 1}, schema.Node{"enum": []string{"adaptive", "none"}}}},
	reflect.TypeFor[breaker.Mode]():      {"enum": []string{"auto", "open", "closed", "disabled", "observe"}},
	reflect.TypeFor[retry.Hedge]():       {"type": "string", "pattern": `^(off|p[0-9.]+|[0-9.]+[a-zµ]+[0-9.a-zµ]*)$`},
	reflect.TypeFor[retry.Jitter]():      {"enum": []string{"full", "equal", "decorrelated", "constant", "at_once"}},
}

// example is a file in which every list and block has one element.
const example = `
upstreams: {bridge: {addresses: ["http://127.0.0.1:9101"]}}
routes: [{match: /, upstream: bridge}]
`

func makeSchema(t *testing.T) []byte {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%v: add it to forms in this file", r)
		}
	}()
	notes, err := schema.ReadNotes(filepath.Join("..", ".."), "github.com/kalan-go/kalan", []string{
		"internal/settings", "policy/stack", "policy/room", "policy/breaker", "policy/retry", "policy/budget", "policy/limit", "policy/throttle"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(schema.Describer{
		Notes: notes, Forms: forms, Defaults: defaults(t),
		Words: map[string][]string{
			"routes[].idempotency_key":           {"accepted", "required"},
			"upstreams.<name>.failures.errors[]": {"connect", "timeout", "reset"},
		},
		Required: map[string][]string{"": {"upstreams", "routes"}, "upstreams.<name>": {"addresses"}, "routes[]": {"match", "upstream"},
			"tls": {"certificate", "key"}},
	}.Of(reflect.TypeFor[settings.File](), "kalan.yaml"), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// defaults are the values that a file gets for what it leaves out.
func defaults(t *testing.T) map[string]any {
	t.Helper()
	file, _, err := config.Read("kalan.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]any)
	keys.Walk(reflect.ValueOf(file), func(path string, _ keys.Field, v reflect.Value) {
		if !v.IsZero() && !strings.Contains(path, "addresses") && !strings.HasPrefix(path, "routes") {
			all[strings.Replace(path, "bridge", "<name>", 1)] = written(v)
		}
	})
	return all
}

// written is a value as it stands in a file.
func written(v reflect.Value) any {
	if v.CanInt() && !keys.IsDuration(v.Type()) || v.CanFloat() || v.Kind() == reflect.String {
		return v.Interface()
	}
	text := fmt.Sprint(v.Interface())
	if m, ok := v.Interface().(interface{ MarshalText() ([]byte, error) }); ok {
		b, _ := m.MarshalText()
		text = string(b)
	}
	return text
}

func TestSchemaSaysWhatTheTypesSay(t *testing.T) {
	golden.File(t, "kalan.schema.json", string(makeSchema(t)))
}

func TestSchemaKnowsTheKeysThatTheReaderKnows(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(fileSchema, &root); err != nil {
		t.Fatal(err)
	}
	got := slices.Collect(maps.Keys(nodesOf("", root)))
	want := keys.All(reflect.TypeFor[settings.File]())
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the schema has\n%v\nthe reader\n%v\nrun go test ./cmd/kalan -run Schema -update", got, want)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(fileSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("kalan.schema.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("kalan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return s.Validate(document)
}

func TestSchemaTakesTheExamples(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../internal/config/testdata/documented.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(t, s, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSchemaAndReaderRefuseTheSame(t *testing.T) {
	s := compiled(t)
	for _, spoilt := range []string{
		"wokers: 1", "workers: many", "workers: -1", "listen: 8080", "grace: 30", "grace: -5s", "drain: {delay: 1}", "drain: 5s", "trust: 10.0.0.0/8", "trust: [here]",
		"defences: maybe", "deadline: {default: soon}",
		"upstreams: {bridge: {addresses: [\"http://127.0.0.1:9101\"], limit: 0}}", "upstreams: {bridge: {addresses: [\"http://127.0.0.1:9101\"], breaker: {mode: off}}}",
		"upstreams: {bridge: {addresses: [\"http://127.0.0.1:9101\"], retry: {jitter: much}}}", "upstreams: {bridge: {}}", "upstreams: []", "routes: {}",
		"routes: [{match: orders, upstream: bridge}]", "routes: [{match: /, upstream: bridge, idempotency_key: maybe}]",
		"upstreams: {bridge: {addresses: [\"http://127.0.0.1:9101\"], failures: {errors: [oops]}}}", "upstreams: {bridge: {addresses: [\"http://127.0.0.1:9101\"], room: {retry_after: 5}}}",
	} {
		key, _, _ := strings.Cut(spoilt, ":")
		text := []byte(regexp.MustCompile(`(?m)^`+key+`:.*\n`).ReplaceAllString(example, "") + spoilt + "\n")
		if err := valid(t, s, text); err == nil {
			t.Errorf("the schema takes %s", spoilt)
		}
		if _, _, err := config.Read("kalan.yaml", text); err == nil {
			t.Errorf("the reader takes %s", spoilt)
		}
	}
	for _, good := range []string{"drain: {delay: 0, finish: 1s500ms}", "workers: 200", "trust: [10.0.0.0/8, \"::1\"]", "deadline: {default: 0, margin: 0.5ms}"} {
		text := []byte(example + good + "\n")
		if err := valid(t, s, text); err != nil {
			t.Errorf("the schema refuses %s: %v", good, err)
		}
		if _, _, err := config.Read("kalan.yaml", text); err != nil {
			t.Errorf("the reader refuses %s: %v", good, err)
		}
	}
}

// Every form that the schema lists is one that its type reads.
func TestSchemaListsWordsThatAreRead(t *testing.T) {
	for form, n := range forms {
		words, _ := n["enum"].([]string)
		for _, word := range words {
			v := reflect.New(form).Interface().(interface{ UnmarshalText([]byte) error })
			if err := v.UnmarshalText([]byte(word)); err != nil {
				t.Errorf("%s: %v", form, err)
			}
		}
	}
}

func TestSchemaExplainsEveryKey(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(fileSchema, &root); err != nil {
		t.Fatal(err)
	}
	for path, n := range nodesOf("", root) {
		if n["description"] == nil {
			t.Errorf("%s: its field has no comment", path)
		}
	}
}

// nodesOf returns the properties of a schema, those below them too, by path.
func nodesOf(path string, n map[string]any) map[string]map[string]any {
	all := make(map[string]map[string]any)
	below := func(path string, child any) {
		if n, ok := child.(map[string]any); ok {
			maps.Copy(all, nodesOf(path, n))
		}
	}
	properties, _ := n["properties"].(map[string]any)
	for key, child := range properties {
		all[keys.Join(path, key)] = child.(map[string]any)
		below(keys.Join(path, key), child)
	}
	below(keys.Join(path, "<name>"), n["additionalProperties"])
	below(path+"[]", n["items"])
	return all
}
