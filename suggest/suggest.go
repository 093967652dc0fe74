package suggest

import "strings"

// Nearest is the first name that begins with what was typed, else the one with
// the smallest Distance to it, the first of several; empty for an empty list.
func Nearest(typed string, names []string) string {
	for _, name := range names {
		if typed != "" && strings.HasPrefix(name, typed) {
			return name
		}
	}
	best, least := "", -1
	for _, name := range names {
		if d := Distance(typed, name); least < 0 || d < least {
			best, least = name, d
		}
	}
	return best
}

// longest is the number of bytes of a name that count: names are short, and
// what a user typed need not be.
const longest = 128

// Distance is the number of insertions, deletions and substitutions of bytes
// that turn a into b (Levenshtein), of the first 128 bytes of each.
func Distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
