package setup

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"blis/kv"
	"blis/vtime"
)

// deploymentsFile writes a file of deployments and returns its path.
func deploymentsFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deployments.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// exampleDeployments has every form that a file may have.
const exampleDeployments = `
deployments:
  - id: chat
    model: meta-llama/Llama-3.1-70B-Instruct
    architecture: pd
    kv_cache_dtype: fp8
    prefill: {gpu: H100, tp: 4, replicas: 2, max_num_batched_tokens: 16384, scheduler: {type: fcfs}, routing: {type: weighted, params: {prefix-affinity: 3, queue-depth: 2}}}
    decode:  {gpu: H200, tp: 2, replicas: 3, autoscale: {type: threshold, min: 2, max: 6}, kv_offload: {cpu: 64GiB}}
    pd: {decider: {type: prefix-threshold, tokens: 300}, decode_choice: arrival, bandwidth: 20GB/s, base: 200us, handoff_latency: 2ms, hold_timeout: 100s, max_held: 5}
  - {id: small, model: qwen/qwen3-14b, architecture: monolithic, gpu: L40S, tp: 1, replicas: 4, latency_model: roofline, kv_offload: {cpu: 100GiB, eviction: arc}, scheduler: sjf, observability: {refresh: 50ms}}
  - id: small-2
    model: qwen3-14b
    hardware: H100
    replicas: 1
`

// twoModels is a specification whose clients name both models.
const twoModels = `
aggregate_rate: 4
num_requests: 10
clients:
  - {id: a, rate_fraction: 0.5, model: Llama-3.1-70B-Instruct, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 10}}, output_distribution: {type: constant, params: {value: 10}}}
  - {id: b, rate_fraction: 0.3, model: qwen/qwen3-14b, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 10}}, output_distribution: {type: constant, params: {value: 10}}}
  - {id: c, rate_fraction: 0.2, model: other, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 10}}, output_distribution: {type: constant, params: {value: 10}}}
`

// withDeployments returns a configuration of a file of deployments under the two models.
func withDeployments(t testing.TB, text, spec string) Config {
	t.Helper()
	c := DefaultConfig()
	if err := c.Set("deployments", deploymentsFile(t, text)); err != nil {
		t.Fatal(err)
	}
	c.WorkloadSpec = "spec.yaml"
	c.Open = func(path string) (io.ReadCloser, error) {
		if path == "spec.yaml" {
			return io.NopCloser(strings.NewReader(spec)), nil
		}
		return os.Open(path)
	}
	return c
}

