package strict

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// ReadFile returns the content of a file, as much as tells Decode that it is too
// large. It does not wait for somebody to open the other end of a pipe, which
// may be never: what mkfifo made is read when it has a writer, as what a shell
// makes of <(command) has, and is refused when it has none.
func ReadFile(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory; write the name of a file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(text) == 0 && info.Mode().Type() == os.ModeNamedPipe {
		return nil, fmt.Errorf("%s: is a pipe to which nobody writes; write the name of a file", name)
	}
	return text, err
}
