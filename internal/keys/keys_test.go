package keys

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

type house struct {
	Name  string         `yaml:"name"`
	Doors []door         `yaml:"doors" keyed:"Name"`
	Rooms []room         `yaml:"rooms"`
	Words map[string]int `yaml:"words"`
	Back  span.Range     `yaml:"back"`
	Heat  *heat          `yaml:"heat"`
	Heat2 heat           `yaml:"second"`
	Away  int            `yaml:"-"`
	Inner `yaml:",inline"`
	seen  bool
}

type (
	Inner struct {
		Wait time.Duration `yaml:"wait" zero:"none"`
	}
	door struct {
		Name  string `yaml:"-"`
		Width int    `yaml:"width"`
	}
	room struct {
		Size float64 `yaml:"size"`
	}
	heat struct {
		On bool `yaml:"on"`
	}
)

func TestAllNamesEveryKey(t *testing.T) {
	got := strings.Join(All(reflect.TypeFor[house]()), " ")
	want := "name doors doors.<name>.width rooms rooms[].size words back heat heat.on second second.on wait"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWalkVisitsEveryScalar(t *testing.T) {
	h := house{
		Name: "n", Doors: []door{{"west", 2}, {"a.b", 1}}, Rooms: []room{{1.5}}, Words: map[string]int{"z": 1, "b": 2},
		Inner: Inner{Wait: time.Second}, seen: true,
	}
	var got []string
	Walk(reflect.ValueOf(h), func(path string, f Field, v reflect.Value) {
		got = append(got, fmt.Sprintf("%s=%v,%v", path, v.Interface(), f.None))
	})
	want := `name=n,false doors.west.width=2,false doors."a.b".width=1,false rooms[0].size=1.5,false ` +
		`words.b=2,false words.z=1,false back=0s,false second.on=false,false wait=1s,true`
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestAFieldWithoutATagPanics(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "Lost") {
			t.Errorf("panic %q does not name the field", r)
		}
	}()
	Of(reflect.TypeFor[struct {
		Kept int `yaml:"kept"`
		Lost int
	}]())
}

func TestJoinKeepsPathsOnOneLine(t *testing.T) {
	for key, want := range map[string]string{
		"slow": "p.slow", "a.b": `p."a.b"`, "": `p.""`, "\x1b[31m\n": `p."\x1b[31m\n"`,
		strings.Repeat("x", 99): `p."` + strings.Repeat("x", 64) + `"`,
	} {
		if got := Join("p", key); got != want {
			t.Errorf("%q gave %s, want %s", key, got, want)
		}
	}
}
