package blis_test

import (
	"os/exec"
	"strings"
	"testing"
)

// NATS would make blis twice as large and slower to start: only blis-cluster has it.
func TestBlisHasNoNATS(t *testing.T) {
	list := func(command string) string {
		text, err := exec.Command("go", "list", "-pgo=off", "-deps", command).Output()
		if err != nil {
			t.Skipf("go list: %v", err)
		}
		return string(text)
	}
	for path := range strings.Lines(list("./cmd/blis")) {
		if strings.Contains(path, "nats-io") || strings.HasPrefix(path, "blis/cluster") {
			t.Errorf("cmd/blis depends on %s", path)
		}
	}
	if !strings.Contains(list("./cluster"), "nats-io") {
		t.Error("cluster has no NATS either: the test looks for the wrong thing")
	}
}