func TestDeployments(t *testing.T) {
	c := withDeployments(t, exampleDeployments, twoModels)
	c.MaxNumSeqs = 50 // what the file leaves out
	p, err := Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Deployments) != 3 || len(p.Pools) != 4 {
		t.Fatalf("%d deployments, %d pools", len(p.Deployments), len(p.Pools))
	}
	chat, small, second := &p.Deployments[0], &p.Deployments[1], &p.Deployments[2]
	if !slices.Equal(p.Pools, []*Pool{chat.Prefill, chat.Serving, small.Serving, second.Serving}) || chat.ID != "chat" || small.ID != "small" || second.ID != "small-2" || small.Prefill != nil || small.PD != nil {
		t.Errorf("%+v", p.Deployments)
	}
	var names []string
	for _, s := range p.Summary.Pools {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"chat/prefill", "chat/decode", "small", "small-2"}) {
		t.Errorf("pools %q", names)
	}
	if want := "chat: meta-llama/Llama-3.1-70B-Instruct; small: Qwen/Qwen3-14B; small-2: Qwen/Qwen3-14B"; p.Summary.Model != want {
		t.Errorf("models %q, want %q", p.Summary.Model, want)
	}
	prefill, decode := chat.Prefill, chat.Serving
	if prefill.Model.Name != "meta-llama/Llama-3.1-70B-Instruct" || prefill.GPU.Name != "H100" || prefill.TP != 4 || prefill.Instances != 2 || prefill.MaxNumBatchedTokens != 16384 || prefill.MaxNumSeqs != 50 ||
		prefill.Routing.Type != "weighted" || prefill.CPUTier != nil || prefill.KVBytesPerToken() != 2*80*8*128 {
		t.Errorf("prefill %+v", prefill)
	}
	if params := prefill.Routing.Params; len(params) < 2 || params[0].Name != "prefix-affinity" || params[0].Value != "3" || params[1].Name != "queue-depth" {
		t.Errorf("scorers %v", params)
	}
	if decode.GPU.Name != "H200" || decode.TP != 2 || decode.Instances != 3 || decode.Scaling == nil || decode.Scaling.Min != 2 || decode.Scaling.Max != 6 || decode.Scaling.Interval != 15*vtime.Second || decode.CPUTier == nil || decode.Routing.Type != "round-robin" || decode.KVBytesPerToken() != 2*80*8*128 {
		t.Errorf("decode %+v", decode)
	}
	if d := chat.PD; d.Decider != DecidePrefixThreshold || d.PrefixThreshold != 300 || d.AtHandOver || d.HandOffLatency != 2*vtime.Millisecond || d.HoldTimeout != 100*vtime.Second || d.MaxHeld != 5 || d.Pull.Base != 200 ||
		d.Pull.PerBlock != float64(2*80*8*128*16)/40e9*1e6 {
		t.Errorf("pd %+v", d)
	}
	s := small.Serving
	if s.Model.Name != "Qwen/Qwen3-14B" || s.GPU.Name != "L40S" || s.Instances != 4 || s.CPUTier == nil || s.CPUTier.Eviction != kv.ARC || s.Server.Scheduler.Type != "sjf" || s.Observability.Refresh != 50*vtime.Millisecond || p.Summary.Pools[2].LatencyModel != "roofline" || s.KVBytesPerToken() != 2*40*8*128*2 {
		t.Errorf("small %+v", s)
	}
	if second.Serving.GPU.Name != "H100" || second.Serving.Instances != 1 || second.Serving.Observability.Refresh != 0 || second.Serving.Server.Scheduler.Type != "fcfs" {
		t.Errorf("small-2 %+v", second.Serving)
	}
	if n, gpus := Instances(&c), GPUs(&p.Config); n != 10 || gpus != 2*4+3*2+4+1 {
		t.Errorf("%d instances, %d GPUs", n, gpus)
	}
	served := map[string][]int{}
	for label, list := range p.Models {
		served[p.Source.Labels().Models.List()[label]] = list
	}
	if want := map[string][]int{"Llama-3.1-70B-Instruct": {0}, "qwen/qwen3-14b": {1, 2}, "other": nil}; !reflect.DeepEqual(served, want) {
		t.Errorf("models are served by %v, want %v", served, want)
	}
	if notes := strings.Join(p.Summary.Notes, "\n"); !strings.Contains(notes, `model "other": named by requests and not served; such requests are dropped`) {
		t.Errorf("notes %s", notes)
	}
}

// What a run of deployments prints has the content of the file, and repeats the plan.
func TestEffectiveDeploymentsRepeatThePlan(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"as they are": func(*Config) {},
		"with settings for all": func(c *Config) {
			c.TotalKVBlocks, c.AsyncScheduling, c.KVCPUBlocks, c.RoutingPolicy, c.AutoscalePolicy, c.PDHandoffLatency, c.PDNotifyLatency = 9999, new(true), 0, "least-loaded", "target-utilization", 7000, 77
		},
	} {
		c := withDeployments(t, exampleDeployments, twoModels)
		change(&c)
		first, err := Resolve(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := Effective(c); err != nil || text(t, &got) != text(t, &first.Config) {
			t.Errorf("%s: %v\n%s\nResolve has\n%s", name, err, text(t, &got), text(t, &first.Config))
		}
		if blocks, err := KVBlocks(c); err != nil || blocks != first.Pools[3].Blocks {
			t.Errorf("%s: %d KV blocks, %v", name, blocks, err)
		}
		var fromJSON Config
		if err := json.Unmarshal([]byte(text(t, &first.Config)), &fromJSON); err != nil {
			t.Fatal(err)
		}
		fromText := first.Config
		if err := fromText.Set("deployments", first.Config.Deployments.String()); err != nil {
			t.Fatal(err)
		}
		for way, again := range map[string]Config{"itself": first.Config, "JSON": fromJSON, "text": fromText} {
			again.Open = func(path string) (io.ReadCloser, error) {
				if path != "spec.yaml" {
					t.Errorf("%s, by %s: %s is read again", name, way, path)
				}
				return c.Open(path)
			}
			second, err := Resolve(again)
			if err != nil {
				t.Errorf("%s, by %s: %v", name, way, err)
				continue
			}
			if got, want := text(t, &second.Config), text(t, &first.Config); got != want {
				t.Errorf("%s, by %s:\n%s\nwas\n%s", name, way, got, want)
			}
			for i := range first.Pools {
				if !reflect.DeepEqual(first.Pools[i], second.Pools[i]) {
					t.Errorf("%s, by %s: pool %d is\n%+v\nwas\n%+v", name, way, i, *second.Pools[i], *first.Pools[i])
				}
			}
			if *first.Deployments[0].PD != *second.Deployments[0].PD || !reflect.DeepEqual(first.Models, second.Models) {
				t.Errorf("%s, by %s: %+v, was %+v", name, way, second.Deployments[0].PD, first.Deployments[0].PD)
			}
		}
	}
}

