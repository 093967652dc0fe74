package latency

import (
	"slices"
	"strings"
)

// nearest returns up to n of the names that look most like query, best first,
// ties in alphabetical order. Case does not count, and a query without an
// owner ("llama-3.1-8b") is compared with the part of a name after the slash.
func nearest(query string, names []string, n int) []string {
	query = strings.ToLower(query)
	type candidate struct {
		name     string
		distance int
	}
	var list []candidate
	for _, name := range names {
		lower := strings.ToLower(name)
		d := editDistance(query, lower)
		if !strings.Contains(query, "/") {
			d = min(d, editDistance(query, baseName(lower)))
		}
		list = append(list, candidate{name, d})
	}
	slices.SortFunc(list, func(a, b candidate) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, c := range list {
		if len(out) == n {
			break
		}
		if !slices.Contains(out, c.name) {
			out = append(out, c.name)
		}
	}
	return out
}

// baseName is what follows the last slash of a Hugging Face id.
func baseName(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// editDistance is the number of insertions, deletions and substitutions of
// bytes that turn a into b (Levenshtein). Only the first 128 bytes count:
// names are short, and a user's input need not be.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 128)], b[:min(len(b), 128)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
