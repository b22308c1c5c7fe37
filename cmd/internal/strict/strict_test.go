package strict

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A shop is a configuration with a field of every kind.
type shop struct {
	Name     string         `yaml:"name"`
	Open     bool           `yaml:"open"`
	Waiting  int            `yaml:"waiting" zero:"none"`
	Seats    uint8          `yaml:"seats"`
	Share    float64        `yaml:"share"`
	Timeout  time.Duration  `yaml:"timeout"`
	Pause    time.Duration  `yaml:"pause" zero:"none"`
	Back     span.Range     `yaml:"back"`
	Limit    amount         `yaml:"limit"`
	Break    *pause         `yaml:"break"`
	Doors    []door         `yaml:"doors" keyed:"Name"`
	Shelves  []shelf        `yaml:"shelves"`
	Weights  map[string]int `yaml:"weights"`
	Words    []string       `yaml:"words"`
	Internal int            `yaml:"-"`
	Hours    `yaml:",inline"`
}

type Hours struct {
	From time.Duration `yaml:"from"`
}

type pause struct {
	Slow     time.Duration `yaml:"slow"`
	SlowRate float64       `yaml:"slow_rate"`
}

type door struct {
	Name  string `yaml:"-"`
	Width int    `yaml:"width"`
}

type shelf struct {
	Match string `yaml:"match"`
	Burst int    `yaml:"burst"`
}

// An amount is written as a word, or as a block.
type amount struct {
	Max int `yaml:"max"`
}

func (a *amount) UnmarshalText(text []byte) error {
	if string(text) != "all" {
		return fmt.Errorf("%q is not an amount; write all", text)
	}
	a.Max = 99
	return nil
}

func decode(t *testing.T, text string) (shop, *Doc, Problems) {
	t.Helper()
	var s shop
	doc, problems := Decode("shop.yaml", []byte(text), &s)
	return s, doc, problems
}

