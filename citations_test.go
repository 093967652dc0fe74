package blis_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The forms in which code and documents cite a text: by name and number, as a
// whole, by path, or by the heading of a page.
var (
	numbered   = regexp.MustCompile(`(?i)\b(?:semantics|architecture|design|performance|fidelity|style|testing|rooms|plan|brief|issue)(?:\.md)?(?:,? section)? [§#]?[0-9]+(?:\.[0-9]+)*\b`)
	unwritten  = regexp.MustCompile(`(?i)\bthe design\b|\b(?:the|this) (?:issue|brief|plan) (?:says|sets|asks|wants|demands)\b|\bdesign/`)
	citedPage  = regexp.MustCompile(`(?:[a-z_]+/)*[a-z_-]+\.md\b`)
	citedTitle = regexp.MustCompile(`"([A-Z][^"\n]*)" (?:in|of) (docs/[a-z-]+\.md)`)
)

// badCitations lists what text cites and a clone lacks. A page is looked for
// beside the text, which is in folder, at the root and in docs.
func badCitations(folder, text string) (found []string) {
	text = onOneLine(text)
	found = append(numbered.FindAllString(text, -1), unwritten.FindAllString(text, -1)...)
	for _, page := range citedPage.FindAllString(text, -1) {
		if !exists(filepath.Join(folder, page)) && !exists(page) && !exists(filepath.Join("docs", page)) {
			found = append(found, page)
		}
	}
	for _, m := range citedTitle.FindAllStringSubmatch(text, -1) {
		page, err := os.ReadFile(m[2])
		if err != nil || !slices.Contains(headings(string(page)), m[1]) {
			found = append(found, fmt.Sprintf("%q in %s", m[1], m[2]))
		}
	}
	return found
}

// onOneLine joins the lines of comments, so that a citation over two is seen.
func onOneLine(text string) string {
	return regexp.MustCompile(`\n[ \t]*(?://|#)?[ \t]*`).ReplaceAllString(text, " ")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func headings(page string) (list []string) {
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

// comments are the comments of Go source, other text as it is. Strings of code
// may hold names of files that a run makes.
func comments(path, text string) string {
	if !strings.HasSuffix(path, ".go") {
		return text
	}
	return strings.Join(regexp.MustCompile(`(?m)//.*$`).FindAllString(text, -1), "\n")
}

// TestCitationsAreInTheClone wants every text that a comment, a page or a
// script of CI cites to be part of the repository.
func TestCitationsAreInTheClone(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == ".git" || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return err
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".md" && !strings.HasPrefix(path, ".ci") || path == "citations_test.go" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, cited := range badCitations(filepath.Dir(path), comments(path, string(text))) {
			t.Errorf("%s cites %s, which is not in the repository: say the thing itself, or cite a page of docs", path, cited)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCitationsThatACloneLacksAreSeen(t *testing.T) {
	for _, text := range []string{
		"// seats (semantics 1 and 3)", "// as in architecture\n// 5.2", "what the design sets", "see design/rooms.md", "// issue 16",
		"// in docs/architecture.md", `// as "No such heading" in docs/semantics.md`,
	} {
		if len(badCitations("engine", text)) == 0 {
			t.Errorf("%q is not seen", text)
		}
	}
	for _, text := range []string{`// as "KV cache" in docs/semantics.md`, "// R3 of docs/invariants.md", "two architectures"} {
		if found := badCitations("engine", text); len(found) > 0 {
			t.Errorf("%q: %q", text, found)
		}
	}
}
