package blis_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The forms in which documents name things of the project.
var (
	namedTest = regexp.MustCompile("`((?:Test|Example|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)`")
	namedFile = regexp.MustCompile("`((?:[a-z]+/)+[a-z_0-9.]*|[a-z_]+_test\\.go)`")
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// documents are the pages for people, by path.
func documents(t *testing.T) map[string]string {
	pages := map[string]string{}
	lists, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(lists, "README.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[path] = string(text)
	}
	return pages
}

// testNames are the tests, examples, fuzz targets and benchmarks of the project.
func testNames(t *testing.T) map[string]bool {
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// anchors are the ends of links that the headings of a page can be reached by.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		plain := notAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return found
}

// TestDocsNameWhatExists wants every test, file and link that a page names.
func TestDocsNameWhatExists(t *testing.T) {
	pages, tests := documents(t), testNames(t)
	for path, text := range pages {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			if !tests[m[1]] {
				t.Errorf("%s: there is no test %s", path, m[1])
			}
		}
		if path == "docs/invariants.md" {
			for _, m := range namedFile.FindAllStringSubmatch(text, -1) {
				if _, err := os.Stat(m[1]); err != nil {
					t.Errorf("%s: there is no %s", path, m[1])
				}
			}
		}
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, m[1])
			} else if anchor != "" && !anchors(pages[file])[anchor] {
				t.Errorf("%s: the link %s leads to no heading", path, m[1])
			}
		}
	}
}
