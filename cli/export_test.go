package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// exportedPolicies are those whose file for llm-d is checked, by arguments of blis export
// llm-d.
var exportedPolicies = map[string]string{
	"the default of llm-d":        "weighted",
	"in flight":                   "least-loaded",
	"long prompts":                "prefix-affinity --set routing.params.min_match=0.8",
	"full ones left out":          "least-loaded --set routing.params.max_queue=4 --set routing.params.max_kv=0.9",
	"busy ones left out":          "least-loaded --set routing.params.max_in_flight=40 --set routing.params.max_running=16",
	"filters by request":          "least-loaded --set routing.params.sticky_session=5m --set routing.params.min_prefix=0.8",
	"two drawn":                   "power-of-two",
	"in turn":                     "round-robin",
	"queues as llm-d counts them": "weighted --routing-scorers waiting-queue:1,active-requests:2.5 --snapshot-refresh-interval 50ms --signals per-step",
	"sessions":                    "weighted --routing-scorers session-affinity:5,load-balance:1,cache-hit-rate:1",
	"running ones":                "weighted --routing-scorers running-requests:1,load-aware:2",
	"sessions by their hash":      "session-hash",
	"new prompts spread":          "weighted --routing-scorers prefix-affinity:2,no-hit-lru:1 --prefix-index events",
	"sessions for a while":        "weighted --routing-scorers session-affinity:5,load-balance:1 --set routing.params.session_ttl=90s",
	"KV events":                   "weighted --prefix-index events --kv-event-delay 5ms --snapshot-refresh-interval 200ms",
	"a small index":               "weighted --prefix-index-blocks 10000 --block-size-in-tokens 128",
	"prefill and decode":          "weighted --architecture pd --pd-decider prefix-threshold --pd-prefix-threshold 400 --prefill-routing-policy=least-loaded",
	"pools that know otherwise":   "weighted --architecture pd --pd-decider direct-to-decode --prefill-prefix-index-blocks=10000 --decode-prefix-index-blocks=20000",
	"all disaggregated":           "least-loaded --architecture pd",
	"none disaggregated":          "least-loaded --architecture pd --pd-decider never",
	"sheddable":                   "weighted --admission-policy saturation-shed --set admission.params.queue_depth=7",
}

// TestExportedFilesAreValid: each file has the form of an EndpointPickerConfig, its
// plugins have parameters that they know, and its references lead somewhere.
func TestExportedFilesAreValid(t *testing.T) {
	form := loadSchemaOf(t, "endpointpickerconfig")
	for name, args := range exportedPolicies {
		t.Run(name, func(t *testing.T) {
			for _, version := range []string{"llm-d.ai/v1alpha1", "inference.networking.x-k8s.io/v1alpha1"} {
				s := done(t, append([]string{"export", "llm-d", "--api-version", version}, strings.Fields(args)...)...)
				config := yamlAsJSON(t, s.out)
				if config["apiVersion"] != version {
					t.Errorf("apiVersion %v", config["apiVersion"])
				}
				for _, bad := range append(form.value(form.root, config, "$"), faultsOf(form, config)...) {
					t.Errorf("%s\n%s", bad, s.out)
				}
			}
		})
	}
}

// yamlAsJSON reads YAML into the types of package json.
func yamlAsJSON(t *testing.T, text string) map[string]any {
	t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return resultOf(t, string(converted))
}

// faultsOf are what no schema sees: names that are not unique, references to nothing, a
// profile without a picker or with two.
func faultsOf(form *schema, config map[string]any) (bad []string) {
	add := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	types := map[string]string{} // name → type
	for _, p := range config["plugins"].([]any) {
		p := p.(map[string]any)
		kind, name := p["type"].(string), p["type"].(string)
		if given, ok := p["name"].(string); ok {
			name = given
		}
		if types[name] != "" {
			add("two plugins are called %s", name)
		}
		types[name] = kind
		rule, known := form.root["$defs"].(map[string]any)[kind].(map[string]any)
		if !known {
			add("%s is no plugin of the schema", kind)
			continue
		}
		if parameters := p["parameters"]; parameters != nil {
			bad = append(bad, form.value(rule, parameters, "$."+name)...)
		}
	}
	refer := func(name any) string {
		kind, ok := types[name.(string)]
		if !ok {
			add("no plugin is called %v", name)
		}
		return kind
	}
	handlers, used := 0, map[string]bool{}
	for name, kind := range types { // any order
		if strings.HasSuffix(kind, "-profile-handler") {
			handlers++
		}
		used[name] = false
	}
	if handlers != 1 {
		add("%d profile handlers", handlers)
	}
	var profiles []string
	for _, p := range config["schedulingProfiles"].([]any) {
		p := p.(map[string]any)
		profiles = append(profiles, p["name"].(string))
		pickers, scorers := 0, 0
		seen := []string{}
		for _, r := range p["plugins"].([]any) {
			r := r.(map[string]any)
			kind := refer(r["pluginRef"])
			if slices.Contains(seen, r["pluginRef"].(string)) {
				add("%v is twice in %v", r["pluginRef"], p["name"])
			}
			seen = append(seen, r["pluginRef"].(string))
			_, weighs := r["weight"]
			if strings.HasSuffix(kind, "-scorer") != weighs {
				add("%s: a weight: %v", kind, weighs)
			}
			if strings.HasSuffix(kind, "-picker") {
				pickers++
			}
			if weighs {
				scorers++
			}
		}
		if pickers != 1 || scorers == 0 && !slices.Contains(seen, "random-picker") {
			add("%v has %d pickers, %d scorers", p["name"], pickers, scorers)
		}
	}
	if want := map[string]string{"single-profile-handler": "default", "disagg-profile-handler": "prefill decode"}; len(types) > 0 {
		for name, kind := range types { // any order
			if names := want[kind]; names != "" && names != strings.Join(profiles, " ") {
				add("%s with profiles %v", name, profiles)
			}
		}
	}
	for _, p := range config["plugins"].([]any) {
		parameters, _ := p.(map[string]any)["parameters"].(map[string]any)
		if name, ok := parameters["prefixMatchInfoProducerName"]; ok {
			refer(name)
		}
		if deciders, ok := parameters["deciders"].(map[string]any); ok {
			refer(deciders["prefill"])
		}
	}
	layer, _ := config["dataLayer"].(map[string]any)
	sources, _ := layer["sources"].([]any)
	for _, s := range sources {
		refer(s.(map[string]any)["pluginRef"])
		for _, x := range s.(map[string]any)["extractors"].([]any) {
			refer(x.(map[string]any)["pluginRef"])
		}
	}
	if flow, ok := config["flowControl"].(map[string]any); ok {
		refer(flow["saturationDetector"].(map[string]any)["pluginRef"])
	}
	return bad
}

