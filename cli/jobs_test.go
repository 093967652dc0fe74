package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// jobPages are the pages that lead through a job by commands.
var jobPages = []string{"size-a-cluster.md", "compare-routers.md", "calibrate-to-my-servers.md", "drive-from-a-program.md"}

// TestCommandsOfJobPagesRun runs every blis command of the pages for jobs, in
// their order, in a folder with the examples.
func TestCommandsOfJobPagesRun(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range jobPages {
		t.Run(page, func(t *testing.T) {
			text := read(t, filepath.Join(root, "docs", page))
			t.Chdir(t.TempDir())
			if err := os.Symlink(filepath.Join(root, "examples"), "examples"); err != nil {
				t.Skip(err)
			}
			commands := 0
			for _, line := range strings.Split(text, "\n") {
				command, is := strings.CutPrefix(line, "    blis ")
				if !is {
					continue
				}
				commands++
				if got := blis(t, nil, shellWords(t, command)...); got.code != exitDone {
					t.Errorf("blis %s: exit %d: %s", command, got.code, got.err)
				}
			}
			if commands < 3 {
				t.Errorf("%d commands were found", commands)
			}
		})
	}
}

// shellWords splits a command at blanks outside single quotes.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	var words []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words[len(words)-1] += part
			continue
		}
		fields := strings.Fields(part)
		words = append(words, fields...)
		if strings.HasSuffix(part, " ") {
			words = append(words, "")
		}
	}
	kept := words[:0]
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return kept
}
