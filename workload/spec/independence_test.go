package spec

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/traces"
	"blis/workload/traffic"
)

// onlyOf is a source without the requests of other clients.
type onlyOf struct {
	workload.Source
	number uint32
}

func (o *onlyOf) Pull(r *workload.Request) (bool, error) {
	for {
		more, err := o.Source.Pull(r)
		if !more || err != nil || r.Source == o.number {
			return more, err
		}
	}
}

// bytesOf are the requests of each client, as export writes them, by the id of
// the client.
func bytesOf(t *testing.T, text string) map[string]string {
	t.Helper()
	config, _ := build(t, text)
	sent := map[string]string{}
	for i := range config.Clients {
		source, err := traffic.New(config)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		played := workload.Play(source, func(r *workload.Request) vtime.Duration { return vtime.Duration(r.Input+r.Output) * 1000 })
		if err := traces.Write(&out, &onlyOf{played, workload.FirstSource + uint32(i)}); err != nil {
			t.Fatal(err)
		}
		sent[config.Clients[i].ID] = out.String()
	}
	return sent
}

// everyKind has open and closed sessions, graphs, users, tenants and windows.
const everyKind = `
horizon: 60s
tenants:
- {id: red, weight: 2, prefix: {length: 64, count: 4, skew: 1}}
- {id: green, rate: 3, behavior: bursty}
load_profile: {type: spike, every: 20s, duration: 2s, factor: 5}
clients:
- id: api
  rate: 6
  input_distribution: {type: lognormal, params: {mean: 200, cv: 1}}
  output_distribution: {type: exponential, params: {mean: 50}}
  request_types:
  - {type: completion, share: 0.4}
  - {type: chat, share: 0.3, rounds: {type: uniform, params: {min: 1, max: 5}}, think_time: {type: exponential, params: {mean: 2s}}}
  - {type: agentic, share: 0.2, graph: [{id: a}, {id: b, wait_for: [a], repeat: 2, tool_wait: 1s}, {id: c, wait_for: [b]}]}
  - {type: chat, share: 0.1, rounds: 3, open: true, think_time: {type: exponential, params: {mean: 1s}}}
- {id: users, tenant_id: red, concurrency: 3, think_time_us: {type: exponential, params: {mean: 1s}}, input_distribution: {type: gaussian, params: {mean: 90, std_dev: 30}}, output_distribution: {type: gaussian, params: {mean: 40, std_dev: 10}}}
- {id: shift, tenant_id: green, rate: 2, arrival: {process: weibull, cv: 2}, lifecycle: {windows: [{start_us: 5s, end_us: 30s}]}, ` + lengths + `}
`

// A client, a tenant or a draw more leaves what every other client sends as it
// was, byte for byte, and so does another order of the clients.
func TestOthersSendTheSameBytes(t *testing.T) {
	before := bytesOf(t, everyKind)
	for id, text := range before { // any order: each is looked at alone
		if n := strings.Count(text, "\n"); n < 30 {
			t.Errorf("client %s sends %d lines: they show nothing", id, n)
		}
	}
	if len(before) != 4 {
		t.Fatalf("%d clients, want api of two tenants, users and shift", len(before))
	}
	more := "\n- {id: %s, tenant_id: red, rate: 40, arrival: {process: gamma, cv: 3}, " + lengths + ", prefix: {group: more, length: 32}}\n"
	front := strings.Replace(everyKind, "clients:", "clients:"+strings.TrimRight(fmt.Sprintf(more, "a-first"), "\n"), 1)
	for _, c := range []struct {
		name, text string
		added      int
		changed    string // the clients that change, by the beginning of their ids
	}{
		{"a client behind", everyKind + fmt.Sprintf(more, "z-last"), 1, ""},
		{"a client in front", front, 1, ""},
		{"more users", everyKind + "- {id: crowd, tenant_id: red, concurrency: 20, " + lengths + "}\n", 1, ""},
		{"a cohort", everyKind + "cohorts: [{id: crowd, tenant_id: green, population: 3, rate: 9, " + lengths + "}]\n", 3, ""},
		{"a tenant", strings.Replace(everyKind, "- {id: green,", "- {id: blue, rate: 7, behavior: adversarial}\n- {id: green,", 1), 1, ""},
		{"an output drawn", strings.Replace(everyKind, "output_distribution: {type: gaussian, params: {mean: 40, std_dev: 10}}", "output_distribution: {type: zipf, params: {s: 1, n: 40}}", 1), 0, "users"},
		{"a prefix drawn", strings.Replace(everyKind, "count: 4, skew: 1", "count: 9, skew: 2", 1), 0, "api/red users"},
	} {
		after := bytesOf(t, c.text)
		if len(after) != len(before)+c.added {
			t.Errorf("%s: %d clients, want %d", c.name, len(after), len(before)+c.added)
		}
		for id, want := range before { // any order: each is looked at alone
			changed := false
			for _, name := range strings.Fields(c.changed) {
				changed = changed || name == id
			}
			if (after[id] != want) != changed {
				t.Errorf("%s: what client %s sends changes: %v, want %v", c.name, id, !changed, changed)
			}
		}
	}
}
