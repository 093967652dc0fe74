package study

import (
	"context"
	"errors"
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

// TestSizeOfDeployments: with the sizes a run keeps the bounds, and with one instance less of any pool it
// does not, unless it has one. The numbers are the same on any number of workers, and however large those
// of the file are; too small ones are multiplied.
func TestSizeOfDeployments(t *testing.T) {
	small := deployed(t)
	if err := setup.OpenDeployments(&small.Config); err != nil {
		t.Fatal(err)
	}
	for _, name := range setup.ReplicaSettings(&small.Config) {
		id, setting, _ := strings.Cut(name, "/")
		if err := setup.SetReplicas(&small.Config, id, setting, 1); err != nil {
			t.Fatal(err)
		}
	}
	want := ""
	for _, x := range []struct {
		cfg            actors.Config
		workers, start int
	}{{deployed(t), 1, 1}, {deployed(t), 3, 1}, {small, 2, 4}} {
		z := NewSizing(x.cfg, bounds(t, "p99_ttft=115ms,p99_tpot=14ms")...)
		z.Search.Pool.Workers = x.workers
		r, err := z.FindDeployments(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range r.Pools {
			got += fmt.Sprintf("%s %d, %d GPUs; ", p.Name, p.Instances, p.GPUs)
		}
		if want == "" {
			want = got
			t.Log(got)
		}
		if got != want || r.Start != x.start || !r.Certified() || r.Price != nil {
			t.Errorf("%s after %d times the file, certified %v, want %s", got, r.Start, r.Certified(), want)
		}
		keeps := func(cfg setup.Config) bool {
			result, err := actors.Run(t.Context(), actors.Config{Config: cfg})
			if err != nil {
				t.Fatal(err)
			}
			for i := range z.Search.SLOs {
				if !z.Search.SLOs[i].Constraint.Of(result.Figures()).Pass {
					return false
				}
			}
			return true
		}
		sized := r.Last.Holds.Repeat
		if !keeps(sized) || setup.GPUs(&sized) != r.GPUs {
			t.Errorf("a run with %s does not keep the bounds, or has other than %d GPUs", got, r.GPUs)
		}
		for _, p := range r.Pools {
			if p.Instances == 1 {
				continue
			}
			less := sized
			id, setting, _ := strings.Cut(p.Name, "/")
			if err := setup.SetReplicas(&less, id, setting, p.Instances-1); err != nil {
				t.Fatal(err)
			}
			if keeps(less) {
				t.Errorf("a run with %s but one less of %s keeps the bounds", got, p.Name)
			}
		}
	}
}

// TestDeploymentsThatCannotBeSized: no answer with so few GPUs, and lists of what deployments have
// themselves.
func TestDeploymentsThatCannotBeSized(t *testing.T) {
	z := NewSizing(deployed(t), bounds(t, "p99_ttft=1ms")...)
	z.MaxGPUs = 20
	if r, err := z.FindDeployments(t.Context()); err != nil || r.Start != 0 || len(r.Pools) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	z.MaxGPUs = 8
	if _, err := z.FindDeployments(t.Context()); err == nil || !strings.Contains(err.Error(), "have 9 GPUs: want at most --max-gpus 8") {
		t.Errorf("error %v", err)
	}
	z.MaxGPUs, z.Prices = 20, map[string]float64{"H100": 2}
	if _, err := z.FindDeployments(t.Context()); err == nil || !strings.Contains(err.Error(), "--prices: want gpu-hour-price") {
		t.Errorf("error %v", err)
	}
	z.Prices = nil
	for c, want := range map[float64]string{1.5: "want from 0.5 to 0.9999", 0.2: "want from 0.5", 0.9999: "want at most 0.9997, for there are 3 pools"} {
		z.Search.Confidence = c
		if _, err := z.FindDeployments(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	z.Search.Confidence = DefaultConfidence
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := z.FindDeployments(cancelled); r == nil || !r.Partial || r.GPUs != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
	z.TP = []int{1, 2}
	if _, err := z.FindDeployments(t.Context()); err == nil || !strings.Contains(err.Error(), "want no lists") {
		t.Errorf("error %v", err)
	}
}
