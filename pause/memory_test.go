package pause

import (
	"math"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
)

// tree makes a file system of paths and contents.
func tree(files ...string) fstest.MapFS {
	root := make(fstest.MapFS)
	for i := 0; i < len(files); i += 2 {
		root[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return root
}

func TestTheMemoryOfTheControlGroup(t *testing.T) {
	const v1 = "4:memory:/docker/abc\n9:name=systemd:/x:y\n0::/\n"
	for name, test := range map[string]struct {
		root fstest.MapFS
		want int64
	}{
		"bare machine":                 {tree(), 0},
		"no groups mounted":            {tree("proc/self/cgroup", "0::/\n"), 0},
		"version 2, no limit":          {tree("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "max\n"), 0},
		"version 2, container":         {tree("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "536870912\n"), 512 << 20},
		"version 2, the tightest wins": {tree("proc/self/cgroup", "0::/pod/app\n", "sys/fs/cgroup/pod/memory.max", "1000\n", "sys/fs/cgroup/pod/app/memory.max", "2000\n"), 1000},
		"version 2, outside the tree":  {tree("proc/self/cgroup", "0::/../../other\n", "sys/fs/cgroup/memory.max", "1000\n"), 1000},
		"version 1":                    {tree("proc/self/cgroup", v1, "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "1000\n"), 1000},
		"version 1, in a container":    {tree("proc/self/cgroup", v1, "sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n"), 1000},
		"version 1, no limit":          {tree("proc/self/cgroup", v1, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"), 0},
		"version 1, with others":       {tree("proc/self/cgroup", "4:cpu,memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000"), 1000},
		"nonsense":                     {tree("proc/self/cgroup", "\n:\n::\nx", "sys/fs/cgroup/memory.max", "lots"), 0},
		"less than nothing":            {tree("proc/self/cgroup", "0::/", "sys/fs/cgroup/memory.max", "-1"), 0},
		"more than there can be":       {tree("proc/self/cgroup", "0::/", "sys/fs/cgroup/memory.max", "99999999999999999999"), 0},
		"a path without an end":        {tree("proc/self/cgroup", "0::/"+strings.Repeat("a/", 1<<20), "sys/fs/cgroup/memory.max", "1000"), 1000},
	} {
		got, ok := memoryOf(test.root)
		if ok != (test.want > 0) || ok && got != test.want {
			t.Errorf("%s: %d, %v, want %d", name, got, ok, test.want)
		}
	}
}

// Whatever the files say, the limit is one that can be set.
func FuzzMemoryOf(f *testing.F) {
	f.Add("0::/a\n", "max", "1000")
	f.Add("4:memory:/a/b\n0::/\n", "1", "9223372036854771712")
	f.Add("4:memory:../..//:\n", "0x10", "-1")
	f.Fuzz(func(t *testing.T, cgroup, v2, v1 string) {
		limit, ok := memoryOf(tree("proc/self/cgroup", cgroup, "sys/fs/cgroup/memory.max", v2,
			"sys/fs/cgroup/a/memory.max", v1, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", v1))
		if ok && (limit < 1 || limit >= 1<<62) || !ok && limit != 0 && limit != math.MaxInt64 {
			t.Errorf("limit %d, %v", limit, ok)
		}
		v2group, v1group := groups(cgroup)
		for _, group := range []string{v2group, v1group} {
			if !path.IsAbs(group) || path.Clean(group) != group || len(group) > longestPath {
				t.Errorf("%q leads to %q", cgroup, group)
			}
		}
	})
}

func TestTheCollectorIsTold(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })

	t.Setenv("GOMEMLIMIT", "123456789")
	if got, err := LimitMemory(0); got != before || err != nil {
		t.Errorf("with GOMEMLIMIT: %d, %v, want %d unchanged", got, err, before)
	}
	t.Setenv("GOMEMLIMIT", "")
	allowed, ok := memoryOf(os.DirFS("/"))
	for share, part := range map[float64]float64{0: 0.9, 0.5: 0.5, 1: 1} {
		want := int64(0)
		if ok {
			want = int64(part * float64(allowed))
		}
		if got, err := LimitMemory(share); got != want || err != nil {
			t.Errorf("a share of %v of %d (%v): %d, %v", share, allowed, ok, got, err)
		}
		if set := debug.SetMemoryLimit(-1); ok && set != want {
			t.Errorf("the runtime has %d, want %d", set, want)
		}
	}
	for _, share := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := LimitMemory(share); err == nil {
			t.Errorf("a share of %v was accepted", share)
		}
	}
}

// The share of what the control group allows, wherever this runs.
func TestTheCollectorIsToldItsShare(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	t.Setenv("GOMEMLIMIT", "")
	root := tree("proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/memory.max", "10000000000")
	for share, want := range map[float64]int64{0: 9_000_000_000, .5: 5_000_000_000, 1: 10_000_000_000} {
		if got, err := limitMemory(root, share); got != want || err != nil || debug.SetMemoryLimit(-1) != want {
			t.Errorf("a share of %v: %d, %v, and the runtime has %d; want %d", share, got, err, debug.SetMemoryLimit(-1), want)
		}
	}
}
