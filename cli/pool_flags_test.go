package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/setup"
)

// printed is the effective configuration that --print-config prints, by setting.
func printed(t *testing.T, env map[string]string, args ...string) map[string]any {
	t.Helper()
	s := blis(t, env, append([]string{"run", "--print-config"}, args...)...)
	if s.code != 0 {
		t.Fatalf("%v: exit %d, %s", args, s.code, s.err)
	}
	settings := map[string]any{}
	for line := range strings.Lines(s.out) {
		name, text, _ := strings.Cut(line, ": ")
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		settings[name] = value
	}
	return settings
}

// Settings of one pool are flags, variables and names in files like others.
func TestSettingsOfOnePool(t *testing.T) {
	t.Parallel()
	path := file(t, "run.yaml", "architecture: pd\nprefill: {tp: 2, max-num-seqs: 7, max_num_batched_tokens: 4096, alpha-coeffs: [1, 2, 3], beta-coeffs: [4000, 5, 6]}\nprefill-max-num-seqs: 8\ndecode-async-scheduling: false\ndecode: {tp: 4}\n")
	env := map[string]string{"BLIS_PREFILL_TP": "8", "BLIS_DECODE_TP": "8", "BLIS_DECODE": "{gpu-memory-utilization: 0.8}"}
	got := printed(t, env, "--config", path, "--decode-tp", "2", "--prefill", "{enable-prefix-caching: false}", "--decode-max_model_len=5000", "--no-prefill-async-scheduling", "--decode-kv-cpu-size", "8GiB", "--decode-kv-storage", "nvme", "--decode-kv-storage", "disk,1TiB,3GB/s,1GB/s,1ms,local", "--prefill-replicas", "3", "--decode-routing-policy", "least-loaded")
	prefill, decode := got["prefill"].(map[string]any), got["decode"].(map[string]any)
	for name, want := range map[string]string{"tp": "8", "max-num-seqs": "8", "max-num-batched-tokens": "4096", "alpha-coeffs": "1,2,3", "beta-coeffs": "4000,5,6", "enable-prefix-caching": "false"} {
		if prefill[name] != want {
			t.Errorf("prefill: %s is %v, want %s", name, prefill[name], want)
		}
	}
	for name, want := range map[string]string{"tp": "2", "gpu-memory-utilization": "0.8", "max-model-len": "5000", "kv-storage": "nvme,unlimited,3GB/s,1.3GB/s,1ms,local;disk,1TiB,3GB/s,1GB/s,1ms,local"} {
		if decode[name] != want {
			t.Errorf("decode: %s is %v, want %s", name, decode[name], want)
		}
	}
	if got["async-scheduling"] != false || got["prefill-replicas"] != 3. || !reflect.DeepEqual(decode["policies"], map[string]any{"routing": map[string]any{"type": "least-loaded", "params": map[string]any{"tie": "random"}}}) {
		t.Errorf("%v", got)
	}
}

// What is printed is read back: the same is printed again.
func TestPrintedPoolsReadBack(t *testing.T) {
	t.Parallel()
	args := []string{"run", "--print-config", "--architecture", "pd", "--prefill-tp", "2", "--decode-hardware", "H200", "--decode-routing-policy", "weighted", "--decode-autoscale-policy", "threshold"}
	first := done(t, args...).out
	again := done(t, "run", "--print-config", "--config", file(t, "run.yaml", first)).out
	if d := cmp.Diff(first, again); d != "" {
		t.Error(d)
	}
	if !strings.Contains(first, "\nprefill: {\"") {
		t.Errorf("no settings of prefill in\n%s", first)
	}
}