// TestExportNamesWhatLLMDDoesOtherwise: in the file and on standard error.
func TestExportNamesWhatLLMDDoesOtherwise(t *testing.T) {
	for _, c := range []struct{ args, field, text string }{
		{"round-robin", "routing.type", "llm-d has no round-robin"},
		{"power-of-two", "routing.type", "weighted-random-picker"},
		{"session-hash", "routing.type", "session-affinity-filter"},
		{"least-loaded --set routing.params.tie=lowest", "routing.params.tie", "lowest takes the first"},
		{"prefix-affinity", "routing.params.max_imbalance", "maxTTFTPenaltyMs"},
		{"weighted", "routing.params.queue-depth", "waiting-queue is what llm-d computes"},
		{"weighted --routing-scorers cache-hit-rate:1,waiting-queue:1", "routing.params.cache-hit-rate", "left out"},
		{"weighted --routing-scorers vllm-dp:1", "routing.params.vllm-dp", "a quarter each"},
		{"weighted --routing-scorers prefix-match:1,waiting-queue:1", "routing.params.prefix-match", "left out"},
		{"weighted", "block-size-in-tokens", "blocks of 64 tokens at least, here of 16"},
		{"weighted", "observability.refresh", "--snapshot-refresh-interval 50ms"},
		{"weighted --snapshot-refresh-interval 20ms", "observability.refresh", "--refresh-metrics-interval=20ms"},
		{"weighted --snapshot-refresh-interval 50ms", "signals", "--signals per-step"},
		{"weighted --snapshot-refresh-interval 50ms --set observability.queue_depth=immediate", "observability.queue_depth", "freshness of its own"},
		{"weighted --in-flight periodic --snapshot-refresh-interval 50ms", "observability.in_flight", "sees responses end"},
		{"weighted --prefix-index events --kv-event-delay 5ms", "observability.kv_event_delay", "5ms"},
		{"weighted --admission-policy token-bucket", "admission.type", "gateway in front"},
		{"weighted --admission-policy saturation-shed --set admission.params.threshold=2", "admission.params.threshold", "mean saturation of 1"},
		{"weighted --admission-policy saturation-shed --set admission.params.queue_depth=4.5", "admission.params.queue_depth", "whole number"},
		{"weighted --priority-policy slo-based", "priority.type", "InferenceObjective"},
		{"weighted --scheduler priority-fcfs", "scheduler.type", "--scheduling-policy priority"},
		{"weighted --scheduler sjf", "scheduler.type", "fcfs and priority alone"},
		{"weighted --preemption-policy priority", "scheduler.params.preemption", "vLLM preempts"},
		{"weighted --autoscale-policy threshold --max-replicas 8", "autoscale.type", "HorizontalPodAutoscaler"},
		{"weighted --architecture pd --pd-decode-choice handoff", "pd-decode-choice", "as arrival does"},
	} {
		t.Run(c.args, func(t *testing.T) {
			s := done(t, append([]string{"export", "llm-d"}, strings.Fields(c.args)...)...)
			for where, text := range map[string]string{"file": s.out, "standard error": s.err} { // any order
				found := slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
					return strings.Contains(line, " "+c.field+": ") && strings.Contains(line, c.text)
				})
				if !found {
					t.Errorf("%s: want %s: … %s …\n%s", where, c.field, c.text, text)
				}
			}
		})
	}
}

