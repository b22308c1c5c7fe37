package pause

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// longestPath is Linux's PATH_MAX.
const longestPath = 4096

// LimitMemory tells the garbage collector to keep the process within a share of
// the memory that its control group allows, and returns the limit in bytes.
// share is between 0 and 1; 0 means 0.9, which leaves a tenth for what Go does
// not count: stacks of C, mapped files, the kernel's buffers.
//
// The limit is soft: near it the collector works harder. Where the environment
// variable GOMEMLIMIT is set, it is obeyed and nothing is changed. Where there
// is no limit to find, as on a bare machine, nothing is changed and the answer
// is 0.
func LimitMemory(share float64) (int64, error) { return limitMemory(os.DirFS("/"), share) }

func limitMemory(root fs.FS, share float64) (int64, error) {
	if share == 0 {
		share = 0.9
	}
	if !(share > 0 && share <= 1) { // NaN is neither
		return 0, fmt.Errorf("pause: a share of %v of the memory; write a number above 0 and up to 1, such as 0.9", share)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1), nil
	}
	allowed, ok := memoryOf(root)
	if !ok {
		return 0, nil
	}
	limit := int64(share * float64(allowed))
	debug.SetMemoryLimit(limit)
	return limit, nil
}

// memoryOf returns how many bytes the control group of this process may use:
// the least of what it and the groups around it allow, in version 2 and 1 of
// the interface. root is the file system's root, os.DirFS("/"). ok is false
// when no group has a limit, or when there are no groups to be found.
func memoryOf(root fs.FS) (limit int64, ok bool) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	v2, v1 := groups(string(text))
	limit = math.MaxInt64
	for _, kind := range [...]struct{ mount, group, file string }{
		{"sys/fs/cgroup", v2, "memory.max"},
		{"sys/fs/cgroup/memory", v1, "memory.limit_in_bytes"},
	} {
		limit = min(limit, least(root, kind.mount, kind.group, kind.file))
	}
	return limit, limit < math.MaxInt64
}

// groups reads proc/self/cgroup: lines "number:controllers:path", of which
// version 2 has one, with number 0 and no controllers. What is missing is the
// root group: a container that sees only its own tree is at the root of it.
func groups(text string) (v2, v1 string) {
	v2, v1 = "/", "/"
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		group := path.Clean("/" + parts[2])
		if len(group) > longestPath {
			continue // not the kernel's
		}
		if parts[0] == "0" && parts[1] == "" {
			v2 = group
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "memory" {
				v1 = group
			}
		}
	}
	return v2, v1
}

// least returns the smallest limit of a group and those around it.
func least(root fs.FS, mount, group, file string) int64 {
	smallest := int64(math.MaxInt64)
	for {
		if text, err := fs.ReadFile(root, path.Join(mount, group, file)); err == nil {
			smallest = min(smallest, parseLimit(string(text)))
		}
		if group == "/" {
			return smallest
		}
		group = path.Dir(group)
	}
}

// parseLimit reads a limit in bytes; everything that is not one is no limit:
// "max" in version 2, a number close to the largest there is in version 1. A
// group that allows nothing does not run this.
func parseLimit(text string) int64 {
	const unlimited = 1 << 62
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 || n >= unlimited {
		return math.MaxInt64
	}
	return n
}
