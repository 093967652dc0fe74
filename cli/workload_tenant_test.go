package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ofTenant is the rows of a tenant in an exported trace, behind the header.
func ofTenant(t *testing.T, text, tenant string) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	column := slices.Index(strings.Split(lines[0], ","), "tenant")
	if column < 0 {
		t.Fatalf("no tenant in %s", lines[0])
	}
	rows := []string{lines[0]}
	for _, line := range lines[1:] {
		if strings.Split(line, ",")[column] == tenant {
			rows = append(rows, line)
		}
	}
	return rows
}

// A client or tenant more in a specification changes no byte of what another
// sends: requests of single clients, of conversations, of graphs, and of users.
// Nor does their order.
func TestExportOfATenantIsTheSameBesideOthers(t *testing.T) {
	const lengths = `input_distribution: {type: gaussian, params: {mean: 200, std_dev: 60}}, output_distribution: {type: exponential, params: {mean: 40}}`
	client := func(id, tenant, more string) string {
		return fmt.Sprintf("  - {id: %s, tenant_id: %s, %s, %s}\n", id, tenant, more, lengths)
	}
	mine := []string{
		client("single", "mine", "rate: 20, arrival: {process: gamma, cv: 2}, prefix_group: shared, prefix_length: 64"),
		client("chat", "mine", "rate: 3, request_types: [{type: chat, rounds: {type: uniform, params: {min: 2, max: 5}}, think_time: {type: exponential, params: {mean: 500000}}}]"),
		client("agent", "mine", "rate: 2, request_types: [{type: agentic, graph: [{id: plan}, {id: a, wait_for: [plan], tool_wait: 100ms}, {id: b, wait_for: [plan]}, {id: join, wait_for: [a, b]}]}]"),
		client("users", "mine", "concurrency: 4, think_time_us: 300ms"),
	}
	others := []string{
		client("noise", "theirs", "rate: 40, arrival: {process: weibull, cv: 2}, prefix_group: shared, prefix_length: 64"),
		client("talk", "theirs", "rate: 5, request_types: [{type: chat, rounds: 3}]"),
		client("crowd", "theirs", "concurrency: 9, think_time_us: 100ms"),
	}
	export := func(clients ...string) string {
		spec := file(t, "spec.yaml", "version: \"2\"\nseed: 7\nhorizon: 20s\nclients:\n"+strings.Join(clients, ""))
		out := absentIn(t, "out.csv")
		done(t, "workload", "export", "--workload-spec", spec, "--out", out)
		return read(t, out)
	}
	want := ofTenant(t, export(mine...), "mine")
	if len(want) < 500 {
		t.Fatalf("%d requests", len(want)-1)
	}
	for name, clients := range map[string][]string{
		"behind": append(slices.Clone(mine), others...),
		"before": append(slices.Clone(others), mine...),
		"mixed":  {others[0], mine[0], others[1], mine[1], mine[2], others[2], mine[3]},
	} {
		text := export(clients...)
		got := ofTenant(t, text, "mine")
		if n := strings.Count(text, ",theirs,"); n < 500 {
			t.Errorf("others %s: %d requests of theirs", name, n)
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("others %s: %d rows, want %d, the first that differs is %d:\n%s\nwant\n%s", name, len(got), len(want), i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
				break
			}
		}
	}
}
