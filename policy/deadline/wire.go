package deadline

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// ParseMs reads an X-Remaining-Ms value: whole milliseconds, digits only. It
// saturates. Signs, decimals, spaces, other digits and the empty text are an
// error; 0 is no time left, and no error.
func ParseMs(s string) (time.Duration, error) {
	n, ok := number(s)
	if !ok {
		return 0, fmt.Errorf(`remaining time %.40q is not a whole number of milliseconds; write digits only, such as "450"`, s)
	}
	return span.Mul(time.Millisecond, n), nil
}

// AppendMs appends d as ParseMs reads it, rounded down; less than nothing is 0.
func AppendMs(dst []byte, d time.Duration) []byte {
	return strconv.AppendInt(dst, int64(max(d, 0)/time.Millisecond), 10)
}

// units are those of grpc-timeout, the finest first.
var units = [...]struct {
	letter byte
	length time.Duration
}{
	{'n', time.Nanosecond},
	{'u', time.Microsecond},
	{'m', time.Millisecond},
	{'S', time.Second},
	{'M', time.Minute},
	{'H', time.Hour},
}

// maxDigits and mostUnits are what grpc-timeout has room for.
const (
	maxDigits = 8
	mostUnits = 99_999_999
)

// ParseGRPC reads a grpc-timeout value: one to eight digits and one of H, M, S,
// m, u, n. It saturates. Everything else is an error; "0S" is no time left, and
// no error.
func ParseGRPC(s string) (time.Duration, error) {
	if last := len(s) - 1; last >= 1 && last <= maxDigits {
		n, ok := number(s[:last])
		for _, u := range units {
			if ok && u.letter == s[last] {
				return span.Mul(u.length, n), nil
			}
		}
	}
	return 0, fmt.Errorf(`grpc-timeout %.40q is malformed; write 1 to 8 digits and one of H, M, S, m, u, n, such as "450m"`, s)
}

// AppendGRPC appends d as ParseGRPC reads it, in the finest unit in which it
// fits, rounded down. Whatever is positive stays so. Less than nothing is "0n".
func AppendGRPC(dst []byte, d time.Duration) []byte {
	d = max(d, 0)
	for _, u := range units {
		if n := d / u.length; n <= mostUnits {
			return append(strconv.AppendInt(dst, int64(n), 10), u.letter)
		}
	}
	return dst // no Duration has 99,999,999 hours
}

// number reads digits, saturated.
func number(s string) (int64, bool) {
	var n int64
	for i := range len(s) {
		d := int64(s[i]) - '0'
		if d < 0 || d > 9 {
			return 0, false
		}
		if n > (math.MaxInt64-d)/10 {
			n = math.MaxInt64
			continue
		}
		n = n*10 + d
	}
	return n, s != ""
}
