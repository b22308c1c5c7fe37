// Package nearest finds the word that somebody probably meant, for messages
// that end in "did you mean".
package nearest

import "strings"

// longest is where words are cut before they are compared: the work grows with
// the product of the lengths, and a longer word is not a slip of the finger.
const longest = 64

// Word returns the candidate that is most like word, and whether any is like
// it at all: few letters differ or have changed places, or one is a part of the
// other ("max_attempts" and "attempts", "rate_limit" and "rate"). Of candidates
// that are alike the first one wins.
func Word(word string, candidates []string) (string, bool) {
	best, least := "", longest+1
	for _, c := range candidates {
		if d := distance(cut(word), cut(c)); d < least && alike(word, c, d) {
			best, least = c, d
		}
	}
	return best, best != ""
}

func cut(s string) string { return strings.ToLower(s[:min(len(s), longest)]) }

// alike reports whether a distance is small for words this long, or the words
// have a stem in common ("retries" and "retry"), or one is made with the other.
func alike(a, b string, distance int) bool {
	stem := min(4, len(a), len(b))
	return distance <= 1+min(len(a), len(b))/4 ||
		distance <= 3 && stem == 4 && strings.EqualFold(a[:stem], b[:stem]) ||
		partOf(a, b) || partOf(b, a)
}

// partOf reports whether whole has part at its beginning, or as one of its
// words. Very short parts are everywhere and say nothing.
func partOf(whole, part string) bool {
	if len(part) < 4 {
		return false
	}
	whole, part = strings.ToLower(whole), strings.ToLower(part)
	apart := strings.NewReplacer("-", "_", ".", "_").Replace
	return strings.HasPrefix(whole, part) || strings.Contains("_"+apart(whole)+"_", "_"+apart(part)+"_")
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour that make a into b (the optimal string alignment distance).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
