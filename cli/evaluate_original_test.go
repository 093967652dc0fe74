package cli

import (
	"strings"
	"testing"
)

const chatSpecification = `version: "2"
aggregate_rate: 20
num_requests: 100
clients:
  - {id: chat, rate_fraction: 1, input_distribution: {type: constant, params: {value: 300}}, output_distribution: {type: constant, params: {value: 50}}}
`

func TestGEPAEvaluate(t *testing.T) {
	workload, settings := file(t, "w.yaml", chatSpecification), file(t, "s.yaml", "num-instances: 2\n")
	policy := file(t, "p.yaml", "routing: least-loaded")
	a := resultOf(t, done(t, "gepa-evaluate", "--policy-config", policy, "--workload", workload).out)
	b := resultOf(t, done(t, "gepa-evaluate", "--policy-config", policy, "--workload", workload, "--config", settings).out)
	if a["score"] != 0.5 || b["score"] != 0.5 {
		t.Errorf("scores %v and %v, want those of the baseline", a["score"], b["score"])
	}
	ids := func(v map[string]any) map[string]any { return v["outputs"].(map[string]any) }
	if ids(a)["workload_id"] != ids(b)["workload_id"] || ids(a)["cluster_id"] == ids(b)["cluster_id"] {
		t.Errorf("%v, %v: want one workload on two clusters", ids(a), ids(b))
	}
	for _, c := range []struct{ workload, settings, want string }{
		{"", "", "want a workload specification"},
		{strings.Replace(chatSpecification, "num_requests", "num_reqests", 1), "", `w.yaml:3: num_reqests: unknown field`},
		{chatSpecification, "num-instanses: 2", `num-instances`},
		{chatSpecification, "- 2", "want settings"},
	} {
		workload, settings := file(t, "w.yaml", c.workload), file(t, "s.yaml", c.settings)
		s := blis(t, nil, "gepa-evaluate", "--policy-config", policy, "--workload", workload, "--config", settings)
		if s.code != exitInput || strings.Count(s.err, "\n") != 1 || !strings.Contains(s.err, c.want) || c.settings != "" && !strings.Contains(s.err, settings) {
			t.Errorf("%q, %q: exit %d: %s, want exit 2 and one line with %q", c.workload, c.settings, s.code, s.err, c.want)
		}
	}
}

func TestOpenEvolveEvaluate(t *testing.T) {
	evaluate := func(text string) map[string]any {
		return resultOf(t, done(t, "openevolve-evaluate", "--config", "standard", "--candidate", file(t, "c.yaml", text)).out)
	}
	dotted := evaluate("routing.cache_affinity_weight: 0.7\nrouting.load_balance_weight: 0.3\npriority.critical_score: 90\n")
	bundle := evaluate("routing: {type: weighted, params: {prefix-affinity: 0.7, load-balance: 0.3}}\npriority: {type: slo-based, params: {critical: 90}}\n")
	if dotted["ok"] != true || dotted["score"] != bundle["score"] || dotted["outputs"].(map[string]any)["policy_id"] != bundle["outputs"].(map[string]any)["policy_id"] {
		t.Errorf("dotted names score %v, the same bundle %v", dotted, bundle)
	}
	for text, want := range map[string]string{ // any order: each by itself
		"routing.cache_affinity: 0.7":                           "cache_affinity",
		"roting.type: weighted":                                 `"routing"`,
		"routing.type: weighted\nrouting.params.queue-depth: x": "queue-depth",
	} {
		a := evaluate(text)
		if fault, _ := a["error"].(map[string]any); a["score"] != 0.0 || !strings.Contains(fault["message"].(string), want) {
			t.Errorf("%q: %v, want score 0 and %q", text, fault, want)
		}
	}
}
