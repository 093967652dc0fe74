package blis_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What docs/extending.md says of a module of one's own is carried out: its
// program, its commands, in a folder elsewhere. Checksums are those of the
// checkout, so that nothing is asked of the network that the build of the
// checkout itself has not fetched.
func TestAnotherModuleUsesTheLibrary(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool")
	}
	checkout, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## From another module\n")
	section, _, _ = strings.Cut(section, "\n## ")
	commands, program := block(section, "sh"), block(section, "go")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), program)
	_, section, _ = strings.Cut(string(page), "## A command of your own\n")
	if err := os.Mkdir(filepath.Join(dir, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "own", "main.go"), block(section, "go"))
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.sum"), string(sums))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // against a hang, not a measure of speed
	defer cancel()
	run := func(words ...string) string {
		t.Helper()
		run := exec.CommandContext(ctx, words[0], words[1:]...)
		run.Dir = dir
		run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		text, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", words, err, text)
		}
		return string(text)
	}
	out := ""
	for command := range strings.Lines(commands) {
		out = run(strings.Fields(strings.ReplaceAll(command, "=../blis", "="+checkout))...)
	}
	if !strings.Contains(commands, "go mod tidy\n") || !strings.HasPrefix(out, "p99 TTFT ") {
		t.Errorf("the last of\n%sprints %q", commands, out)
	}
	run("go", "build", "-o", "ownblis", "./own")
	count := 0
	for command := range strings.Lines(block(section, "sh")) {
		words := strings.Fields(command)[3:] // after go run .
		if words[0] != "policies" {
			words = append(words, "--num-requests", "20")
		}
		printed := run(append([]string{filepath.Join(dir, "ownblis")}, words...)...)
		for command, want := range map[string]string{"policies": "fewest-blocks", "run": "20 injected: 20 completed", "verify": "yes"} { // any order
			if command == words[0] && !strings.Contains(printed, want) {
				t.Errorf("%s prints\n%s", words, printed)
			}
		}
		count++
	}
	if count != 4 {
		t.Errorf("%d commands on the page, want 4", count)
	}
}

// block is the first block of a language in Markdown.
func block(text, language string) string {
	_, text, _ = strings.Cut(text, "```"+language+"\n")
	text, _, _ = strings.Cut(text, "```\n")
	return text
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
