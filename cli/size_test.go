package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pdOf(more ...string) []string {
	return append([]string{"size", "--slo", "p99_ttft=300ms", "--trace", "../examples/replay/requests.csv", "--rate", "40", "--architecture", "pd", "--tp", "1", "--max-gpus", "8"}, more...)
}

func sizeOf(more ...string) []string {
	return append([]string{"size", "--slo", "p99_ttft=120ms", "--trace", "../examples/replay/requests.csv", "--rate", "40"}, more...)
}

// TestSizeExitCodesAndFaults: an answer, none, and what is wrong with the flags.
func TestSizeExitCodesAndFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		out  string
		note string
		args []string
	}{
		{"an answer", 0, "\nsize       ", "", sizeOf("--gpu-hour-price", "2", "--max-gpus", "8")},
		{"lists", 0, "1,024", "", sizeOf("--tp", "1,2", "--max-num-batched-tokens=1024,4096", "--max-gpus", "8")},
		{"one TP", 0, "at TP 2", "", sizeOf("--tp", "2", "--max-gpus", "8")},
		{"a GPU with its price", 0, "H200", "", sizeOf("--hardware", "H100,H200", "--prices", "H100=3,H200=1", "--max-gpus", "4", "--latency-model", "roofline")},
		{"too few", 5, "no candidate keeps the SLOs with up to 2 GPUs", "no candidate keeps", sizeOf("--max-gpus", "2", "--tp", "1")},
		{"does not fit", 3, "", "does not fit", sizeOf("--model", "Llama-3.1-70B", "--tp", "1")},
		{"two latency models", 2, "", "no latency model covers all", sizeOf("--hardware", "H100,A100-80")},
		{"bad list", 2, "", "--tp is \"x\"", sizeOf("--tp", "1,x")},
		{"prefill and decode", 0, "P + D", "", pdOf()},
		{"ratios", 0, "1 prefill and 1 decode instance at TP 1", "", pdOf("--pd-ratio", "1:1,1:2")},
		{"too few of a ratio", 5, "1:2 too few", "", pdOf("--pd-ratio", "1:2", "--max-gpus", "2", "--slo", "p50_ttft=1ms")},
		{"bad ratio", 2, "", "--pd-ratio: \"1:x\"", sizeOf("--architecture", "pd", "--pd-ratio", "1:1,1:x")},
		{"ratio twice", 2, "", "given twice", sizeOf("--architecture", "pd", "--pd-ratio", "1:1,1:1")},
		{"ratio of what", 2, "", "want --architecture pd", sizeOf("--pd-ratio", "1:1,1:2")},
		{"twice", 2, "", "given twice", sizeOf("--tp", "1,1")},
		{"among what", 2, "", "none of hardware, tp", sizeOf("--among", "rate=1,2")},
		{"bad price", 2, "", "--prices", sizeOf("--prices", "H100")},
		{"instances", 2, "", "size finds the number", sizeOf("--num-instances", "3")},
	} {
		s := blis(t, nil, c.args...)
		if s.code != c.code || !strings.Contains(s.out, c.out) || !strings.Contains(s.err, c.note) {
			t.Errorf("%s: exit code %d, want %d, and %q; printed\n%s%s", c.name, s.code, c.code, c.out+c.note, s.out, s.err)
		}
	}
}

// TestSizeJSON has the form of its schema.
func TestSizeJSON(t *testing.T) {
	for _, args := range [][]string{sizeOf("--gpu-hour-price", "2", "--max-gpus", "8"), sizeOf("--max-gpus", "2", "--tp", "1"), sizeOf("--architecture", "pd", "--tp", "1,2", "--max-gpus", "3")} {
		for _, bad := range loadSchemaOf(t, "size").check(blis(t, nil, append(args, "--format", "json")...).out) {
			t.Error(bad)
		}
	}
}

