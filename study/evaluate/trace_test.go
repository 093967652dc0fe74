package evaluate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"blis/actors"
)

// replayed is tiny with traces in place of generated requests.
func replayed(t *testing.T, lines string) string {
	t.Helper()
	return edited(t, tiny, "    settings: {num-requests: 60, rate: 30}\n", "    trace: |\n      "+strings.ReplaceAll(lines, "\n", "\n      ")+"\n")
}

// burst is a trace of 40 requests.
func burst(input int) string {
	text := "arrival_us,input_tokens,output_tokens,tenant"
	for i := range 40 {
		text += fmt.Sprintf("\n%d,%d,20,t%d", 1000*i*i, input+i, i%2)
	}
	return text
}

func TestTraceInASuite(t *testing.T) {
	s := parse(t, replayed(t, burst(700)))
	r := reference(t, s, Options{})
	if f := r.Scenarios[0]; f.Requests != 80 || f.Lost != 0 {
		t.Errorf("%d requests, %d lost, want 40 with each of two seeds", f.Requests, f.Lost)
	}
	cfg, err := s.Scenarios[0].run(s.Baseline, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var inputs []int32
	cfg.Row = func(row *actors.Row) { inputs = append(inputs, row.Input) }
	if _, err := actors.Run(context.Background(), cfg); err != nil || len(inputs) != 40 || inputs[0] != 700 || inputs[39] != 739 {
		t.Errorf("%v, prompts %v", err, inputs)
	}
	lines := evaluate(t, s, r, yaml(""), Options{}).Outputs
	if a := evaluate(t, s, r, yaml("routing: {type: least-loaded}"), Options{}); !a.OK {
		t.Error(a.Error)
	}
	for name, text := range map[string]string{ // any order: each by itself
		"another prompt": replayed(t, burst(701)),
		"another speed":  edited(t, replayed(t, burst(700)), "    trace: |", "    settings: {trace-speedup: 2}\n    trace: |"),
	} {
		other := parse(t, text)
		if got := evaluate(t, other, reference(t, other, Options{}), yaml(""), Options{}).Outputs; got.Workload == lines.Workload || got.Cluster != lines.Cluster {
			t.Errorf("%s: %+v\nfrom %+v", name, got, lines)
		}
	}
	renamed, err := Parse("elsewhere/other.yaml", []byte(replayed(t, burst(700))))
	if err != nil {
		t.Fatal(err)
	}
	if got := evaluate(t, renamed, reference(t, renamed, Options{}), yaml(""), Options{}).Outputs; got.Workload != lines.Workload {
		t.Errorf("the same suite of another name: %+v\nfrom %+v", got, lines)
	}
	mooncake := parse(t, replayed(t, `{"timestamp": 0, "input_length": 600, "output_length": 20, "hash_ids": [1, 2]}`+"\n"+`{"timestamp": 500, "input_length": 700, "output_length": 20, "hash_ids": [1, 3]}`))
	if f := reference(t, mooncake, Options{}).Scenarios[0]; f.Requests != 4 {
		t.Errorf("%d requests of JSON lines, want 2 with each of two seeds", f.Requests)
	}
}

func TestBadTracesInASuite(t *testing.T) {
	good := replayed(t, burst(700))
	for _, c := range []struct{ name, text, want string }{
		{"a path", edited(t, tiny, "    settings: {num-requests: 60, rate: 30}", "    trace: [a.csv]"), "suite.yaml:8: scenarios[0].trace: a list: want the lines of a trace, as docs/formats.md describes"},
		{"a file's name", edited(t, tiny, "    settings: {num-requests: 60, rate: 30}", "    trace: a.csv"), "suite.yaml (trace.csv):9: "},
		{"nothing", edited(t, tiny, "    settings: {num-requests: 60, rate: 30}", `    trace: ""`), "suite.yaml:8: scenarios[0].trace: "},
		{"a bad row", edited(t, good, "1000,701,20,t1", "1000,none,20,t1"), `suite.yaml (trace.csv):11: input_tokens: "none"`},
		{"a workload too", edited(t, good, "    trace: |", "    settings: {scenario: sanity}\n    trace: |"), "suite.yaml:5: scenarios[0]: has a trace and another workload: want one of them"},
		{"a header of files", replayed(t, "trace_version: 2\ntime_unit: us\nmode: real"), "suite.yaml:8: scenarios[0].trace: of more than one file: a suite stands alone"},
		{"a folder of ServeGen", replayed(t, "600,2.5,1.25,Gamma,0.64,0.625"), "suite.yaml:8: scenarios[0].trace: of more than one file"},
	} {
		_, err := Parse("suite.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %q", c.name, err, c.want)
		}
	}
}
