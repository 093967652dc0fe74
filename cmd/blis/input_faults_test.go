package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// digestOf is the digest that a result in text has.
func digestOf(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^digest +([0-9a-f]{16})`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no digest in %s", text)
	}
	return found[1]
}

// A pipe can be opened once: what it is is seen in what is read.
func TestFaultF4TracesThroughPipes(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ok.csv"), []byte("arrival_us,input_tokens,output_tokens\n1,20,5\n70000,30,9\n90000,40,8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, code := shell(t, folder, "$BLIS run --trace ok.csv")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, plain)
	}
	want := digestOf(t, plain)
	for _, script := range []string{
		"cat ok.csv | $BLIS run --trace /dev/stdin",
		"$BLIS run --trace <(gzip -c ok.csv)",
		"mkfifo f; cat ok.csv >f & $BLIS run --trace f",
		"$BLIS run --trace - <ok.csv || $BLIS run --trace /dev/stdin <ok.csv",
		"cat ok.csv | $BLIS workload convert /dev/stdin again.csv && $BLIS run --trace again.csv",
		"cat ok.csv | $BLIS run --trace /dev/stdin --num-instances 1 --routing-policy least-loaded --replay-regret 2",
	} {
		said, code := shell(t, folder, script)
		if code != 0 || digestOf(t, said) != want && !strings.Contains(script, "regret") {
			t.Errorf("%s: exit %d, want digest %s:\n%s", script, code, want, said)
		}
	}
	for _, script := range []string{
		"cat ok.csv | $BLIS verify --trace /dev/stdin",
		"cat ok.csv | $BLIS compare round-robin least-loaded --trace /dev/stdin --seeds 3",
		"cat ok.csv | $BLIS workload show /dev/stdin",
		"$BLIS verify --workload-spec <($BLIS workload scenarios diurnal-cycle) --num-requests 20",
	} {
		if said, code := shell(t, folder, script); code != 0 {
			t.Errorf("%s: exit %d:\n%s", script, code, said)
		}
	}
}

// Inputs are read with a limit, whatever their names lead to.
func TestFaultF5EndlessInputs(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("this system has no endless device")
	}
	for _, args := range []string{
		"run --config /dev/zero", "run --policy-config /dev/zero", "run --hardware-config /dev/zero", "run --coefficients /dev/zero",
		"run --model-config-folder /dev/zero", "run --trace /dev/zero", "run --workload-spec /dev/zero", "compare /dev/zero round-robin",
		"models show /dev/zero", "models show Llama-3.1-8B --hardware-config /dev/zero", "bench --compare /dev/zero",
		"validate --coefficients /dev/zero ../../testdata", "workload show /dev/zero",
		"train --steps /dev/zero --model Llama-3.1-8B --hardware H100", "train /dev/zero", "validate --otlp /dev/zero --model Llama-3.1-8B --hardware H100",
	} {
		s := blis(t, nil, strings.Fields(args)...)
		if s.code != exitInput || strings.Count(s.err, "\n") != 1 || !strings.Contains(s.err, "/dev/zero") {
			t.Errorf("%s: exit %d: %.300s", args, s.code, s.err)
		}
	}
}

// What is nested deeply is refused before the parser sees it, which would take
// minutes.
func TestFaultF7DeepYAML(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": "a: " + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000),
		"braces":   strings.Repeat("{a: ", 100_000) + strings.Repeat("}", 100_000),
		"open":     "a: " + strings.Repeat("[", 300_000),
		"dashes":   strings.Repeat("- ", 100_000) + "a",
		"names":    strings.Repeat("a", 100_000) + ": 1",
	} {
		path := file(t, "deep.yaml", text)
		for _, flag := range []string{"--config", "--hardware-config", "--coefficients", "--workload-spec"} {
			s := blis(t, nil, "run", flag, path)
			if s.code != exitInput || !strings.Contains(s.err, ":1: nested deeper than ") && !strings.Contains(s.err, ":1: a name of ") {
				t.Errorf("%s, %s: exit %d: %.200s", flag, name, s.code, s.err)
			}
		}
	}
}