func TestBadSettingsOfOnePool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, text, want string }{
		{"run --prefill-tp x", "", `--prefill-tp: "x": want a whole number`},
		{"run --prefill-tp", "", "--prefill-tp: want a value behind it"},
		{"run --prefill-tp --rate 4", "", "--prefill-tp: want a value behind it"},
		{"run --no-prefill-tp", "", "--no-prefill-tp: want --prefill-tp with a value"},
		{"run --decode-model x", "", "--decode-model: a pool has no model of its own: want --model"},
		{"run --decode-block-size 4", "", "--decode-block-size: a pool has no block-size of its own: want --block-size"},
		{"run --prefill-seed 4", "", "--prefill-seed: a pool has no seed of its own: want --seed"},
		{"run --prefill-kv-cache-dtype fp8", "", "--prefill-kv-cache-dtype: a pool has no kv-cache-dtype of its own"},
		{"run --prefill-num-instances 4", "", "--prefill-num-instances: want replicas"},
		{"run --prefill-hardwear H100", "", `--prefill-hardwear: no setting "hardwear" of a pool, the nearest is "hardware"`},
		{"run --decode-latency-model fast", "", `--decode-latency-model: "fast": want one of auto, blackbox`},
		{"run --architecture pd --decode-routing-policy least-load", "", `decode pool: --decode-routing-policy: routing.type: unknown routing policy "least-load"`},
		{"run --architecture pd --num-instances 3", "", "--num-instances is 3: want none with --architecture pd"},
		{"run --config FILE", "prefill: 4\n", "FILE:1: prefill: 4 is not allowed, want settings of the pool, like {tp: 4, hardware: H200}"},
		{"run --config FILE", "decode:\n  tp: four\n", `FILE:2: decode.tp: "four": want a whole number`},
		{"run --config FILE", "decode-tp: [4]\n", "FILE:1: decode-tp: a list is not allowed, want a whole number"},
		{"run --config FILE", "decode: {model: x}\n", "FILE:1: decode.model: a pool has no model of its own: want --model"},
		{"run --config FILE", "decode-tipi: 4\n", `FILE:1: decode-tipi: no setting "tipi" of a pool`},
		{"models --prefill-tp 4", "", "unknown flag --prefill-tp"},
	} {
		path := file(t, "FILE", c.text)
		s := blis(t, nil, strings.Fields(strings.ReplaceAll(c.args, "FILE", path))...)
		if want := strings.ReplaceAll(c.want, "FILE", path); s.code != exitInput || !strings.Contains(s.err, want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %s\nwant %s", c.args, s.code, s.err, want)
		}
	}
	for name, value := range map[string]string{"BLIS_PREFILL_TP": "x", "BLIS_DECODE": "[4]"} {
		if s := blis(t, map[string]string{name: value}, "run", "--architecture", "pd"); s.code != exitInput || !strings.HasPrefix(s.err, "blis: "+name+": ") {
			t.Errorf("%s: exit %d, %s", name, s.code, s.err)
		}
	}
}

// Every setting X of a pool is read as --prefill-X and --decode-X.
func TestEverySettingOfOnePoolIsAFlag(t *testing.T) {
	c := setup.DefaultConfig()
	texts := map[string]string{}
	for s := range c.Settings() {
		texts[s.Name] = setup.Text(s.Value.Interface())
	}
	for _, name := range setup.PoolSettings() {
		value := texts[name]
		switch name {
		case "policies":
			value = "{routing: {type: least-loaded}}"
		case "alpha-coeffs", "beta-coeffs":
			value = "1,2,3"
		case "async-scheduling":
			value = "true"
		}
		for _, pool := range pools {
			rest, taken, err := takePoolFlags([]string{"run", fmt.Sprintf("--%s-%s=%s", pool, name, value), "--seed", "3"})
			if names := taken.of(pool).Names(); err != nil || len(rest) != 3 || !reflect.DeepEqual(names, []string{name}) {
				t.Errorf("--%s-%s=%s: %v, %v left, %v", pool, name, value, names, rest, err)
			}
		}
	}
	if rest, taken, err := takePoolFlags([]string{"run", "--prefill-replicas", "3", "--", "--prefill-tp", "3"}); err != nil || len(rest) != 6 || len(taken) != 0 {
		t.Errorf("%v, %v, %v", rest, taken, err)
	}
}

