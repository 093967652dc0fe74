package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCookbook: the files in examples/ make traffic, and docs/cookbook.md shows
// them as they are.
func TestCookbook(t *testing.T) {
	paths, err := filepath.Glob("../../examples/workloads/*.yaml")
	if err != nil || len(paths) != 6 {
		t.Fatalf("%v, %v", paths, err)
	}
	book := read(t, "../../docs/cookbook.md")
	if n := strings.Count(book, "```yaml\n"); n != len(paths) {
		t.Errorf("the cookbook shows %d files, want %d", n, len(paths))
	}
	for _, path := range paths {
		s, err := OpenFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		trafficOf(t, s)
		text := read(t, path)
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s does not say what it is", path)
		}
		shown := "`examples/workloads/" + filepath.Base(path) + "`\n\n```yaml\n" + text + "```\n"
		if !strings.Contains(book, shown) {
			t.Errorf("docs/cookbook.md shows another %s", path)
		}
	}
}

// TestEveryFieldIsDocumented: docs/workloads.md names all fields, processes,
// types of distributions and scenarios.
func TestEveryFieldIsDocumented(t *testing.T) {
	text := read(t, "../../docs/workloads.md")
	names := slices.Concat(fields, clientFields, cohortFields, sessionFields, classes, growths)
	for _, p := range processFields {
		names = append(append(names, p.name), p.fields...)
	}
	for _, f := range families {
		names = append(names, f.name)
		for _, form := range f.params {
			for _, p := range form {
				names = append(names, p.name)
			}
		}
	}
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	marks := []string{"`NAME`", "`NAME:", "{NAME,", "{NAME:", ", NAME}", ", NAME,", ", NAME:"} // as a word, or in a mapping
	for _, name := range names {
		found := slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(text, strings.Replace(mark, "NAME", name, 1)) })
		if !found {
			t.Errorf("docs/workloads.md does not name %s", name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