func TestDecodeReadsEveryKind(t *testing.T) {
	s, _, problems := decode(t, `
name: "corner"
open: true
waiting: 0
seats: 255
share: .5
timeout: 1m30s
pause: 0
back: 2s-5s
limit: all
break: {slow: 400ms}
doors:
  west: {width: 2}
  east: {width: 1}
shelves: [{match: a, burst: 3}]
weights: {gold: 4}
words: []
from: 9h
`)
	if problems != nil {
		t.Fatal(problems)
	}
	got := fmt.Sprintf("%+v %+v", s, *s.Break)
	want := `{Name:corner Open:true Waiting:-1 Seats:255 Share:0.5 Timeout:1m30s Pause:-1ns Back:2s-5s Limit:{Max:99} Break:` +
		fmt.Sprintf("%p", s.Break) + ` Doors:[{Name:west Width:2} {Name:east Width:1}] Shelves:[{Match:a Burst:3}] Weights:map[gold:4] ` +
		`Words:[] Internal:0 Hours:{From:9h0m0s}} {Slow:400ms SlowRate:0}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.Words == nil {
		t.Error("an empty list that was written is nil, as if it had not been")
	}
}

func TestDecodeKeepsWhatTheFileDoesNotName(t *testing.T) {
	s := shop{Seats: 7, Limit: amount{Max: 3}}
	if _, problems := Decode("f", []byte("limit: {}\nname: x\n"), &s); problems != nil {
		t.Fatal(problems)
	}
	if s.Seats != 7 || s.Limit.Max != 3 || s.Name != "x" {
		t.Errorf("got %+v", s)
	}
}

// Each of the files has its problems stated below it.
func TestProblems(t *testing.T) {
	var all strings.Builder
	for _, text := range []string{
		"", "# nothing\n", "---\n", "~\n", "[a]\n", "just words\n",
		"name: a\n---\nname: b\n", "name: a\n...\n: [", "name: a\n...\n",
		"name: [a\nopen: true\n", "name: \"a\nopen: true\n", "break:\n\tslow: 1s\n", "name: a: b\n", "name: *nowhere\n", "%YAML 3.0\n---\nname: a\n",
		"name: \xff\n", "open: true\nname: a\x00b\n", "\xff\xfen\x00:\x00", "name: caf\u0085\x1b[31m\n", "\ufeffname: bom\n",
		"nmae: x\n", "brek: {slwo: 1s}\nbreak: {slwo: 1s, slow: 2s, sloow: 3s}\n", "burts: 5\nslow: 1s\nxyzzy: 1\n",
		"'a\\n\x1b': 1\n", "\"a\\nb\\e[31m.c\": 1\n", "doors: {\"a.b\": {widht: 1}, \"\": {}, a b: {width: x}}\n",
		"open: true\nopen: nonsense\nbreak: {slow: 1s}\nbreak: {slow: 5, slow: 6}\n", "doors: {a: {width: 1}, a: {width: zwei}}\nweights: {a: 1, a: b}\n",
		"name: 8080\n", "name: true\n", "name: 1.5\n", "name: 2001-01-01\n", "name:\n", "name: null\nbreak:\ntimeout: ~\n", "name: [a]\n", "name: {a: b}\n",
		"open: yes\n", "open: 1\n", "open: 'true'\n",
		"waiting: -1\n", "waiting: 1.5\n", "waiting: 1e3\n", "waiting: '25'\n", "waiting: 010\n", "waiting: 0x10\n", "waiting: 99999999999999999999\n", "waiting: all\n",
		"seats: 256\n", "seats: -1\n",
		"share: .nan\n", "share: .inf\n", "share: -.INF\n", "share: NaN\n", "share: 1e999\n", "share: half\n", "share: '0.5'\n", "share: 0x1p-2\n",
		"back: 5s-2s\n", "back: 5\n", "limit: some\n", "limit: [all]\n", "limit: {max: 1, min: 2}\n", "limit: 5\n",
		"break: 400ms\n", "break: [slow]\n", "doors: [west]\n", "doors: west\n", "shelves: {match: a}\n", "shelves: a\n", "weights: 5\n", "words: a\n",
		"shelves:\n  - match: a\n  - burts: 5\n  - {match: b, burst: x}\n",
		"break: &b {slow: 1s}\nfrom: *b\n", "break: {<<: {slow: 1s}}\n", "<<: {name: a}\n", "? [a]\n: b\n", "? {a: b}\n: b\n", "~: a\n", "5: a\n", "*a : b\n",
		"shelves: &s [*s]\n", "name: !shout a\n", "name: !!str 5\n", "waiting: !!str 5\n", "name: !!binary aGk=\n", "timeout: !!int 5\n",
		"timeout: " + strings.Repeat("9", 5000) + "\n", "timeout: " + strings.Repeat("9", 100) + "\n",
		strings.Repeat("a", 300) + ": 1\n",
	} {
		_, _, problems := decode(t, text)
		printed := fmt.Sprintf("%q", text)
		if len(printed) > 200 {
			printed = printed[:200] + "..."
		}
		fmt.Fprintf(&all, "%s\n", printed)
		for _, p := range problems {
			fmt.Fprintf(&all, "    %s\n", p)
		}
	}
	golden.File(t, "testdata/problems.txt", all.String())
}

// O-39: a number without a unit was read as nanoseconds.
func TestADurationNeedsAUnit(t *testing.T) {
	for _, text := range []string{"600", "'600'", "''", "'-5s'", "-5s", "'1min'", "'inf'", "'1e3s'", "'nan'", ".inf", "1_000ms", "5 s"} {
		s, _, problems := decode(t, "timeout: "+text+"\n")
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), "shop.yaml:1:10: timeout: ") || s.Timeout != 0 {
			t.Errorf("timeout: %s gave %v and %v, want one problem that names the field", text, s.Timeout, problems)
		}
	}
	for text, want := range map[string]time.Duration{
		"'10s'": 10 * time.Second, "250ms": 250 * time.Millisecond, "1m30s": 90 * time.Second, "600ns": 600, "0": 0,
	} {
		if s, _, problems := decode(t, "timeout: "+text+"\n"); problems != nil || s.Timeout != want {
			t.Errorf("timeout: %s gave %v and %v, want %v", text, s.Timeout, problems, want)
		}
	}
}

func TestBoundsHoldAgainstHostileFiles(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("words: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 8; i++ {
		fmt.Fprintf(&bomb, "unknown%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	wide := "weights: {" + strings.Repeat("x: 1, ", 150_000) + "}\n"
	for name, text := range map[string]string{
		"alias bomb":       bomb.String(),
		"deep flow":        "words: " + strings.Repeat("[", 500_000),
		"deep maps":        strings.Repeat("a: {", 250_000),
		"deep block":       deepBlock(1000),
		"deep questions":   strings.Repeat("? ", 500_000),
		"deep dashes":      strings.Repeat("- ", 500_000),
		"too large":        "name: " + strings.Repeat("x", 1<<20) + "\n",
		"one long key":     strings.Repeat("x", 1<<20-20) + ": 1\n",
		"one long comment": "#" + strings.Repeat("x", 1<<20-2) + "\n",
		"doubled keys":     wide,
		"unknown keys":     manyKeys(80_000),
		"many anchors":     "words: [" + strings.Repeat("&a x, *a, ", 90_000) + "]\n",
		"quotes":           strings.Repeat("\"", 1<<20-1),
		"colons":           strings.Repeat(": ", 1<<19-1),
	} {
		t.Run(name, func(t *testing.T) {
			started := spent(t)
			_, _, problems := decode(t, text)
			if len(problems) == 0 {
				t.Error("nothing was wrong with it")
			}
			took := spent(t) - started
			if took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if printed := problems.Error(); len(printed) > 1<<20 {
				t.Errorf("%d bytes of problems", len(printed))
			}
			t.Logf("%v, %d problems: %.120s", took, len(problems), problems.Error())
		})
	}
}

// spent returns the processor time that the process has had: on the clock a
// machine that others use took half a minute for what takes two seconds.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func deepBlock(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "slo%d: 1\n", i)
	}
	return b.String()
}

func TestAnAliasIsReadWhereItStands(t *testing.T) {
	s, doc, problems := decode(t, "doors:\n  west: &d {width: 2, widht: 3}\n  east: *d\n")
	if len(s.Doors) != 2 || s.Doors[1] != (door{"east", 2}) {
		t.Errorf("got %+v", s.Doors)
	}
	want := "shop.yaml:2:23: doors.west.widht: unknown key; did you mean \"width\"?\n" +
		"shop.yaml:2:23: doors.east.widht: unknown key; did you mean \"width\"?"
	if problems.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", problems, want)
	}
	if at := doc.Locate("doors.east"); at != (Position{"shop.yaml", 3, 9}) {
		t.Errorf("doors.east is at %v", at)
	}
}

func TestLocate(t *testing.T) {
	_, doc, problems := decode(t, "name: x\nbreak:\n  slow: 1s\nshelves:\n  - {match: a}\n  - match: b\n    burst: 0\n")
	if problems != nil {
		t.Fatal(problems)
	}
	for path, want := range map[string]string{
		"name":               "1:7",
		"break":              "2:1",
		"break.slow":         "3:9",
		"break.slow_rate":    "2:1",
		"break.a.b.c":        "2:1",
		"shelves[0].match":   "5:13",
		"shelves[0].burst":   "5:5",
		"shelves[1]":         "6:5",
		"shelves[9].burst":   "4:1",
		"weights.gold":       "1:1",
		"":                   "1:1",
		"shelves[1].burst":   "7:12",
		"...]][.":            "1:1",
		"doors.\"a.b\".c[3]": "1:1",
	} {
		if got := doc.Locate(path).String(); got != "shop.yaml:"+want {
			t.Errorf("%q is at %s, want %s", path, got, want)
		}
	}
	if !doc.Written("break.slow") || doc.Written("break.slow_rate") || !doc.WrittenZero("shelves[1].burst") || doc.WrittenZero("name") {
		t.Error("what was written is not known")
	}
	if got := strings.Join(doc.Paths(), " "); got != "name break break.slow shelves shelves[0] shelves[0].match shelves[1] shelves[1].match shelves[1].burst" {
		t.Errorf("paths %s", got)
	}
}

func TestPlaceLeavesOutWhatCouldNotBeRead(t *testing.T) {
	_, doc, _ := decode(t, "break: {slow: 5}\nshelves:\n  - {mtach: a}\ntimeout: 1s\n")
	placed := doc.Place(policy.Problems{
		{Path: "timeout", Text: "too long", Warning: true},
		{Path: "break.slow", Text: "missing"},
		{Path: "shelves[0].match", Text: "missing"},
		{Path: "name", Text: "missing"},
	})
	want := "shop.yaml:1:1: name: missing\nshop.yaml:4:10: warning: timeout: too long"
	if placed.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", placed, want)
	}
	errs, warnings := placed.Split()
	if len(errs) != 1 || len(warnings) != 1 || placed.Err() == nil || warnings.Err() != nil {
		t.Errorf("%v and %v", errs, warnings)
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	_, _, problems := decode(t, manyKeys(1234))
	if lines := strings.Split(problems.Error(), "\n"); len(problems) != 1234 || len(lines) != 201 || lines[200] != "and 1034 more problems" {
		t.Errorf("%d problems, %d lines, the last %q", len(problems), len(lines), lines[len(lines)-1])
	}
}

func TestAFieldThatNoFileCanReachIsAMistakeInTheProgram(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("a field without a tag was passed over")
		}
	}()
	var into struct{ Lost int }
	Decode("f", []byte("a: 1\n"), &into)
}