// One deployment of a list is the run that flags describe.
func TestOneDeploymentIsTheRunOfItsFlags(t *testing.T) {
	for _, c := range []struct{ file, settings string }{
		{"{id: a, model: Llama-3.1-8B-Instruct, replicas: 3, tp: 2, routing: least-loaded, kv_offload: {blocks: 7}}", "num-instances=3 tp=2 routing-policy=least-loaded kv-cpu-blocks=7"},
		{"{id: a, model: Llama-3.1-8B-Instruct, architecture: pd, tp: 2, prefill: {replicas: 1, tp: 4}, decode: {replicas: 2, max-num-seqs: 9}, pd: {bandwidth: nvlink, decider: never}}",
			"architecture=pd tp=2 prefill-replicas=1 prefill-tp=4 decode-replicas=2 decode-max-num-seqs=9 pd-transfer-bandwidth=nvlink pd-decider=never"},
	} {
		want := resolved(t, c.settings)
		cfg := DefaultConfig()
		if err := cfg.Set("deployments", deploymentsFile(t, "deployments: ["+c.file+"]")); err != nil {
			t.Fatal(err)
		}
		got, err := Resolve(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Pools, want.Pools) || got.Summary.Capacity != want.Summary.Capacity || got.Config.Rate != want.Config.Rate || !reflect.DeepEqual(got.Models, [][]int{{0}}) {
			t.Errorf("%s: rate %v, capacity %v, want %v, %v", c.file, got.Config.Rate, got.Summary.Capacity, want.Config.Rate, want.Summary.Capacity)
		}
		if a, b := got.Deployments[0].PD, want.Deployments[0].PD; !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v, want %+v", c.file, a, b)
		}
	}
}

