package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/actors"
	"blis/setup"
)

// pooled is a run of a trace with prefill and decode instances.
func pooled() actors.Config {
	cfg := actors.DefaultConfig()
	cfg.Trace, cfg.Rate, cfg.Architecture = "../examples/replay/requests.csv", 40, setup.PD
	return cfg
}

// deployed is a run of two deployments whose requests are the same every time.
func deployed(t *testing.T) actors.Config {
	t.Helper()
	dir := t.TempDir()
	trace, file := filepath.Join(dir, "requests.csv"), filepath.Join(dir, "deployments.yaml")
	var b strings.Builder
	b.WriteString("arrival_us,input_tokens,output_tokens,model\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%d,%d,%s\n", 5_000*i, 500+i, 40, []string{"meta-llama/Llama-3.1-8B-Instruct", "qwen/qwen3-14b"}[i%2])
	}
	deployments := "deployments:\n  - {id: a, model: meta-llama/Llama-3.1-8B-Instruct, replicas: 3}\n  - {id: b, model: qwen/qwen3-14b, architecture: pd, prefill: {replicas: 3}, decode: {replicas: 3}}\n"
	for path, text := range map[string]string{trace: b.String(), file: deployments} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := actors.DefaultConfig()
	cfg.Trace = trace
	if err := cfg.Deployments.UnmarshalText([]byte(file)); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestCapacityOverPools: the instances of a pool, of both in a ratio, and of a deployment's pool are
// searched like all instances: the ends are what runs say, and GPUs are those of all pools.
func TestCapacityOverPools(t *testing.T) {
	ratio := pooled()
	ratio.PDRatio = setup.PDRatio{Prefill: 1, Decode: 2}
	for _, x := range []struct {
		cfg        actors.Config
		over, slos string
		gpus       func(n int) int
	}{
		{pooled(), "prefill-replicas=1..20", "p99_ttft=150ms", func(n int) int { return n + 2 }},
		{pooled(), "decode-replicas=1..20", "p99_tpot=6.9ms", func(n int) int { return n + 2 }},
		{ratio, "num-instances=2..20", "p99_ttft=170ms", func(n int) int { return n }},
		{deployed(t), "b/prefill-replicas=1..8", "p99_ttft=170ms", func(n int) int { return n + 6 }},
		{deployed(t), "a/replicas=1..8", "p99_tpot=14ms", func(n int) int { return n + 6 }},
	} {
		c := search(t, x.cfg, x.over, x.slos)
		c.Length = WindowLength{}
		r := find(t, c)
		if !r.Exact || r.Holds == nil {
			t.Fatalf("%s: %+v", x.over, r.Fails.Measured)
		}
		for _, end := range []*CapacityEnd{r.Holds, r.Fails} {
			if end == nil {
				continue
			}
			n := int(end.Value)
			if end.GPUs != x.gpus(n) {
				t.Errorf("%s: %d GPUs with %d", x.over, end.GPUs, n)
			}
			result, err := actors.Run(t.Context(), actors.Config{Config: end.Repeat})
			if err != nil {
				t.Fatal(err)
			}
			kept := c.SLOs[0].Constraint.Of(result.Figures())
			if kept.Pass != (end == r.Holds) || *kept.Value != end.Measured[0] {
				t.Errorf("%s: with %d a run has %v, the search %v", x.over, n, *kept.Value, end.Measured[0])
			}
		}
		t.Logf("%s: %v with %v", x.over, r.Holds.Value, r.Holds.Measured)
		if r.Fails == nil {
			t.Errorf("%s: nothing fails", x.over)
		}
	}
}

// TestPoolsThatCannotBeSearched: each is one line that says what there is.
func TestPoolsThatCannotBeSearched(t *testing.T) {
	ratio := pooled()
	ratio.PDRatio = setup.PDRatio{Prefill: 1, Decode: 2}
	for _, x := range []struct {
		cfg        actors.Config
		over, want string
	}{
		{pooled(), "num-instances=2..9", "want --pd-ratio"},
		{ratio, "num-instances=1..9", "want at least 2"},
		{ratio, "prefill-replicas=1..9", "--prefill-replicas is 9: want none with --pd-ratio"},
		{actors.DefaultConfig(), "decode-replicas=1..9", "want --architecture pd"},
		{actors.DefaultConfig(), "a/replicas=1..9", "want --deployments, with a deployment a"},
		{deployed(t), "c/replicas=1..9", "want one of a/replicas, b/prefill-replicas, b/decode-replicas"},
		{deployed(t), "b/replicas=1..9", "want one of a/replicas, b/prefill-replicas, b/decode-replicas"},
		{deployed(t), "tp=1,2", "want one of them, like a/replicas"},
		{deployed(t), "num-instances=1..2", "want one of them, like a/replicas"},
	} {
		x.cfg.Rate = 5
		c := search(t, x.cfg, x.over, "p99_ttft=1s")
		c.Length = WindowLength{}
		if _, err := c.Find(t.Context()); err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s", x.over, err, x.want)
		}
	}
	if _, err := ParseSearchAxis("a/tp=1..2", 0.03); err == nil || !strings.Contains(err.Error(), "of a deployment, like chat/replicas") {
		t.Errorf("error %v", err)
	}
}
