package actors

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what tests print into testdata and docs, for a person to read")

// wantFile wants the file to hold the text, or makes it so with -update.
func wantFile(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	had, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(had) != text {
		a, b := []byte(text), had
		t.Errorf("%s: -update writes what comes out now:\n%s\nwhere there is\n%s", path, excerpt(a, b), excerpt(b, a))
	}
}

// wantPart is wantFile for the part of a document between two comments that
// name it.
func wantPart(t *testing.T, path, name, text string) {
	t.Helper()
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+": written by go test ./actors -update -->\n", "<!-- end of "+name+" -->\n"
	before, rest, begins := strings.Cut(string(document), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no part between %q and %q", path, begin, end)
	}
	wantFile(t, path, before+begin+text+end+after)
}
