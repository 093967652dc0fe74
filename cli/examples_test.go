package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The configurations in examples/ run as their first lines say, from the root
// of the repository.
func TestExamplesRun(t *testing.T) {
	t.Chdir("..")
	configs, err := filepath.Glob("examples/*/run.yaml")
	if err != nil || len(configs) < 2 {
		t.Fatalf("%v, %v", configs, err)
	}
	for _, path := range configs {
		command := strings.Fields(strings.TrimPrefix(firstLine(read(t, path)), "# "))
		if len(command) == 0 || command[0] != "blis" || command[len(command)-1] != filepath.ToSlash(path) {
			t.Fatalf("%s begins with %q", path, command)
		}
		r := resultOf(t, done(t, append(command[1:], "--format", "json")...).out)
		if r["completed_requests"] != r["injected_requests"] {
			t.Errorf("%s: %v of %v completed", path, r["completed_requests"], r["injected_requests"])
		}
	}
}

// The deployments in examples/ run as their first lines say, and docs/disaggregation.md shows what the
// sweep of prefill and decode instances prints.
func TestExamplesOfDeploymentsRun(t *testing.T) {
	t.Chdir("..")
	for _, path := range []string{"examples/deployments/gpus.yaml", "examples/deployments/models.yaml", "examples/deployments/nodes.yaml"} {
		first := firstLine(read(t, path))
		command := strings.Fields(strings.TrimPrefix(first, "# "))
		if len(command) < 4 || command[0] != "blis" || command[3] != path {
			t.Fatalf("%s begins with %q", path, command)
		}
		r := resultOf(t, done(t, append(command[1:], "--format", "json")...).out)
		ends := r["completed_requests"].(float64) + r["still_running"].(float64) // the horizon of nodes.yaml cuts some off
		if ends != r["injected_requests"] || r["per_pool"] == nil {
			t.Errorf("%s: %v of %v completed", path, r["completed_requests"], r["injected_requests"])
		}
	}
	out := done(t, strings.Fields("run --deployments examples/deployments/nodes.yaml --workload-spec examples/deployments/rush.yaml")...).out
	from := strings.Index(out, "\ndeployment ") + 1
	to := strings.Index(out, "\nnode pool ")
	to += 1 + strings.Index(out[to+1:], "\n\n")
	if !strings.Contains(read(t, "docs/deployments.md"), "```\n"+out[from:to]+"\n```\n") {
		t.Errorf("docs/deployments.md shows something else than\n%s", out[from:to])
	}
	for sweep, page := range map[string]string{"examples/deployments/break-even.yaml": "docs/disaggregation.md", "examples/deployments/ranks.yaml": "docs/data-parallel.md"} {
		if !strings.Contains(firstLine(read(t, sweep)), "# blis sweep "+sweep) {
			t.Errorf("%s begins with another command", sweep)
		}
		_, rest, _ := strings.Cut(done(t, "sweep", sweep, "--out", t.TempDir()+"/out").out, "\n\n")
		table, _, _ := strings.Cut(rest, "\n\n")
		if !strings.Contains(read(t, page), "```\n"+table+"\n```\n") {
			t.Errorf("%s shows something else than\n%s", page, table)
		}
	}
}

// docs/failures.md shows what becomes of a burst when a node dies in it, with more instances and fewer.
func TestExampleOfANodeThatDies(t *testing.T) {
	t.Chdir("..")
	const path = "examples/deployments/dying-node.yaml"
	deployments := read(t, path)
	command := strings.Fields(strings.TrimPrefix(firstLine(deployments), "# "))
	if len(command) < 4 || command[0] != "blis" || command[3] != path {
		t.Fatalf("%s begins with %q", path, command)
	}
	page := read(t, "docs/failures.md")
	if line := strings.Join(command, " "); !strings.Contains(page, line) {
		t.Errorf("docs/failures.md has another command than %s", line)
	}
	for _, x := range []struct {
		instances int
		dies      bool
	}{{6, false}, {6, true}, {8, true}, {10, true}} {
		args := append(slices.Clone(command[1:]), "--format", "json")
		args[2] = file(t, "deployments.yaml", strings.NewReplacer("replicas: 6", fmt.Sprint("replicas: ", x.instances), "min: 6", fmt.Sprint("min: ", x.instances)).Replace(deployments))
		node, availability := "dies", ""
		if !x.dies {
			at := slices.Index(args, "--failures")
			node, availability, args = "stays", "–", slices.Delete(args, at, at+2)
		}
		r := resultOf(t, done(t, args...).out)
		if x.dies {
			availability = fmt.Sprintf("%.1f %%", 100*r["failures"].(map[string]any)["availability"].(float64))
		}
		ttft := fmt.Sprintf("%.0f", r["ttft_p99_ms"])
		if n := len(ttft); n > 3 {
			ttft = ttft[:n-3] + "," + ttft[n-3:]
		}
		row := fmt.Sprintf("| %d | %s | %s | %.1f %% | %s | %v | %.2f |", x.instances, node, availability, 100*r["slo_attainment"].(float64), ttft,
			r["scaling"].(map[string]any)["peak_replicas"], r["replicas"].(map[string]any)["cost"])
		if !strings.Contains(page, "\n"+row+"\n") {
			t.Errorf("docs/failures.md lacks\n%s", row)
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// What the README shows is what the command prints.
func TestReadmeShowsARealRun(t *testing.T) {
	if out := done(t, "run").out; !strings.Contains(read(t, "../README.md"), "```\n"+out+"```\n") {
		t.Errorf("README.md shows something else than\n%s", out)
	}
}

// The comparison in examples/ runs as its first line says; the README shows how
// it ends.
func TestReadmeShowsARealComparison(t *testing.T) {
	t.Chdir("..")
	command := strings.Fields(strings.TrimPrefix(firstLine(read(t, "examples/compare/cluster.yaml")), "# "))
	if len(command) < 4 || command[0] != "blis" || command[len(command)-1] != "examples/compare/cluster.yaml" {
		t.Fatalf("cluster.yaml begins with %q", command)
	}
	_, table, _ := strings.Cut(done(t, command[1:]...).out, "\n\n")
	readme := read(t, "README.md")
	if !strings.Contains(readme, "```\n"+table+"```\n") || !strings.Contains(readme, "    "+strings.Join(command, " ")+"\n") {
		t.Errorf("README.md shows something else than\n%s", table)
	}
}
