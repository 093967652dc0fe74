package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// effective is what --print-config says of one setting.
func effective(t *testing.T, env map[string]string, setting string, args ...string) string {
	t.Helper()
	s := blis(t, env, append([]string{"run", "--print-config"}, args...)...)
	if s.code != exitDone {
		t.Fatalf("exit %d: %s", s.code, s.err)
	}
	for _, line := range strings.Split(s.out, "\n") {
		if value, found := strings.CutPrefix(line, setting+": "); found {
			return value
		}
	}
	t.Fatalf("no %s in %s", setting, s.out)
	return ""
}

// What says something of the policies: a bundle file, over it the environment,
// then --set, then flags. A configuration file counts like a bundle, and less
// than one that is given beside it.
func TestWhoDecidesOnPolicies(t *testing.T) {
	bundle := "routing: {type: weighted, params: {queue-depth: 2, kv-utilization: 1}}\nscheduler: {type: sjf}\n"
	weighted := `"routing":{"type":"weighted","params":{"queue-depth":2,"kv-utilization":1,"tie":"random"}}`
	for _, c := range []struct {
		name string
		env  map[string]string
		file string // of --config, none if empty
		args []string
		want string // a part of the bundle in effect
	}{
		{"a bundle", nil, "", []string{"--policy-config", "BUNDLE"}, weighted},
		{"its scheduler", nil, "", []string{"--policy-config", "BUNDLE"}, `"scheduler":{"type":"sjf"`},
		{"a flag before it", nil, "", []string{"--policy-config", "BUNDLE", "--routing-policy", "least-loaded"}, `"routing":{"type":"least-loaded","params":{"tie":"random"}}`},
		{"a flag at its default before it", nil, "", []string{"--policy-config", "BUNDLE", "--routing-policy", "round-robin"}, `"routing":{"type":"round-robin"}`},
		{"the rest stays", nil, "", []string{"--policy-config", "BUNDLE", "--routing-policy", "least-loaded"}, `"scheduler":{"type":"sjf"`},
		{"a field before it", nil, "", []string{"--policy-config", "BUNDLE", "--set", "routing.params.queue-depth=5"}, `"queue-depth":5,"kv-utilization":1`},
		{"fields in turn", nil, "", []string{"--set", "routing.type=weighted", "--set", "routing.params.load-balance=1"}, `"params":{"load-balance":1,"tie":"random"}`},
		{"a flag before a field", nil, "", []string{"--set", "routing.type=weighted", "--routing-policy", "power-of-two"}, `"routing":{"type":"power-of-two"}`},
		{"a variable before it", map[string]string{"BLIS_SCHEDULER": "fcfs"}, "", []string{"--policy-config", "BUNDLE"}, `"scheduler":{"type":"fcfs"`},
		{"a field before a variable", map[string]string{"BLIS_SCHEDULER": "fcfs"}, "", []string{"--set", "scheduler.type=sjf"}, `"scheduler":{"type":"sjf"`},
		{"a file's flag", nil, "routing-policy: always-busiest\n", nil, `"routing":{"type":"always-busiest"`},
		{"a bundle before a file's flag", nil, "routing-policy: always-busiest\n", []string{"--policy-config", "BUNDLE"}, weighted},
		{"a bundle in a file", nil, "policies:\n  routing:\n    type: weighted\n    params:\n      load-balance: 2\n", nil, `"params":{"load-balance":2,"tie":"random"}`},
		{"scorers replace scorers", nil, "", []string{"--policy-config", "BUNDLE", "--routing-scorers", "load-balance:4"}, `"params":{"load-balance":4,"tie":"random"}`},
		{"a field of what a flag chose", nil, "", []string{"--set", "autoscale.params.up=0.9", "--autoscale-policy", "threshold"}, `"up":0.9`},
		{"parameters in any order", nil, "", []string{"--routing-scorers", "queue-depth:1", "--routing-policy", "weighted"}, `"params":{"queue-depth":1,"tie":"random"}`},
		{"parameters of a policy that was replaced", nil, "routing-policy: weighted\nrouting-scorers: 'queue-depth:1'\n", []string{"--routing-policy", "least-loaded"}, `"routing":{"type":"least-loaded"`},
		{"parameters of a file, its policy a flag's", nil, "routing-scorers: 'queue-depth:1'\n", []string{"--routing-policy", "weighted"}, `"params":{"queue-depth":1,"tie":"random"}`},
		{"a bundle before variables and files", map[string]string{"BLIS_ROUTING_POLICY": "power-of-two"}, "scheduler: sjf\n", []string{"--policies", "{routing: {type: least-loaded}}"}, `"routing":{"type":"least-loaded"`},
		{"refresh", nil, "", []string{"--set", "observability.refresh=50ms"}, `"observability":{"refresh":"50ms"`},
		{"always fresh after all", nil, "snapshot-refresh-interval: 50ms\n", []string{"--snapshot-refresh-interval", "0"}, `"observability":{"refresh":"0µs"`},
		{"one argument", nil, "", []string{"--policies", "{priority: {type: slo-based, params: {batch: 7}}}"}, `"batch":7`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var args []string
			for _, a := range c.args {
				if a == "BUNDLE" {
					a = file(t, "bundle.yaml", bundle)
				}
				args = append(args, a)
			}
			if c.file != "" {
				args = append(args, "--config", file(t, "run.yaml", c.file))
			}
			if got := effective(t, c.env, "policies", args...); !strings.Contains(got, c.want) {
				t.Errorf("in effect: %s\nwant %s", got, c.want)
			}
		})
	}
}