func TestBadDeployments(t *testing.T) {
	const good = "{id: a, model: Llama-3.1-8B-Instruct, replicas: 1}"
	for _, c := range []struct{ file, settings, want string }{
		{"", "", "FILE: want deployments, a list like"},
		{"deployments: 4", "", "FILE:1: deployments: 4 is not allowed, want a list like"},
		{"deployments: []", "", "FILE:1: deployments: a list is not allowed, want a list like"},
		{"deployments:\n  - 4", "", "FILE:2: deployments[0]: 4 is not allowed, want a deployment like"},
		{"deploymentes: []", "", `FILE:1: deploymentes: unknown field "deploymentes", the nearest is "deployments"`},
		{"node_pools: []\ndeployments: [" + good + "]", "", "FILE:1: node_pools: a list is not allowed, want a list like [{id: h100"},
		{"deployments: [" + good + "]\nadmission: {scope: tenant}", "", "FILE:2: admission: want scope, global or deployment"},
		{"deployments: [" + good + "]\nadmission: deployment", "", `FILE:2: admission: "deployment" is not allowed, want {scope: deployment}`},
		{"deployments: [" + good + "]\nadmission: {type: token-bucket}", "", `FILE:2: admission.type: unknown field "type"`},
		{"deployments: [{id: a, model: x, replicas: 1, admission: {scope: deployment}}]", "", "FILE:1: deployments[0].admission: a deployment has no admission section"},
		{"deployments: [{model: x, replicas: 1}]", "", "FILE:1: deployments[0]: want id"},
		{"deployments: [{id: A, model: x, replicas: 1}]", "", `FILE:1: deployments[0].id: "A" is not allowed, want small letters, digits and dashes`},
		{"deployments: [{id: node, model: x, replicas: 1}]", "", `FILE:1: deployments[0].id: "node" is not allowed`},
		{"deployments: [" + good + ", " + good + "]", "", "FILE:1: deployments[1]: deployment a is given twice"},
		{"deployments: [{id: a, replicas: 1}]", "", "FILE:1: deployments[0]: want model"},
		{"deployments: [{id: a, model: x}]", "", "FILE:1: deployments[0]: want replicas"},
		{"deployments: [{id: a, model: x, replicas: 0}]", "", "FILE:1: deployments[0].replicas: 0 is not allowed, want 1 to 1048576"},
		{"deployments: [{id: a, model: x, replicas: 1, prefill: {}}]", "", "FILE:1: deployments[0]: prefill, decode and pd are for architecture: pd"},
		{"deployments: [{id: a, model: x, architecture: pd, decode: {replicas: 1}}]", "", "FILE:1: deployments[0]: want prefill with replicas"},
		{"deployments: [{id: a, model: x, architecture: pd, prefill: {replicas: 1}}]", "", "FILE:1: deployments[0]: want decode with replicas"},
		{"deployments: [{id: a, model: x, architecture: pd, replicas: 3, prefill: {replicas: 1}, decode: {replicas: 1}}]", "", "FILE:1: deployments[0]: replicas are those of prefill and decode"},
		{"deployments: [{id: a, model: x, architecture: mixed, replicas: 3}]", "", `FILE:1: deployments[0].architecture: "mixed": want one of monolithic, pd`},
		{"deployments: [{id: a, model: x, replicas: 3, tipi: 4}]", "", `FILE:1: deployments[0].tipi: no setting "tipi" of a deployment`},
		{"deployments: [{id: a, model: x, replicas: 3, seed: 4}]", "", "FILE:1: deployments[0].seed: a deployment has no seed of its own: want --seed"},
		{"deployments: [{id: a, model: x, replicas: 3, tp: [4]}]", "", "FILE:1: deployments[0].tp: a list is not allowed, want a whole number"},
		{"deployments: [{id: a, model: x, replicas: 3, kv_offload: 4}]", "", "FILE:1: deployments[0].kv_offload: 4 is not allowed, want a CPU tier"},
		{"deployments: [{id: a, model: x, replicas: 3, kv_offload: {gpu: 4}}]", "", `FILE:1: deployments[0].kv_offload.gpu: unknown field "gpu"`},
		{"deployments: [{id: a, model: x, replicas: 3, kv_offload: {cpu: lots}}]", "", "FILE:1: deployments[0].kv_offload.cpu: "},
		{"deployments:\n- id: a\n  model: x\n  routing:\n    type: nothing", "", "FILE:5: routing.type: unknown routing policy"},
		{"deployments:\n- id: a\n  model: x\n  routing: {params: {queue-depth: 1}}", "", "FILE:4: "},
		{"deployments: [{id: a, model: x, architecture: pd, prefill: {replicas: 1, kv-cache-dtype: fp8}}]", "", "FILE:1: deployments[0].prefill.kv-cache-dtype: a pool has no kv-cache-dtype of its own"},
		{"deployments: [{id: a, model: x, architecture: pd, prefill: 4}]", "", "FILE:1: deployments[0].prefill: 4 is not allowed, want settings of the pool"},
		{"deployments: [{id: a, model: x, architecture: pd, pd: 4}]", "", "FILE:1: deployments[0].pd: 4 is not allowed, want how the pools share the work"},
		{"deployments: [{id: a, model: x, architecture: pd, pd: {speed: 4}}]", "", `FILE:1: deployments[0].pd.speed: unknown field "speed"`},
		{"deployments: [{id: a, model: x, architecture: pd, pd: {decider: {tokens: 4}}}]", "", "FILE:1: deployments[0].pd.decider: want type"},
		{"deployments: [{id: a, model: x, architecture: pd, pd: {decider: {type: always, tokens: 4}}}]", "", "FILE:1: deployments[0].pd.decider.tokens: goes with type prefix-threshold or direct-to-decode"},
		{"deployments: [{id: a, model: x, architecture: pd, pd: {decider: maybe}}]", "", `FILE:1: deployments[0].pd.decider: "maybe": want one of always, never`},
		{"deployments: [" + good + "]", "model=Mixtral-8x7B", "--model is Mixtral-8x7B: want none with --deployments: each deployment has a model"},
		{"deployments: [" + good + "]", "num-instances=3", "--num-instances is 3: want none with --deployments: each deployment has replicas"},
		{"deployments: [" + good + "]", "architecture=pd", "--architecture is pd: want none with --deployments"},
		{"deployments: [" + good + "]", "prefill-tp=3", `--prefill is {"tp":"3"}: want none with --deployments`},
		{"deployments: [" + good + "]", "force-routing=1=0", "--force-routing is 1=0: want none with --deployments"},
		{"deployments: [" + good + ", {id: b, model: qwen3-14b, replicas: 1}]", "kv-cpu-blocks=4 kv-storage=remote", "--kv-storage: a and b share remote, and serve meta-llama/Llama-3.1-8B-Instruct and "},
		{"deployments: [" + good + ", {id: b, model: Llama-3.1-8B-Instruct, replicas: 1, block_size: 32}]", "kv-cpu-blocks=4 kv-storage=remote", "--kv-storage: a and b share remote, and have it with other sizes, rates, or entries"},
		{"deployments: [{id: a, model: nonesuch-9B, replicas: 1}]", "", "deployment a: unknown model"},
		{"deployments: [{id: a, model: Llama-3.1-70B-Instruct, replicas: 1}]", "", "deployment a: meta-llama/Llama-3.1-70B-Instruct does not fit"},
		{"deployments: [{id: a, model: Llama-3.1-70B-Instruct, architecture: pd, prefill: {replicas: 1, tp: 4}, decode: {replicas: 1}}]", "", "deployment a: decode pool: meta-llama/Llama-3.1-70B-Instruct does not fit"},
		{"deployments: [{id: a, model: Llama-3.1-8B-Instruct, architecture: pd, prefill: {replicas: 1, max_num_seqs: -4}, decode: {replicas: 1}}]", "", "deployment a: prefill pool: --prefill-max-num-seqs is -4"},
		{"deployments: [{id: a, model: Llama-3.1-8B-Instruct, architecture: pd, prefill: {replicas: 1}, decode: {replicas: 1}, pd: {pipeline: 2}}]", "", "deployment a: --pd-pipeline is 2: want a share"},
		{"deployments: [{id: a, model: Llama-3.1-8B-Instruct, replicas: 600000}, {id: b, model: Llama-3.1-8B-Instruct, replicas: 600000}]", "", "--deployments: 1200000 instances: want at most 1048576, counted by their data-parallel ranks"},
		{"deployments: [" + good + ", {id: b, model: qwen3-14b, replicas: 1}]", "", "requests name no model, and there are 2 deployments of several models: want model in each client"},
	} {
		cfg := configOf(t, c.settings)
		path := deploymentsFile(t, c.file)
		if err := cfg.Set("deployments", path); err != nil {
			t.Fatal(err)
		}
		_, err := Resolve(cfg)
		if want := strings.ReplaceAll(c.want, "FILE", path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s:\n%v\nwant %s", c.file, c.settings, err, want)
		}
	}
	cfg := configOf(t, "deployments=nonesuch.yaml")
	if _, err := Resolve(cfg); err == nil || !strings.HasPrefix(err.Error(), "--deployments: nonesuch.yaml: no such file") {
		t.Errorf("%v", err)
	}
}

// The example of the page is planned as it stands.
func TestDeploymentsOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/deployments.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	p, err := Resolve(withDeployments(t, example, twoModels))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Pools) != 3 || p.Pools[0].TP != 4 || p.Pools[1].Scaling.Max != 8 || p.Pools[2].Instances != 6 || p.Deployments[0].PD.PrefixThreshold != 400 {
		t.Errorf("%+v", p.Deployments)
	}
	for field := range offloadNames {
		if setting := offloadNames[field]; ofPool.find(setting) == nil {
			t.Errorf("kv_offload: %s stands for %s, which is no setting of a pool", field, setting)
		}
	}
	for field := range handOffNames {
		if setting := handOffNames[field]; ofDeployment.find(setting) == nil {
			t.Errorf("pd: %s stands for %s, which is no setting of a deployment", field, setting)
		}
	}
}
