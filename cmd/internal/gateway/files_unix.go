//go:build unix

package gateway

import "syscall"

// mostFiles returns how many files the process may open, 0 when that is not
// known. Go has raised it to the most that is allowed.
func mostFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<30))
}
