package search

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The frameworks' own classes are used where BLIS_SEARCH_SOURCES names their sources, else stand-ins.
func TestSearchPrograms(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	if text, err := exec.Command(python, "-c", "import sys; print(sys.version_info >= (3, 9))").Output(); err != nil || strings.TrimSpace(string(text)) != "True" {
		t.Skip("python3 is older than 3.9")
	}
	blis := filepath.Join(t.TempDir(), "blis")
	if text, err := exec.Command("go", "build", "-pgo=off", "-o", blis, "blis/cmd/blis").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	c := exec.Command(python, "-B", "test_search.py", "-v")
	c.Env = append(os.Environ(), "BLIS="+blis)
	text, err := c.CombinedOutput()
	t.Logf("%s", text)
	if err != nil {
		t.Error(err)
	}
}
