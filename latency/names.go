package latency

import (
	"fmt"
	"slices"
	"strings"

	"blis/suggest"
)

// nearest returns up to n of the names that look like query, best first, ties
// in alphabetical order; none if all are far from it. Case does not count, and a query without an
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
		d, near := suggest.Distance(query, lower), suggest.Near(query, lower)
		if base := baseName(lower); !strings.Contains(query, "/") {
			d = min(d, suggest.Distance(query, base))
			near = near || suggest.Near(query, base) || query != "" && strings.HasPrefix(base, query)
		}
		if near {
			list = append(list, candidate{name, d})
		}
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

// Unknown is the error for a name that is in no list.
type Unknown struct {
	Kind    string   // what was looked for: "model", "GPU", …
	Name    string   // what was asked for
	Nearest []string // names that are known and near, most alike first; may be empty
	Remedy  string   // what else the user can do
}

// Error names what is not known and what is.
func (e *Unknown) Error() string {
	text := fmt.Sprintf("unknown %s %q; ", e.Kind, e.Name)
	if len(e.Nearest) > 0 {
		text += fmt.Sprintf("nearest: %s; ", strings.Join(e.Nearest, ", "))
	}
	return text + e.Remedy
}
