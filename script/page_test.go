package script

import (
	"fmt"
	"os"
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
	row := func(of, name, help string) { want(fmt.Sprintf("| `%s.%s` | %s |", of, name, help)) }
	for name, a := range requestAttributes {
		row("req", name, a.help)
	}
	for name, a := range clusterAttributes {
		row("cluster", name, a.help)
	}
	for name, a := range scaleAttributes {
		row("ctx", name, a.help)
	}
	for name, a := range batchAttributes {
		row("ctx", name, a.help)
	}
	for name, c := range waitingColumns {
		row("waiting", name, c.help)
	}
	for name, c := range runningColumns {
		row("running", name, c.help)
	}
	for _, name := range predeclaredNames() {
		want("`" + name)
	}
}