// TestSizeOfDeployments prints a size for each pool, in text and in the form of its schema.
func TestSizeOfDeployments(t *testing.T) {
	dir := t.TempDir()
	file, trace := filepath.Join(dir, "deployments.yaml"), filepath.Join(dir, "requests.csv")
	writeText := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeText(file, "deployments:\n  - {id: a, model: meta-llama/Llama-3.1-8B-Instruct, replicas: 2, gpu-hour-price: 2}\n  - {id: b, model: qwen/qwen3-14b, replicas: 2, gpu-hour-price: 2}\n")
	var b strings.Builder
	b.WriteString("arrival_us,input_tokens,output_tokens,model\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,500,40,%s\n", 5000*i, []string{"meta-llama/Llama-3.1-8B-Instruct", "qwen/qwen3-14b"}[i%2])
	}
	writeText(trace, b.String())
	args := []string{"size", "--deployments", file, "--trace", trace, "--slo"}
	for _, x := range []struct {
		slo, out string
		code     int
		more     []string
	}{
		{"p99_tpot=14ms", "GPUs: a/replicas 1, b/replicas ", 0, nil},
		{"p99_ttft=1ms", "no multiple of the deployments of the file keeps the SLOs", 5, []string{"--max-gpus", "9"}},
	} {
		s := blis(t, nil, append(append(args, x.slo), x.more...)...)
		if s.code != x.code || !strings.Contains(s.out, x.out) {
			t.Errorf("%s: exit code %d, printed\n%s%s", x.slo, s.code, s.out, s.err)
		}
		s = blis(t, nil, append(append(args, x.slo, "--format", "json"), x.more...)...)
		for _, bad := range loadSchemaOf(t, "size-deployments").check(s.out) {
			t.Errorf("%s: %s", x.slo, bad)
		}
	}
	if s := blis(t, nil, append(args, "p99_ttft=1s", "--tp", "1,2")...); s.code != 2 || !strings.Contains(s.err, "want no lists") {
		t.Errorf("exit code %d: %s", s.code, s.err)
	}
}

// TestPageShowsARealSize: docs/size-a-cluster.md shows what its command prints.
func TestPageShowsARealSize(t *testing.T) {
	t.Chdir("..")
	page := read(t, "docs/size-a-cluster.md")
	_, command, found := strings.Cut(page, "\n    blis size ")
	command, _, _ = strings.Cut(command, "\n")
	if out := done(t, append([]string{"size"}, strings.Fields(command)...)...).out; !found || !strings.Contains(page, "```\n"+out+"```\n") {
		t.Errorf("docs/size-a-cluster.md shows something else than\n%s", out)
	}
}

// TestMeasureFromAuto: the warm-up is that of a pilot run, from the flag, a file or the
// environment, and for the commands that have runs.
func TestMeasureFromAuto(t *testing.T) {
	args := []string{"--num-requests", "400", "--rate", "5", "--output-tokens", "20", "--output-tokens-stdev", "5"}
	s := done(t, append([]string{"run", "--measure-from", "auto"}, args...)...)
	if !strings.Contains(s.err, "five times the mean E2E of a pilot run") || !strings.Contains(s.out, "of them measured (arrived from ") {
		t.Errorf("printed\n%s%s", s.out, s.err)
	}
	file := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(file, []byte("measure-from: auto\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	configured := done(t, append([]string{"run", "--config", file, "--print-config"}, args...)...).out
	if !strings.Contains(configured, "\nmeasure-from: \"") || strings.Contains(configured, "measure-from: \"0") || strings.Contains(configured, "measure-from: \"-") {
		t.Errorf("effective configuration:\n%s", configured)
	}
	if s := blis(t, nil, append([]string{"verify", "--measure-from=auto"}, args...)...); s.code != 0 || !strings.Contains(s.err, "measured from") {
		t.Errorf("verify: %d, %s", s.code, s.err)
	}
	for _, bad := range []string{"never", "-1us", "-3s"} {
		if s := blis(t, nil, append([]string{"run", "--measure-from=" + bad}, args...)...); s.code != exitInput || !strings.Contains(s.err, "--measure-from") {
			t.Errorf("%s: %d, %s", bad, s.code, s.err)
		}
	}
	if s := blis(t, nil, "run", "--measure-from", "auto", "--num-requests", "5"); s.code != exitInput || !strings.Contains(s.err, "want more requests") {
		t.Errorf("five requests: %d, %s", s.code, s.err)
	}
}
