package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"blis/internal/testsize"
	"blis/vtime"
	"blis/workload"
)

// apartTrial is a run of several deployments, some of one model.
type apartTrial struct {
	file     string // of deployments
	flags    []string
	requests []workload.Request
	gated    bool // each model has an admission policy of its own, which keeps state
}

// models are the names that requests have; the last one is served by nobody.
var apartModels = []string{"meta-llama/Llama-3.1-8B-Instruct", "qwen/qwen3-14b", "codellama/CodeLlama-34b-Instruct-hf", "nobody/serves-this"}

// drawApart is the random trial of a seed.
func drawApart(seed uint64) *apartTrial {
	d := newDice(seed, 0x6170617274)
	x := &apartTrial{flags: []string{"--total-kv-blocks", "60", "--block-size-in-tokens", "4", "--latency-model", "blackbox", "--alpha-coeffs", "100,1,7", "--beta-coeffs", "1000,10,20",
		"--admission-policy", pick(d, "always-admit", "always-admit", "reject-all"), "--priority-policy", pick(d, "constant", "slo-based")}}
	if d.chance(0.3) {
		x.flags = append(x.flags, "--horizon", fmt.Sprintf("%dus", 20_000+d.IntN(200_000)))
	}
	if d.chance(0.3) {
		x.flags = append(x.flags, "--snapshot-refresh-interval", "5ms")
	}
	var b strings.Builder
	b.WriteString("deployments:\n")
	for i := range d.between(2, 4) {
		routing := pick(d, "round-robin", "least-loaded", "weighted", "power-of-two")
		fmt.Fprintf(&b, "  - id: d%d\n    model: %s\n", i, apartModels[d.IntN(3)])
		if d.chance(0.4) {
			fmt.Fprintf(&b, "    architecture: pd\n    prefill: {replicas: %d, routing: {type: %s}}\n    decode: {replicas: %d, routing: {type: %s}}\n    pd: {decode_choice: %s, handoff_latency: %dus}\n",
				d.between(1, 3), routing, d.between(1, 3), routing, pick(d, "arrival", "handoff"), pick(d, 1, 1000))
		} else {
			fmt.Fprintf(&b, "    replicas: %d\n    routing: {type: %s}\n", d.between(1, 4), routing)
		}
		if d.chance(0.4) {
			fmt.Fprintf(&b, "    data_parallel_size: %d\n    data_parallel_lb: %s\n", d.between(2, 3), pick(d, "internal", "external"))
		}
		if d.chance(0.3) {
			b.WriteString("    kv_offload: {blocks: 40}\n")
		}
	}
	x.file = b.String()
	if nodes := newDice(seed, 0x6e6f646573); nodes.chance(0.5) { // of 4 deployments with 6 instances at most
		x.file = fmt.Sprintf("node_pools: [{id: one, gpu: H100, nodes: %d, gpus_per_node: %d, cost_per_gpu_hour: %d}, {id: two, gpu: H100, nodes: 60, gpus_per_node: 2}]\n",
			nodes.between(1, 3), nodes.between(1, 4), nodes.IntN(4)) + x.file
	}
	if gates := newDice(seed, 0x6761746573); gates.chance(0.4) {
		x.file = "admission: {scope: deployment}\n" + x.file
		at := slices.Index(x.flags, "--admission-policy")
		x.flags = append(slices.Delete(x.flags, at, at+2), "--policies", pick(gates, "{admission: {type: token-bucket, params: {capacity: 200, refill_rate: 2000}}}",
			"{admission: {type: rate-limit, params: {rate: 300, burst: 3}}}", "{admission: {type: tenant-quota, params: {max_active: 2, delay: 2ms}}}",
			"{admission: {type: saturation-shed}}"))
		x.gated = true
	}
	at := vtime.Time(0)
	for i := range d.between(20, 200) {
		at = at.Add(vtime.Duration(d.IntN(3) * d.IntN(3000)))
		r := workload.NewRequest(at, int32(d.between(1, 100)), int32(d.between(1, 30)))
		r.Index = uint64(i)
		r.Model = workload.Label(d.IntN(len(apartModels)))
		if d.chance(0.2) {
			r.Deadline = at.Add(vtime.Duration(d.between(1000, 50_000)))
		}
		x.requests = append(x.requests, r)
	}
	return x
}

// config is the configuration of one run.
func (x *apartTrial) config(t *testing.T) Config {
	cfg := DefaultConfig()
	cfg.Custom.Open = func(path string) (io.ReadCloser, error) {
		if path != "deployments.yaml" {
			return os.Open(path)
		}
		return io.NopCloser(strings.NewReader(x.file)), nil
	}
	setFlags(t, &cfg, append(x.flags, "--deployments", "deployments.yaml"))
	var labels workload.Labels
	for _, name := range apartModels {
		labels.Models.Label(name)
	}
	source, err := workload.NewSlice(append([]workload.Request(nil), x.requests...), labels)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Custom.Source = source
	return cfg
}

