package evaluator

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"blis/policy"
	"blis/study/evaluate"
	"blis/suggest"
)

// Candidate is a candidate from its text. The name, of a file, says by its extension whether that is a program
// in Starlark (.star, .py) or a bundle of policies in YAML; any other name leaves it to the text: a program has a line that
// begins with "def ".
func Candidate(name, text string) evaluate.Candidate {
	program := isProgram(text)
	switch filepath.Ext(name) {
	case ".star", ".py":
		program = true
	case ".yaml", ".yml", ".json":
		program = false
	}
	if program {
		return evaluate.Candidate{File: "policy.star", Text: []byte(text)}
	}
	return evaluate.Candidate{File: "policy.yaml", Text: []byte(text)}
}

func isProgram(text string) bool {
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "def ") {
			return true
		}
	}
	return false
}

// wholePolicy is the component that is all of a candidate.
const wholePolicy = "policy"

// FromComponents is a candidate from its parts, as GEPA has them: one text named policy, or a text per kind of
// policy. Such a text is what stands in the bundle under the kind, or a program in Starlark. The error says
// which component is wrong.
func FromComponents(parts map[string]string) (evaluate.Candidate, error) {
	if text, whole := parts[wholePolicy]; whole && len(parts) == 1 {
		return Candidate("", text), nil
	}
	known := []string{wholePolicy}
	for _, k := range policy.Kinds {
		known = append(known, string(k))
	}
	for name := range parts { // any order: one error is as good as another, but it is the first by name
		if !slices.Contains(known[1:], name) {
			return evaluate.Candidate{}, componentError(parts, known)
		}
	}
	if len(parts) == 0 {
		return evaluate.Candidate{}, fmt.Errorf("a candidate without components: want %s", strings.Join(known, ", "))
	}
	var bundle strings.Builder
	for _, k := range policy.Kinds {
		text, given := parts[string(k)]
		if !given {
			continue
		}
		if isProgram(text) {
			source, err := json.Marshal(text)
			if err != nil {
				return evaluate.Candidate{}, err
			}
			fmt.Fprintf(&bundle, "%s: {type: starlark, params: {file: %s.star, source: %s}}\n", k, k, source)
			continue
		}
		fmt.Fprintf(&bundle, "%s:\n", k)
		for l := range strings.Lines(text) {
			bundle.WriteString("  " + strings.TrimRight(l, "\n") + "\n")
		}
	}
	return evaluate.Candidate{File: "policy.yaml", Text: []byte(bundle.String())}, nil
}

// componentError names the first component that there is not.
func componentError(parts map[string]string, known []string) error {
	var names []string
	for name := range parts { // any order: they are sorted
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if name == wholePolicy {
			return fmt.Errorf("component %q is a whole candidate: want it alone", name)
		}
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown component %q%s (there are: %s)", name, suggest.Hint(name, known), strings.Join(known, ", "))
		}
	}
	return nil
}
