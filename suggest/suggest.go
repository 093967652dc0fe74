package suggest

import (
	"fmt"
	"strings"
)

// Hint words the suggestion behind an error for an unknown name:
// `, the nearest is "weighted"`. It is empty when no name is near what was
// typed: a far name would only mislead.
func Hint(typed string, names []string) string {
	name := Nearest(typed, names)
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", the nearest is %q", name)
}

// Nearest is the first name that begins with what was typed, else the name with
// the smallest Distance to it, the first of several, if it is Near. It is empty
// if there is none.
func Nearest(typed string, names []string) string {
	for _, name := range names {
		if typed != "" && strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) {
			return name
		}
	}
	best, least := "", -1
	for _, name := range names {
		if d := lowerDistance(typed, name); (least < 0 || d < least) && Near(typed, name) {
			best, least = name, d
		}
	}
	return best
}

// Near reports whether a typed a probably means b: not counting case,
// their Distance is at most a third of the bytes of the longer name, or 1.
func Near(a, b string) bool {
	return lowerDistance(a, b) <= max(min(len(a), len(b), 1), max(len(a), len(b))/3)
}

func lowerDistance(a, b string) int { return Distance(strings.ToLower(a), strings.ToLower(b)) }

// longest is the number of bytes of a name that count: names are short, and
// what a user typed need not be.
const longest = 128

// Distance is the number of insertions, deletions and substitutions of bytes,
// and of swaps of two neighbours, that turn a into b (optimal string alignment),
// of the first 128 bytes of each.
func Distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
