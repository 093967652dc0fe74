package script

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPageHasEveryName: docs/policies-as-code.md has a row for each column, attribute and
// function, with the words of the tables.
func TestPageHasEveryName(t *testing.T) {
	page, err := os.ReadFile("../docs/policies-as-code.md")
	if err != nil {
		t.Fatal(err)
	}
	want := func(row string) {
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/policies-as-code.md lacks %s", row)
		}
	}
	for _, c := range fixedColumns {
		name := "`" + c.name + "`"
		if c.alias != "" {
			name += ", `" + c.alias + "`"
		}
		want(fmt.Sprintf("| %s | %s |", name, c.help))
	}
	for of, table := range map[string]map[string]attribute{"req": requestAttributes, "cluster": clusterAttributes, "ctx": scaleAttributes} {
		var names []string
		for name := range table {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			want(fmt.Sprintf("| `%s.%s` | %s |", of, name, table[name].help))
		}
	}
	for name := range runningColumns {
		want("`" + name + "`")
	}
	for _, name := range predeclaredNames() {
		want("`" + name)
	}
}