// The bundle in effect, taken out of a result, repeats the run.
func TestBundleOfAResultReadsBack(t *testing.T) {
	args := small("--format", "json", "--routing-policy", "weighted", "--routing-scorers", "kv-utilization:1,queue-depth:2", "--priority-policy", "slo-based",
		"--autoscale-policy", "threshold", "--autoscale-interval", "100ms", "--model-load-time", "40ms,cv=0.3", "--provisioning-delay", "5ms", "--snapshot-refresh-interval", "10ms")
	first := resultOf(t, done(t, args...).out)
	text, err := json.Marshal(first["policies"])
	if err != nil {
		t.Fatal(err)
	}
	again := resultOf(t, done(t, small("--format", "json", "--policy-config", file(t, "bundle.yaml", string(text)))...).out)
	for _, key := range []string{"policies", "scaling", "key", "digest"} {
		if d := cmp.Diff(first[key], again[key]); d != "" {
			t.Errorf("%s: %s", key, d)
		}
	}
}

func TestBadBundlesAreInputErrors(t *testing.T) {
	for _, c := range []struct {
		name, bundle string
		args         []string
		want         string
	}{
		{"field", "routing:\n  type: weighted\n  params:\n    queue-depht: 3\n", nil, `bundle.yaml:4: routing.params.queue-depht: weighted has no parameter "queue-depht", the nearest is "queue-depth"`},
		{"all weights 0", "routing:\n  type: weighted\n  params: {queue-depth: 0}\n", nil, "bundle.yaml:3: routing.params: the weight of every scorer is 0"},
		{"NaN", "routing: {type: weighted, params: {queue-depth: .nan}}", nil, `bundle.yaml:1: routing.params.queue-depth: ".nan" is not allowed, want a number in [0, 1e+09]`},
		{"infinite", "routing: {type: weighted, params: {queue-depth: .inf}}", nil, `bundle.yaml:1: routing.params.queue-depth: ".inf" is not allowed, want a number in [0, 1e+09]`},
		{"negative", "routing: {type: weighted, params: {queue-depth: -1}}", nil, `bundle.yaml:1: routing.params.queue-depth: "-1" is not allowed, want a number in [0, 1e+09]`},
		{"a scorer twice", "routing:\n  type: weighted\n  params:\n    queue-depth: 1\n    tie: lowest\n    queue-depth: 2\n", nil, "bundle.yaml:6: routing.params.queue-depth: is given twice, first on line 4, want it once"},
		{"a scorer twice, by flag", "", []string{"--routing-policy", "weighted", "--routing-scorers", "queue-depth:1,queue-depth:2"}, "--routing-scorers: queue-depth is given twice"},
		{"a weight that is NaN, by flag", "", []string{"--routing-policy", "weighted", "--routing-scorers", "queue-depth:NaN"}, "--routing-scorers"},
		{"a negative weight, by flag", "", []string{"--routing-policy", "weighted", "--routing-scorers", "queue-depth:-1"}, "--routing-scorers"},
		{"section", "\nadmision: {type: token-bucket}", nil, `bundle.yaml:2: admision: unknown section "admision", the nearest is "admission"`},
		{"type", "admission:\n  type: token-bukket\n", nil, `bundle.yaml:2: admission.type: unknown admission policy "token-bukket", the nearest is "token-bucket"`},
		{"down above up", "autoscale:\n  type: threshold\n  params:\n    up: 0.3\n    down: 0.5\n", nil, "bundle.yaml:5: autoscale.params.down: 0.5 is not below up, 0.3"},
		{"cooldown", "autoscale: {type: threshold, params: {cooldown: -1s}}", nil, `bundle.yaml:1: autoscale.params.cooldown: "-1s" is not allowed`},
		{"min above max", "autoscale:\n  type: threshold\n  max: 4\n  min: 5\n", nil, "bundle.yaml:4: autoscale.min: 5 is not allowed, want from 1 to --max-replicas 4"},
		{"min above a flag's max", "autoscale: {type: threshold, min: 5}", []string{"--max-replicas", "4"}, "bundle.yaml:1: autoscale.min: 5 is not allowed, want from 1 to --max-replicas 4"},
		{"a flag's min above max", "autoscale: {type: threshold, min: 2, max: 4}", []string{"--min-replicas", "5"}, "--min-replicas is 5: want from 1 to --max-replicas 4"},
		{"min of none", "autoscale: {type: threshold, min: 0}", nil, "bundle.yaml:1: autoscale.min: 0 is not allowed, want 1 or more, or --flow-control and an autoscaler that counts who waits there"},
		{"initial below min", "autoscale: {type: threshold, min: 7, max: 9}", nil, "--num-instances is 4: want from --min-replicas 7 to --max-replicas 9"},
		{"periodic without a refresh", "observability:\n  in_flight: periodic\n", nil, "bundle.yaml:2: observability.in_flight: periodic is not allowed, want immediate, or a --snapshot-refresh-interval above 0 with it"},
		{"periodic without a refresh, by flag", "", []string{"--in-flight", "periodic"}, "--in-flight is periodic: want immediate"},
		{"never checked, in the file", "autoscale:\n  type: threshold\n  interval: 0\n", nil, "bundle.yaml:3: autoscale.interval: 0 is not allowed, want more with --autoscale-policy threshold"},
		{"two bundles", "scheduler: {type: sjf}", []string{"--policies", "{routing: {type: weighted}}"}, "--policy-config and --policies are both bundles"},
		{"never checked", "", []string{"--autoscale-policy", "threshold", "--autoscale-interval", "0"}, "--autoscale-interval is 0"},
		{"no cost", "", []string{"--cost-per-replica-hour", "NaN"}, "--cost-per-replica-hour is NaN"},
		{"no such file", "", []string{"--policy-config", "nowhere.yaml"}, "--policy-config: nowhere.yaml: no such file"},
		{"no path", "", []string{"--set", "routing.typ=weighted"}, `--set routing.typ: unknown field "typ", the nearest is "type"`},
		{"no value", "", []string{"--set", "routing.type"}, "--set routing.type: want path=value"},
		{"a parameter of another policy", "", []string{"--token-bucket-capacity", "5"}, "--token-bucket-capacity: admission.params.capacity: always-admit takes no parameters"},
		{"penalty", "", []string{"--autoscale-policy", "threshold", "--warmup-penalty", "0.5"}, `--warmup-penalty: autoscale.actuation.warmup.penalty: "0.5" is not allowed`},
		{"load time", "", []string{"--model-load-time", "40s,cv=x"}, "--model-load-time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"run"}, c.args...)
			if c.bundle != "" {
				args = append(args, "--policy-config", file(t, "bundle.yaml", c.bundle))
			}
			s := blis(t, nil, args...)
			if s.code != exitInput || !strings.Contains(s.err, c.want) || strings.Count(s.err, "\n") != 1 || s.out != "" {
				t.Errorf("exit %d: %s\nwant %s", s.code, s.err, c.want)
			}
		})
	}
}
