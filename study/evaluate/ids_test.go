package evaluate

import (
	"reflect"
	"strings"
	"testing"
)

// Ids change with what they are of, and with nothing else.
func TestIDs(t *testing.T) {
	of := func(suite, candidate string) Outputs {
		s := parse(t, suite)
		o := evaluate(t, s, reference(t, s, Options{}), yaml(candidate), Options{}).Outputs
		o.Digest, o.Seeds = "", nil
		return o
	}
	const weighted = "routing: {type: weighted, params: {prefix-affinity: 3, queue-depth: 2, kv-utilization: 2}}"
	base := of(tiny, "routing: {type: weighted}")
	for _, c := range []struct {
		name, suite, candidate string
		policy, work, cluster  bool // change
	}{
		{"the same policies in other words", tiny, "metadata: {a: 1}\n" + weighted, false, false, false},
		{"another weight", tiny, strings.Replace(weighted, "3", "4", 1), true, false, false},
		{"another order of weights", tiny, "routing: {type: weighted, params: {queue-depth: 2, prefix-affinity: 3, kv-utilization: 2}}", true, false, false},
		{"another rate", edited(t, tiny, "rate: 30", "rate: 31"), weighted, false, true, false},
		{"another seed", edited(t, tiny, "seeds: [1, 2]", "seeds: [1, 9]"), weighted, false, true, false},
		{"another specification", edited(t, tiny, "value: 300", "value: 301"), weighted, false, true, false},
		{"other instances", edited(t, tiny, "num-instances: 2", "num-instances: 3"), weighted, false, false, true},
		{"other targets", edited(t, tiny, "ttft=200ms", "ttft=201ms"), weighted, false, false, true},
		{"other weights of measures", edited(t, tiny, "p99_ttft: 1", "p99_ttft: 2"), weighted, false, false, true},
		{"another baseline", edited(t, tiny, "measures:", "baseline: {routing: {type: least-loaded}}\nmeasures:"), weighted, false, false, true},
		{"other signals", edited(t, tiny, "num-instances: 2", "num-instances: 2, snapshot-refresh-interval: 50ms"), weighted, false, false, true},
		{"a comment", "# comment\n" + tiny, weighted, false, false, false},
		{"held-out scenarios", edited(t, tiny, "rate: 35", "rate: 36"), weighted, false, false, false},
	} {
		got := of(c.suite, c.candidate)
		if (got.Policy != base.Policy) != c.policy || (got.Workload != base.Workload) != c.work || (got.Cluster != base.Cluster) != c.cluster {
			t.Errorf("%s: %+v\nfrom %+v", c.name, got, base)
		}
	}
	if !reflect.DeepEqual(base, of(tiny, weighted)) {
		t.Error("the same suite and candidate have other ids")
	}
	other, err := Parse("elsewhere/other.yaml", []byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	if got := evaluate(t, other, reference(t, other, Options{}), yaml(weighted), Options{}).Outputs; got.Workload != base.Workload || got.Cluster != base.Cluster {
		t.Errorf("the same suite of another name: %+v\nfrom %+v", got, base)
	}
	measureOf := func(whose string) string {
		return edited(t, tiny, "cache_hit_rate: 0", `cache_hit_rate: 0, "`+whose+`:p99_ttft": 0`)
	}
	if a, b := of(measureOf("batch"), weighted), of(measureOf("tenant/batch"), weighted); a.Cluster == b.Cluster {
		t.Errorf("a measure of other requests: %+v\n%+v", a, b)
	}
	// The rate of a specification with a utilization depends on the cluster.
	share := edited(t, tiny, "aggregate_rate: 40", "utilization: 0.7")
	if a, b := of(share, weighted), of(edited(t, share, "num-instances: 2", "num-instances: 3"), weighted); a.Workload == b.Workload || a.Cluster == b.Cluster {
		t.Errorf("a utilization of another cluster: %+v\n%+v", a, b)
	}
}