// Deployments stand in a file of their own or among the settings, and are printed as they are
// read back, whether or not the file is still there.
func TestDeploymentsAreSettings(t *testing.T) {
	t.Parallel()
	const list = "deployments:\n  - id: a\n    model: Llama-3.1-8B-Instruct\n    architecture: pd\n    prefill: {gpu: H200, replicas: 2}\n    decode: {tp: 2, replicas: 3}\n    pd: {bandwidth: tcp}\n"
	path := file(t, "deployments.yaml", list)
	first := done(t, "run", "--print-config", "--deployments", path, "--max-num-seqs", "77").out
	for from, args := range map[string][]string{
		"among the settings":     {"--config", file(t, "run.yaml", list+"max-num-seqs: 77\n")},
		"as they are":            {"--config", file(t, "printed.yaml", first)},
		"in a file of their own": {"--config", file(t, "empty.yaml", "max-num-seqs: 77\n"), "--deployments", path},
	} {
		if d := cmp.Diff(first, done(t, append([]string{"run", "--print-config"}, args...)...).out); d != "" {
			t.Errorf("%s: %s", from, d)
		}
	}
	got := printed(t, map[string]string{"BLIS_DEPLOYMENTS": path}, "--max-num-seqs", "77")
	d := got["deployments"].([]any)[0].(map[string]any)
	if decode := d["decode"].(map[string]any); d["id"] != "a" || decode["replicas"] != "3" || decode["tp"] != "2" || d["pd"].(map[string]any)["pd-transfer-bandwidth"] != "500MB/s" || got["max-num-seqs"] != 77. {
		t.Errorf("%v", got["deployments"])
	}
	for text, want := range map[string]string{
		"deployments:\n  - id: a\n    replicas: 3\n":                                     "FILE:2: deployments[0]: want model, the model that it serves",
		"rate: 4\nnode_pools: []\n":                                                      "FILE:2: node_pools: a list is not allowed, want a list like [{id: h100",
		"node-pools:\n- {id: a, gpu: H100}\n":                                            "FILE:2: node_pools[0]: want nodes, the number of nodes",
		"admission: {scope: both}\n":                                                     "FILE:1: admission: want scope, global or deployment",
		"node_pools: [{id: a, gpu: H100, nodes: 1, gpus_per_node: 8}]\nnode-pools: []\n": "FILE:2: node_pools: a list is not allowed",
		"deployments: 4\n":                                                               "FILE:1: deployments: 4: want the path of a file, or a list of deployments",
	} {
		path := file(t, "run.yaml", text)
		if s := blis(t, nil, "run", "--config", path); s.code != exitInput || !strings.Contains(s.err, strings.ReplaceAll(want, "FILE", path)) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %s\nwant %s", text, s.code, s.err, want)
		}
	}
	if s := blis(t, nil, "run", "--deployments", path, "--model", "Llama-3.1-70B"); s.code != exitInput || !strings.Contains(s.err, "--model is Llama-3.1-70B: want none with --deployments") {
		t.Errorf("exit %d, %s", s.code, s.err)
	}
}

// What the autoscaler of each pool did is in the result, by pool.
func TestScalingOfPools(t *testing.T) {
	args := []string{"run", "--architecture", "pd", "--prefill-replicas", "1", "--decode-replicas", "1", "--rate", "60", "--num-requests", "3000", "--autoscale-policy", "queue-depth",
		"--max-replicas", "4", "--autoscale-interval", "5s", "--provisioning-delay", "5s", "--model-load-time", "5s", "--gpu-hour-price", "2"}
	r := resultOf(t, done(t, append(args, "--format", "json")...).out)
	pools := r["pool_scaling"].(map[string]any)
	prefill, decode := pools["prefill"].(map[string]any), pools["decode"].(map[string]any)
	if r["scaling"] != nil || len(prefill["events"].([]any)) != 0 || len(decode["events"].([]any)) != 1 {
		t.Errorf("scaling %v, of prefill %v, of decode %v: want an event of decode alone", r["scaling"], prefill["events"], decode["events"])
	}
	var names []string
	for _, i := range decode["instances"].([]any) {
		names = append(names, i.(map[string]any)["name"].(string))
	}
	if want := []string{"instance-1", "instance-2"}; !slices.Equal(names, want) {
		t.Errorf("decode has %v, want %v", names, want)
	}
	if cost, hours := decode["cost"].(float64), decode["replica_seconds"].(float64)/3600; math.Abs(cost-2*hours) > 1e-9 {
		t.Errorf("decode costs %v for %v hours at 2", cost, hours)
	}
	if out := done(t, args...).out; !strings.Contains(out, "scaling    decode: once up, 0 times down") || !strings.Contains(out, "scaling    prefill: 0 times up") {
		t.Errorf("text without the scaling of pools:\n%s", out)
	}
}

// Of several deployments of a model the first one's routing counts, which is said.
func TestRoutingOfTheFirstDeployment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.yaml")
	text := "deployments:\n- {id: h100, model: Llama-3.1-8B, replicas: 1, routing: least-loaded}\n- {id: l40s, model: Llama-3.1-8B, gpu: L40S, replicas: 1}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := done(t, "run", "--deployments", path, "--num-requests", "50", "--rate", "60").out
	if !strings.Contains(strings.Join(strings.Fields(out), " "), "l40s: its routing, round-robin, has no effect") {
		t.Errorf("no note in\n%s", out)
	}
}
