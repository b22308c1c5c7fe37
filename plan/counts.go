package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseCounts reads a list of counts as people write one: "1,3", "1-4", or
// "1-3,5". The order is kept. What is not a positive number, a range that ends
// before it begins, and a list that is too long are an error; a range is bounded
// before it is written out.
func ParseCounts(text string) ([]int, error) {
	var counts []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if len(counts)+last-first >= mostCount {
			return nil, fmt.Errorf("the list has more than %d numbers; write fewer", mostCount)
		}
		for n := first; n <= last; n++ {
			counts = append(counts, n)
		}
	}
	return counts, nil
}

// parseRange reads "3" or "1-4".
func parseRange(part string) (first, last int, err error) {
	low, high, two := strings.Cut(part, "-")
	if !two {
		high = low
	}
	if first, err = parseCount(low, part); err != nil {
		return 0, 0, err
	}
	if last, err = parseCount(high, part); err != nil {
		return 0, 0, err
	}
	if first > last {
		return 0, 0, fmt.Errorf("range %.40q ends before it begins; write %d-%d", part, last, first)
	}
	return first, last, nil
}

func parseCount(text, part string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < 1 || n > mostCount {
		return 0, fmt.Errorf("%.40q is not a count; write numbers from 1 to %d, such as 1,3 or 1-4", part, mostCount)
	}
	return int(n), nil
}