// outcome is the rows and the report of a run as text, and its digest.
func (x *apartTrial) outcome(t *testing.T, e Execution) (text, digest string) {
	cfg := x.config(t)
	cfg.Execution = e
	var b strings.Builder
	cfg.Row = func(r *Row) {
		deployment, pool := Place(r)
		ttft, _ := r.TTFT()
		e2e, _ := r.E2E()
		fmt.Fprintln(&b, r.ID, r.State, r.Reason, r.ModelName(), r.InstanceName(), deployment, pool, PrefillInstance(r), NodeName(r), ttft, e2e, *r.Outcome)
	}
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatalf("%v\n%s", err, x.file)
	}
	for _, part := range []any{r.Report, r.Names, r.Setup.Notes, r.NodePools(), r.InstanceNodes()} {
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	fmt.Fprintln(&b, r.Began, r.End, r.Fitness, r.BeyondFit)
	return b.String(), r.Digest
}

// Deployments that share nothing give apart the rows and the report that they give with one control plane,
// and the same digest on any number of workers.
func TestDeploymentsApartAreThoseTogether(t *testing.T) {
	apart, gated, refused := 0, 0, 0
	for seed := range uint64(testsize.Of(15, 40, 120)) {
		x := drawApart(seed)
		together, one := x.outcome(t, Execution{Together: true, Workers: 1})
		first := ""
		for _, e := range Executors(3) {
			text, digest := x.outcome(t, e.Execution)
			if first == "" {
				first = digest
			}
			if seed%4 == 0 { // one control plane for all is equal on all executors too
				e.Execution.Together = true
				if _, digest := x.outcome(t, e.Execution); digest != one {
					t.Fatalf("seed %d, %s, together: digest %s, want %s", seed, e.Name, digest, one)
				}
			}
			if digest != first {
				t.Fatalf("seed %d, %s: digest %s, want %s", seed, e.Name, digest, first)
			}
			if text != together {
				t.Fatalf("seed %d, %s: other results than together:\n%s", seed, e.Name, firstLineApart(text, together))
			}
		}
		if first != one {
			apart++
			if x.gated {
				gated++
				refused += strings.Count(together, " rejected ")
			}
		}
	}
	if apart == 0 {
		t.Error("no run had deployments apart")
	}
	if gated == 0 || refused == 0 {
		t.Errorf("%d runs with admission policies of deployments apart, which rejected %d requests", gated, refused)
	}
	t.Logf("%d runs had deployments apart, %d with admission policies of their own, which rejected %d requests", apart, gated, refused)
}

// firstLineApart is the first line in which two texts differ.
func firstLineApart(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			same := 0
			for same < min(len(a[i]), len(b[i])) && a[i][same] == b[i][same] {
				same++
			}
			from := max(0, same-200)
			return "got  …" + a[i][from:min(len(a[i]), same+100)] + "\nwant …" + b[i][from:min(len(b[i]), same+100)]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// A run whose deployments run apart gives, when it is cancelled, balanced books and a row for every request
// that arrived at a part, in the order of their numbers: the parts have not come equally far.
func TestCancelledRunApartIsPartial(t *testing.T) {
	for _, x := range Executors(2) {
		for _, after := range []int64{1, 3000, 20_000} {
			ctx, cancel := context.WithCancel(context.Background())
			trial := &apartTrial{file: "deployments:\n  - {id: a, model: meta-llama/Llama-3.1-8B-Instruct, replicas: 2}\n  - {id: b, model: qwen/qwen3-14b, replicas: 1}\n"}
			for i := range 50_000 {
				r := workload.NewRequest(vtime.Time(i*100), 50, 3)
				r.Index, r.Model = uint64(i), workload.Label(i*i/7%3/2) // two for the first, one for the second
				trial.requests = append(trial.requests, r)
			}
			cfg := trial.config(t)
			cfg.Execution = x.Execution
			cfg.Custom.Source = &countdown{Source: cfg.Custom.Source, left: after, stop: cancel}
			last, rows := int64(-1), int64(0)
			cfg.Row = func(r *Row) {
				if r.ID <= last {
					t.Fatalf("%s, after %d: request %d after %d", x.Name, after, r.ID, last)
				}
				last = r.ID
				rows++
			}
			result, err := Run(ctx, cfg)
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, after %d: error %v", x.Name, after, err)
			}
			if n := result.Report.Injected; !result.Partial || result.Digest != "" || rows != n {
				t.Errorf("%s, after %d: partial %v, digest %q, %d rows of %d", x.Name, after, result.Partial, result.Digest, rows, n)
			}
		}
	}
}
