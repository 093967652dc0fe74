package latency

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/suggest"
	"blis/yamldoc"
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

// baseName returns the part of a Hugging Face id after the last slash.
func baseName(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// Unknown is the error for a name that is in no list.
type Unknown struct {
	Kind    string   // of the name: "model", "GPU", …
	Name    string   // that is not known
	Nearest []string // known names that are similar, the most similar first; may be empty
	Remedy  string   // what else the user can do
}

// Error names the unknown name and the nearest known ones.
func (e *Unknown) Error() string {
	text := fmt.Sprintf("unknown %s %q; ", e.Kind, e.Name)
	if len(e.Nearest) > 0 {
		text += fmt.Sprintf("nearest: %s; ", strings.Join(e.Nearest, ", "))
	}
	return text + e.Remedy
}

// problems collects the problems of an input, field by field, for one error with all
// of them. The first problem of a field wins: a value
// of the wrong type is not also reported as too small.
type problems struct {
	fields []string
	texts  []string
}

func (p *problems) add(field, format string, args ...any) {
	for _, f := range p.fields {
		if f == field {
			return
		}
	}
	p.fields = append(p.fields, field)
	p.texts = append(p.texts, field+" "+fmt.Sprintf(format, args...))
}

// between records an integer outside [low, high].
func (p *problems) between(field string, v, low, high int64) {
	if v < low || v > high {
		p.add(field, "is %d, want %d to %d", v, low, high)
	}
}

// positive records a number that is not finite or not above 0.
func (p *problems) positive(field string, v float64) {
	if !(v > 0) || math.IsInf(v, 0) {
		p.add(field, "is %v, want a finite number above 0", v)
	}
}

// notNegative records a number that is not finite or below 0.
func (p *problems) notNegative(field string, v float64) {
	if !(v >= 0) || math.IsInf(v, 0) {
		p.add(field, "is %v, want a finite number, 0 or more", v)
	}
}

// share records a number outside (0, 1].
func (p *problems) share(field string, v float64) {
	if !(v > 0 && v <= 1) {
		p.add(field, "is %v, want above 0 and at most 1", v)
	}
}

// err is nil or one line: where, then every problem.
func (p *problems) err(where string) error {
	if len(p.texts) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", where, strings.Join(p.texts, "; "))
}

// limits of a file, far above what GPUs, models and coefficients need.
var limits = yamldoc.Options{Bytes: 1 << 20, Depth: 16, Name: 256, Values: 1 << 16}

// decodeYAML reads a document into a struct with yaml tags. An empty document does
// not change it: the caller reports missing fields.
func decodeYAML(data []byte, file string, into any) error {
	root, err := yamldoc.Read(file, data, limits)
	if err != nil {
		return err
	}
	return yamldoc.Decode(file, yamldoc.Place{}, root, into)
}

func locate(file string, line int, text string) error {
	return fmt.Errorf("%s:%d: %s", file, line, text)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
