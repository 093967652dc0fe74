package main

import (
	"strings"
	"testing"
)

func TestExampleRuns(t *testing.T) {
	var out strings.Builder
	if err := compare(&out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"round-robin", "least-loaded", "separate"} {
		if !strings.Contains(out.String(), "\n"+name) {
			t.Errorf("no line for %s in\n%s", name, out.String())
		}
	}
}