// TestExportHasWhatLLMDDoesTheSame without a word: the default of llm-d itself, seen as
// llm-d sees it.
func TestExportHasWhatLLMDDoesTheSame(t *testing.T) {
	s := done(t, "export", "llm-d", "weighted", "--routing-scorers", "waiting-queue:2,kv-utilization:2,active-requests:1", "--snapshot-refresh-interval", "50ms", "--signals", "per-step",
		"--admission-policy", "saturation-shed")
	if strings.Contains(s.err, "otherwise") || strings.Contains(s.out, "otherwise") {
		t.Errorf("%s\n%s", s.err, s.out)
	}
	config := yamlAsJSON(t, s.out)
	got, _ := json.Marshal(config["schedulingProfiles"])
	const want = `[{"name":"default","plugins":[{"pluginRef":"queue-scorer","weight":2},{"pluginRef":"kv-cache-utilization-scorer","weight":2},{"pluginRef":"active-request-scorer","weight":1},{"pluginRef":"max-score-picker"}]}]`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestExportAddsWeightsOfOneScorer: two of ours are the same plugin.
func TestExportAddsWeightsOfOneScorer(t *testing.T) {
	s := done(t, "export", "llm-d", "weighted", "--routing-scorers", "waiting-queue:2,queue-depth:1.5")
	if !strings.Contains(s.out, "- pluginRef: queue-scorer\n    weight: 3.5\n") {
		t.Error(s.out)
	}
}

// TestExportRefusesWhatHasNoCounterpart in one line.
func TestExportRefusesWhatHasNoCounterpart(t *testing.T) {
	several := file(t, "two.yaml", "deployments:\n- {id: a, model: Llama-3.1-8B, replicas: 1}\n- {id: b, model: Qwen3-14B, replicas: 1}\n")
	for _, c := range []struct{ args, text string }{
		{"always-busiest", "routing.type: always-busiest has no counterpart in llm-d"},
		{"weighted --routing-scorers cache-hit-rate:1", "routing.params: llm-d has no counterpart of any scorer"},
		{"weighted --admission-policy reject-all", "reject-all serves nobody"},
		{"no-such-policy", "no such file"},
		{"weighted --deployment a", "there are no --deployments"},
		{"weighted --deployments " + several, "which of a, b?"},
		{"weighted --deployments " + several + " --deployment c", "want one of a, b"},
		{"weighted --policy-config x.yaml", "want one of them"},
	} {
		s := blis(t, nil, append([]string{"export", "llm-d"}, strings.Fields(c.args)...)...)
		if s.code != exitInput || s.out != "" || !strings.Contains(s.err, c.text) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %s%s", c.args, s.code, s.out, s.err)
		}
	}
	if s := done(t, "export", "llm-d", "weighted", "--deployments", several, "--deployment", "b"); !strings.Contains(s.out, "# model: Qwen/Qwen3-14B\n") {
		t.Error(s.out)
	}
}

// TestExportAsJSON has the same configuration, and the differences as a list.
func TestExportAsJSON(t *testing.T) {
	form := loadSchemaOf(t, "export")
	for name, args := range exportedPolicies {
		fields := append([]string{"export", "llm-d"}, strings.Fields(args)...)
		s, file := done(t, append(fields, "--format", "json")...), done(t, fields...)
		for _, bad := range form.check(s.out) {
			t.Errorf("%s: %s", name, bad)
		}
		got, _ := json.Marshal(resultOf(t, s.out)["config_for_deployment"])
		want, _ := json.Marshal(yamlAsJSON(t, file.out))
		if string(got) != string(want) {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
}

// TestExportOfPrefillAndDecode is what testdata has.
func TestExportOfPrefillAndDecode(t *testing.T) {
	const path = "testdata/export_pd.yaml"
	got := done(t, append([]string{"export", "llm-d"}, strings.Fields(exportedPolicies["prefill and decode"])...)...).out
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestExportOfASmallIndex: blocks of 16 tokens become a quarter as many of 64.
func TestExportOfASmallIndex(t *testing.T) {
	for args, want := range map[string]string{
		"--prefix-index-blocks 10000":                                                "blockSizeTokens: 64\n    lruCapacityPerServer: 2500\n",
		"--prefix-index-blocks 10000 --block-size-in-tokens 128":                     "blockSizeTokens: 128\n    lruCapacityPerServer: 10000\n",
		"--prefix-index-blocks 1":                                                    "lruCapacityPerServer: 1\n",
		"--model moonshotai/Kimi-K2.5 --hardware B200 --tp 8":                        "maxPrefixTokensToMatch: 262144\n",
		"--model moonshotai/Kimi-K2.5 --hardware B200 --tp 8 --max-model-len 200000": "maxPrefixTokensToMatch: 200000\n",
	} { // any order
		s := done(t, append([]string{"export", "llm-d", "weighted"}, strings.Fields(args)...)...)
		if !strings.Contains(s.out, want) || strings.Contains(args, "index") != strings.Contains(s.out, "autoTune: false") {
			t.Errorf("%s: want %s\n%s", args, want, s.out)
		}
	}
}
