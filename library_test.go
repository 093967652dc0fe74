package blis_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnotherModuleAddsPolicies builds testdata/library as a module of its own, with
// what is in the module cache alone, and uses its policy, scorer and signal.
func TestAnotherModuleAddsPolicies(t *testing.T) {
	if testing.Short() {
		t.Skip("links a command")
	}
	repo, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/library")); err != nil {
		t.Fatal(err)
	}
	requirements, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	module := strings.Replace(string(requirements), "module blis", "module ownblis", 1) + "\nrequire blis v0.0.0\n\nreplace blis => " + repo + "\n"
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": module, "go.sum": string(sums)} { // any order
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := filepath.Join(dir, "ownblis")
	build := exec.Command("go", "build", "-o", command, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod -pgo=off", "GOPROXY=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const run = "run --num-requests 50 "
	for _, c := range []struct {
		arguments, want string
		fails           bool
	}{
		{"library", "ran", false},
		{"policies routing", "stride", false},
		{"policies routing", "calm", false},
		{run + "--routing-policy stride", "", false},
		{run + "--routing-policy stride --set routing.params.step=2", "", false},
		{run + "--routing-policy weighted --routing-scorers calm:2,queue-depth:1 --set observability.preempted=50ms", "", false},
		{run + "--routing-policy stride --set routing.params.step=10", `routing.params.step: "10" is not allowed, want a whole number in [1, 9]`, true},
		{run + "--routing-policy strid", `the nearest is "stride"`, true},
	} {
		out, err := exec.Command(command, strings.Fields(c.arguments)...).CombinedOutput()
		if (err != nil) != c.fails || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v, want %q in\n%s", c.arguments, err, c.want, out)
		}
	}
}
