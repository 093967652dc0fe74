package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// prefixes is traffic of two groups of prompts that begin alike.
const prefixes = `version: "2"
seed: 7
aggregate_rate: 20
clients:
  - {id: a, tenant_id: gold, slo_class: standard, rate_fraction: 0.5, prefix_group: alpha, prefix_length: 1000, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 600}}, output_distribution: {type: constant, params: {value: 30}}}
  - {id: b, tenant_id: free, slo_class: standard, rate_fraction: 0.5, prefix_group: beta, prefix_length: 800, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 600}}, output_distribution: {type: constant, params: {value: 30}}}
`

// TestSummaryOfAvoidableMisses: round-robin looks at no prefix, and the summary says what that
// cost; the same of the run and of its trace.
func TestSummaryOfAvoidableMisses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "t.jsonl")
	s := done(t, "run", "--workload-spec", file(t, "w.yaml", prefixes), "--num-requests", "120", "--num-instances", "6", "--trace-out", out,
		"--summarize-trace", "issue-focused", "--summary-focus", "prefix-cache", "--format", "json")
	summary := resultOf(t, s.out)["trace_summary"].(map[string]any)
	facts := summary["avoidable_misses"].(map[string]any)
	text := summary["text"].(string)
	// Each of six instances computes each of two prefixes once. The first time nobody else has it.
	if facts["away"] != 10.0 || facts["requests"] != 120.0 || facts["away_tokens"] != 5*992.0+5*800 || !strings.Contains(text, "10 of 120 requests went away from an instance that had their prefix (8,960 tokens recomputed") {
		t.Errorf("%v\n%s", facts, text)
	}
	if strings.Contains(text, "WORK OF EACH INSTANCE") {
		t.Error(text)
	}
	again := resultOf(t, done(t, "trace", "summarize", out, "--summary-focus", "prefix-cache", "--format", "json").out)
	if again["text"] != text {
		t.Errorf("of the trace: %v\nof the run: %s", again["text"], text)
	}
	if s := done(t, "trace", "summarize", out); !strings.Contains(s.out, "went away from an instance that had their prefix") {
		t.Error(s.out)
	}
}

// TestSummaryFocusIsChecked in one line.
func TestSummaryFocusIsChecked(t *testing.T) {
	for args, want := range map[string]string{
		"run --summarize-trace pattern --summary-focus tenant":        `--summary-focus: "tenant" is no area of a summary, the nearest is "tenants"`,
		"run --summary-focus tenants":                                 "--summary-focus is tenants without a summary",
		"run --summarize-trace pattern --summary-focus tails,tails":   "tails is given twice",
		"trace summarize no.jsonl --summary-focus tenants,admissions": `"admissions" is no area`,
	} { // any order
		s := blis(t, nil, strings.Fields(args)...)
		if s.code != exitInput || !strings.Contains(s.err, want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %s", args, s.code, s.err)
		}
	}
}
