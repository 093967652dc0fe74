package cli

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// openTalk has all that a request can carry: tenants, classes, models, hints,
// limits, deadlines, prefixes, sessions whose rounds wait for nobody.
const openTalk = `
version: "2"
num_requests: 400
tenants:
- {id: acme, weight: 2, slo_class: critical, prefix: {length: 300, count: 3}}
- {id: "blue, green", weight: 1, slo_class: batch, behavior: bursty}
clients:
- id: chat
  rate: 20
  model: Llama-3.1-8B-Instruct
  priority: 2.5
  max_output: 300
  timeout: 40s
  input_distribution: {type: lognormal, params: {mean: 120, cv: 1, min: 4, max: 2000}}
  output_distribution: {type: gaussian, params: {mean: 100, std_dev: 60, min: 1, max: 300}}
  request_types:
  - {type: chat, share: 0.7, open: true, rounds: {type: uniform, params: {min: 1, max: 6}}, think_time: {type: exponential, params: {mean: 3s}}}
  - {type: completion, share: 0.3}
- id: jobs
  rate: 5
  tenant_id: acme
  priority: -0.125
  arrival: {process: adversarial, size: 8}
  input_distribution: {type: constant, params: {value: 900}}
  output_distribution: {type: constant, params: {value: 0}}
`

// closedTalk is users who wait, conversations that wait, and a graph.
const closedTalk = `
version: "2"
clients:
- id: users
  concurrency: 6
  num_requests: 90
  think_time_us: {type: exponential, params: {mean: 2s}}
  timeout: 1h
  input_distribution: {type: gaussian, params: {mean: 300, std_dev: 100, min: 1, max: 900}}
  output_distribution: {type: gaussian, params: {mean: 80, std_dev: 30, min: 1, max: 200}}
- id: agents
  rate: 2
  num_requests: 150
  prefix: {length: 500}
  input_distribution: {type: lognormal, params: {mean: 100, cv: 1, max: 900}}
  output_distribution: {type: exponential, params: {mean: 60, min: 1, max: 400}}
  request_types:
  - {type: agentic, share: 0.5, graph: [{id: plan}, {id: work, wait_for: [plan], repeat: 3, tool_wait: 300ms}, {id: join, wait_for: [work]}]}
  - {type: agentic, share: 0.5, tools: {probability: 0.6, calls: 4, latency: 1s, result_tokens: 200}}
`

// exported is the trace that export writes of a file, read back as rows.
func exported(t *testing.T, from string) (path string, rows [][]string) {
	t.Helper()
	path = absentIn(t, "export.csv")
	done(t, "workload", "export", from, "--out", path)
	rows, err := csv.NewReader(strings.NewReader(read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return path, rows
}

// valuesOf are those in one column of a trace, below its header.
func valuesOf(t *testing.T, rows [][]string, name string) (values []string) {
	t.Helper()
	k := slices.Index(rows[0], name)
	if k < 0 {
		t.Fatalf("no column %s in %q", name, rows[0])
	}
	for _, row := range rows[1:] {
		values = append(values, row[k])
	}
	return values
}

// What an export says of its requests is all there is to them: read again it
// gives the rows and the digest of the run of the specification, and written
// again the same file.
func TestExportsAreReadAsTheyWereWritten(t *testing.T) {
	specification := file(t, "open.yaml", openTalk)
	first, rows := exported(t, specification)
	for name, least := range map[string]int{
		"tenant": 2, "slo_class": 2, "model": 2, "session": 30, "round": 6, "deadline_us": 100, "content": 100, "max_output": 2, "output_content": 100, "priority_hint": 2,
	} {
		values := valuesOf(t, rows, name)
		slices.Sort(values)
		if n := len(slices.Compact(values)); n < least {
			t.Errorf("column %s has %d different values, want %d: it shows nothing", name, n, least)
		}
	}
	wantRows, want := rowsOf(t, "--workload-spec", specification)
	gotRows, digest := rowsOf(t, "--trace", first)
	if digest != want {
		t.Errorf("digest %v of the export, %v of the specification", digest, want)
	}
	if gotRows != wantRows || strings.Count(gotRows, "\n") != 401 {
		t.Errorf("rows differ:\n%.600s\nwant\n%.600s", gotRows, wantRows)
	}
	second, _ := exported(t, first)
	if read(t, first) != read(t, second) {
		t.Error("the export of an export is another file")
	}
	if _, again := rowsOf(t, "--trace", second); again != digest || digest == nil {
		t.Errorf("digest %v of the second export, %v of the first", again, digest)
	}
}

// Rounds that wait for answers are exported as they come on an idle instance,
// always alike; what is exported is replayed as it is.
func TestExportsOfClosedLoopsAreEqual(t *testing.T) {
	specification := file(t, "closed.yaml", closedTalk)
	first, rows := exported(t, specification)
	second, _ := exported(t, specification)
	third, _ := exported(t, first)
	if a := read(t, first); a != read(t, second) || a != read(t, third) || len(rows) != 241 {
		t.Errorf("exports differ, or have %d lines, want 241", len(rows))
	}
	_, a := rowsOf(t, "--trace", first)
	if _, b := rowsOf(t, "--trace", third); a != b || a == nil {
		t.Errorf("digests %v and %v", a, b)
	}
}
