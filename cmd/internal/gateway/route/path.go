package route

import (
	"net/http"
	"net/url"
	"strings"
)

// An Error says why a request has no route, with the status that tells the
// caller.
type Error struct {
	Status int
	Detail string
	Allow  string // with 405: the methods that the path takes
}

func (e *Error) Error() string { return e.Detail }

var (
	errNotFound = &Error{Status: http.StatusNotFound, Detail: "no route takes this path"}
	errNotAPath = &Error{Status: http.StatusBadRequest, Detail: "the request target is not a path; send one that begins with a slash"}
	errAbove    = &Error{Status: http.StatusBadRequest, Detail: "the path leads above the root"}
	errTangled  = &Error{Status: http.StatusBadRequest, Detail: "the path can be read in too many ways; " +
		"send it shorter, or without escapes of escapes, backslashes, path parameters and empty segments"}
	errNul       = &Error{Status: http.StatusBadRequest, Detail: "the path contains a NUL byte"}
	errAmbiguous = &Error{Status: http.StatusBadRequest, Detail: "the path means different routes to different readers; " +
		"send it without encoded slashes and dots, backslashes, path parameters and empty segments"}
)

// Find returns the index of the route that takes a request of this method to
// u, and the URL to forward: u itself, or a copy with its dot segments
// resolved.
func (t *Table) Find(method string, u *url.URL) (int, *url.URL, *Error) {
	if !strings.HasPrefix(u.Path, "/") {
		return None, nil, errNotAPath
	}
	raw := u.EscapedPath()
	if isPlain(raw) {
		return t.route(method, u.Path, u)
	}
	return t.findOdd(method, u, raw)
}

func (t *Table) findOdd(method string, u *url.URL, raw string) (int, *url.URL, *Error) {
	if len(raw) > mostRead {
		return None, nil, errTangled
	}
	clean, ok := resolve(raw)
	if !ok {
		return None, nil, errAbove
	}
	if bad := t.dispute(method, raw, t.find(method, plainly(clean))); bad != nil {
		return None, nil, bad
	}
	if clean == raw {
		return t.route(method, plainly(clean), u)
	}
	moved := *u
	moved.RawPath = clean
	moved.Path, _ = url.PathUnescape(clean) // u.Path was decoded from the same escapes
	return t.Find(method, &moved)           // what is forwarded is judged as if it had come like that
}

func (t *Table) route(method, path string, onward *url.URL) (int, *url.URL, *Error) {
	switch i := t.find(method, path); i {
	case None:
		return None, nil, errNotFound
	case wrongMethod:
		return None, nil, &Error{http.StatusMethodNotAllowed, "no route takes this method on this path", t.allowed(path)}
	default:
		return i, onward, nil
	}
}

// isPlain reports whether there is only one way to read the path.
func isPlain(path string) bool {
	return !strings.ContainsAny(path, "%;\\") && !strings.Contains(path, "//") && !hasDots(path)
}

// hasDots reports whether a segment of the path is "." or "..".
func hasDots(path string) bool {
	for at := strings.Index(path, "/."); at >= 0; {
		rest := strings.TrimPrefix(path[at+2:], ".")
		if rest == "" || rest[0] == '/' {
			return true
		}
		next := strings.Index(rest, "/.")
		if next < 0 {
			return false
		}
		at = len(path) - len(rest) + next
	}
	return false
}

// resolve removes the dot segments of an escaped path, %2e included, and keeps
// everything else as it is. It reports false when they lead above the root.
func resolve(raw string) (string, bool) {
	if !hasDots(raw) && !strings.Contains(raw, "%2") {
		return raw, true
	}
	segments := strings.Split(raw[1:], "/")
	kept := segments[:0]
	for i, segment := range segments {
		last := i == len(segments)-1
		switch dots := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); {
		case dots == "." || dots == "..":
			if dots == ".." {
				if len(kept) == 0 {
					return "", false
				}
				kept = kept[:len(kept)-1]
			}
			if last {
				kept = append(kept, "") // "/a/.." is the directory "/"
			}
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/"), true
}

// plainly decodes the segments of an escaped path, one time and each by
// itself: an encoded slash stays a letter of its segment.
func plainly(raw string) string {
	if !strings.Contains(raw, "%") {
		return raw
	}
	segments := strings.Split(raw, "/")
	for i, segment := range segments {
		if decoded, err := url.PathUnescape(segment); err == nil && !strings.Contains(decoded, "/") {
			segments[i] = decoded
		}
	}
	return strings.Join(segments, "/")
}
