package cli

import (
	"strings"
	"testing"
)

// Node pools stand in a configuration under either name, are printed as a list, and read back; rows and
// results have the nodes.
func TestNodePoolsAreSettings(t *testing.T) {
	const list = "[{id: h100, gpu: H100, nodes: 2, gpus_per_node: 2, cost_per_gpu_hour: 2.5}]"
	for _, name := range []string{"node_pools", "node-pools"} {
		path := file(t, "run.yaml", name+": "+list+"\nnum-requests: 20\n")
		got := printed(t, nil, "--config", path)
		pools := got["node-pools"].([]any)
		if p := pools[0].(map[string]any); len(pools) != 1 || p["id"] != "h100" || p["gpus_per_node"] != 2. || p["cost_per_gpu_hour"] != 2.5 {
			t.Errorf("%v", pools)
		}
		again := file(t, "again.yaml", done(t, "run", "--print-config", "--config", path).out)
		rows := t.TempDir() + "/rows.csv"
		r := resultOf(t, done(t, "run", "--config", again, "--requests-out", rows, "--format", "json").out)
		u := r["node_pools"].(map[string]any)["h100"].(map[string]any)
		if u["gpus"] != 4. || u["peak_gpus"] != 4. || u["utilisation"] != 1. || u["cost"] != r["replicas"].(map[string]any)["cost"] {
			t.Errorf("%v, replicas %v", u, r["replicas"])
		}
		if nodes := r["instance_nodes"].(map[string]any); nodes["instance-1"] != "h100/0" || nodes["instance-2"] != "h100/1" {
			t.Errorf("%v", nodes)
		}
		header, first, _ := strings.Cut(read(t, rows), "\n")
		if !strings.HasSuffix(header, ",node") || !strings.Contains(firstLine(first), ",h100/") {
			t.Errorf("rows begin with\n%s\n%s", header, firstLine(first))
		}
	}
	out := done(t, "run", "--num-requests", "20", "--node-pools", list).out
	if !strings.Contains(out, "node pool") || !strings.Contains(out, "2 H100") {
		t.Errorf("no table of node pools in\n%s", out)
	}
	for _, line := range strings.Split(out, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("a line of %d characters: %s", len([]rune(line)), line)
		}
	}
}
