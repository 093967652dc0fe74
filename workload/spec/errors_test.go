package spec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blis/cputime"
	"blis/workload/traffic"
)

// one is a specification of one client, with more fields of it.
func one(more string) string { return "clients: [{rate: 1, " + lengths + more + "}]" }

// in is one with another input distribution.
func in(distribution string) string {
	return "clients:\n- rate: 1\n  output_distribution: {type: constant, params: {value: 10}}\n  input_distribution: " + distribution
}

var badFiles = []struct{ name, text, want string }{
	{"empty", "", "w.yaml:0: nothing"},
	{"null", "null", "w.yaml:0: nothing"},
	{"a list", "[1]", "w.yaml:1: a list is not allowed, want fields like aggregate_rate: 10"},
	{"no YAML", "clients: [", "w.yaml:1: not valid YAML: "},
	{"not UTF-8", "seed: \xff", "w.yaml:1: byte 0xff is not UTF-8, want text in UTF-8"},
	{"binary", "seed: 1\nid: \x00", `w.yaml:2: control character U+0000, want text without, or "\x00" in quotes`},
	{"a tag", "seed: !!int 3", "w.yaml:1: tags are not supported, write the value alone"},
	{"two documents", "seed: 1\n---\nseed: 2", "w.yaml:3: a second document, want one"},
	{"unknown alias", "seed: *s", "w.yaml:1: seed: unknown alias *s, want the name of an anchor above"},
	{"given twice", "seed: 1\nseed: 2", "w.yaml:2: seed: is given twice, first on line 1, want it once"},
	{"unknown field", "agregate_rate: 3", `w.yaml:1: agregate_rate: unknown field "agregate_rate", the nearest is "aggregate_rate" (there are: `},
	{"unknown field of a client", "clients:\n- id: a\n  rate_fracton: 1", `w.yaml:3: clients[0].rate_fracton: unknown field "rate_fracton", the nearest is "rate_fraction" (there are: `},
	{"version", "version: 3", `w.yaml:1: version: "3": want "1" or "2"`},
	{"wrong type", "num_requests: many", `w.yaml:1: num_requests: "many": want requests from 0 (no limit)`},
	{"a mapping for a list", "clients: {id: a}", "w.yaml:1: clients: a mapping is not allowed, want a list of clients like {id: chat, rate_fraction: 1, …}"},
	{"negative rate", "aggregate_rate: -2", "w.yaml:1: aggregate_rate: -2: want requests per second from 0 to 1e9"},
	{"NaN", "aggregate_rate: .nan", "w.yaml:1: aggregate_rate: .nan: want requests per second from 0 to 1e9"},
	{"Inf", "aggregate_rate: .inf", "w.yaml:1: aggregate_rate: .inf: want requests per second from 0 to 1e9"},
	{"a huge number", "seed: 1e400", "w.yaml:1: seed: 1e400: want a whole number"},
	{"half a request", "num_requests: 0.5", "w.yaml:1: num_requests: 0.5: want requests from 0 (no limit)"},
	{"bad duration", "horizon: 5 minutes", `w.yaml:1: horizon: "5 minutes": want a duration like 50ms, 1.5s or 2h, or a number of microseconds, not negative`},
	{"no clients", "clients: []", "w.yaml:0: nothing"},
	{"two sources", "clients: [{rate: 1, " + lengths + "}]\nservegen_data: {path: x}", "w.yaml:2: servegen_data: given beside clients, want one of them"},
	{"utilization and rate", "aggregate_rate: 1\nutilization: 0.5", "w.yaml:2: utilization: 0.5: given beside aggregate_rate, want one of them"},
	{"category", "category: speech", `w.yaml:1: category: unknown value "speech" (there are: language, multimodal, reasoning)`},
	{"no input", "clients: [{rate: 1}]", "w.yaml:1: clients[0].input_distribution: not given, want a distribution like {type: gaussian, params: {mean: 512, std_dev: 128}}"},
	{"no rate", "clients:\n- {" + lengths + "}", "w.yaml:2: clients[0]: how often it sends is not given, want rate_fraction, rate or concurrency"},
	{"no aggregate rate", "clients: [{rate_fraction: 1, " + lengths + "}]", "w.yaml: aggregate_rate: not given, want requests per second (or utilization, or a rate for each client instead of clients[0].rate_fraction)"},
	{"rate and fraction", one(", rate_fraction: 0.5"), "w.yaml:1: clients[0].rate: 1: given beside rate_fraction, want one of them"},
	{"rate 0", "clients: [{rate: 0, " + lengths + "}]", "w.yaml:1: clients[0].rate: 0: want requests per second, above 0 up to 1e9"},
	{"rate and users", one(", concurrency: 3"), "w.yaml:1: clients[0].rate: 1: given beside concurrency, want one of them"},
	{"same id", "clients:\n- {id: a, rate: 1, " + lengths + "}\n- {id: a, rate: 1, " + lengths + "}", `w.yaml:3: clients[1].id: "a": another client is called so, on line 2; want unique ids`},
	{"SLO class", one(", slo_class: urgent"), `w.yaml:1: clients[0].slo_class: unknown SLO class "urgent" (there are: critical, standard, sheddable, batch, background)`},
	{"process", one(", arrival: {process: poison}"), `w.yaml:1: clients[0].arrival.process: unknown value "poison", the nearest is "poisson" (there are: `},
	{"cv", one(", arrival: {process: gamma, cv: -1}"), "w.yaml:1: clients[0].arrival.cv: -1: want from 0.001 to 100"},
	{"idle parameter", one(", arrival: {process: constant, alpha: 2}"), "w.yaml:1: clients[0].arrival.alpha: 2: want it with process bursty or pareto only, not with constant"},
	{"spikes too long", one(", arrival: {process: bursty, factor: 2, every: 1s, duration: 2s}"), "w.yaml:1: clients[0].arrival.duration: 2s: want at most every 1s"},
	{"times backwards", "clients: [{" + lengths + ", arrival: {process: trace, times_us: [3, 2]}}]", "w.yaml:1: clients[0].arrival.times_us[1]: 2: want at least the 3 before it"},
	{"times without any", "clients: [{" + lengths + ", arrival: {process: trace}}]", "w.yaml:1: clients[0].arrival: process trace: want one of file and times_us"},
	{"missing trace", "clients: [{" + lengths + ", arrival: {process: trace, file: none.csv}}]", "w.yaml:1: clients[0].arrival.file: open none.csv: no such file or directory"},
	{"burst", one(", arrival: {process: adversarial, every: 1ms}"), "w.yaml:1: clients[0].arrival.every: 1ms: a burst would have 0 requests at the rate 1/s, want from 1 to 1000000"},
	{"distribution", in("{type: normal}"), `w.yaml:4: clients[0].input_distribution.type: unknown value "normal", the nearest is "lognormal" (there are: constant, gaussian, exponential, lognormal, pareto_lognormal, zipf, uniform, empirical)`},
	{"missing parameter", in("{type: gaussian, params: {mean: 3}}"), "w.yaml:4: clients[0].input_distribution.params.std_dev: not given, want mean and std_dev with type gaussian"},
	{"unknown parameter", in("{type: gaussian, params: {mean: 3, stddev: 3}}"), `w.yaml:4: clients[0].input_distribution.params.stddev: unknown field "stddev", the nearest is "std_dev" (there are: mean, std_dev, min, max)`},
	{"two forms", in("{type: lognormal, params: {mean: 3, mu: 3, sigma: 1}}"), "w.yaml:4: clients[0].input_distribution.params.mu: 3: want either mu and sigma or mean and cv"},
	{"10⁹ tokens", in("{type: constant, params: {value: 1e9}}"), "w.yaml:4: clients[0].input_distribution.params.value: 1e9: want a number from 1 to 10000000 tokens"},
	{"no tokens", in("{type: constant, params: {value: 0}}"), "w.yaml:4: clients[0].input_distribution.params.value: 0: want a number from 1 to 10000000 tokens"},
	{"bounds crossed", in("{type: exponential, params: {mean: 5, min: 10, max: 4}}"), "w.yaml:4: clients[0].input_distribution.params.max: 4: want at least min 10"},
	{"weights 0", in("{type: empirical, params: {10: 0}}"), "w.yaml:4: clients[0].input_distribution.params: the weights add up to 0, want more than 0"},
	{"no number", in("{type: empirical, params: {ten: 1}}"), `w.yaml:4: clients[0].input_distribution.params.ten: "ten": want a number from 1 to 10000000 tokens`},
	{"values file", in("{type: empirical, file: none.txt}"), "w.yaml:4: clients[0].input_distribution.file: none.txt: no such file or directory"},
	{"window inverted", one(", lifecycle: {windows: [{start_us: 5, end_us: 5}]}"), "w.yaml:1: clients[0].lifecycle.windows[0].end_us: 5: want a time after start_us 5"},
	{"windows overlap", one(", lifecycle: {windows: [{start_us: 0, end_us: 5, trace_rate: 1}, {start_us: 4, end_us: 9}]}"), "w.yaml:1: clients[0].lifecycle.windows[1]: begins at 4µs, before clients[0].lifecycle.windows[0] ends at 5µs; want windows that do not overlap"},
	{"windows without rate", "clients: [{" + lengths + ", lifecycle: {windows: [{start_us: 0, end_us: 5, trace_rate: 0}]}}]", "w.yaml:1: clients[0]: its rate over time: rate: 0: want a rate above 0 at some time"},
	{"population", "cohorts: [{id: a, population: 1000000000, rate: 1, " + lengths + "}]", "w.yaml:1: cohorts[0].population: 1000000000: want clients from 1 to 100000"},
	{"diurnal and drain", "cohorts: [{id: a, population: 1, rate: 1, " + lengths + ", diurnal: {peak_hour: 3, peak_to_trough_ratio: 2}, drain: {ramp_duration_us: 1}}]", "w.yaml:1: cohorts[0].drain: given beside diurnal; want one of them, or two cohorts"},
	{"peak hour", "cohorts: [{id: a, population: 1, rate: 1, " + lengths + ", diurnal: {peak_hour: 24, peak_to_trough_ratio: 2}}]", "w.yaml:1: cohorts[0].diurnal.peak_hour: 24: want an hour from 0 to 23"},
	{"shares", one(", request_types: [{type: completion, share: 0.5}, {type: chat, share: 0.4, rounds: 2}]"), "w.yaml:1: clients[0].request_types: the shares add up to 0.9, want 1"},
	{"completion with rounds", one(", request_types: [{type: completion, rounds: 2}]"), "w.yaml:1: clients[0].request_types[0].rounds: want it with type chat, agentic or reasoning, not with completion"},
	{"chat without rounds", one(", request_types: [{type: chat}]"), "w.yaml:1: clients[0].request_types[0].rounds: not given, want rounds with type chat"},
	{"bounded without limit", one(", request_types: [{type: chat, rounds: 2, growth: bounded}]"), "w.yaml:1: clients[0].request_types[0].growth: bounded: want context_limit, the tokens that a prompt carries on at most"},
	{"think time", one(", request_types: [{type: chat, rounds: 2, think_time: soon}]"), `w.yaml:1: clients[0].request_types[0].think_time: "soon": want a duration like 50ms, 1.5s or 2h, or a number of microseconds, not negative`},
	{"cycle", one(", request_types: [{type: agentic, graph: [{id: a}, {id: b, wait_for: [a, c]}, {id: c, wait_for: [b]}]}]"), "w.yaml:1: clients[0].request_types[0].graph: nodes wait for each other in a circle: b waits for c waits for b; want none to wait for itself"},
	{"unknown node", one(", request_types: [{type: agentic, graph: [{id: plan}, {id: do, wait_for: [plam]}]}]"), `w.yaml:1: clients[0].request_types[0].graph[1].wait_for[0]: unknown node "plam", the nearest is "plan" (there are: plan, do)`},
	{"node twice", one(", request_types: [{type: agentic, graph: [{id: a}, {id: a}]}]"), `w.yaml:1: clients[0].request_types[0].graph[1].id: "a" is given twice, first on line 1, want unique names`},
	{"node like a copy", one(", request_types: [{type: agentic, graph: [{id: a, repeat: 2}, {id: a-2}]}]"), `w.yaml:1: clients[0].request_types[0].graph[1].id: "a-2" is the name of a copy of "a", want another`},
	{"graph too large", one(", request_types: [{type: agentic, graph: [{id: a, repeat: 1000}, {id: b}]}]"), "w.yaml:1: clients[0].request_types[0].graph[1]: the graph has more than 1000 requests with its repeats, want less"},
	{"max rounds", one(", reasoning: {multi_turn: {max_rounds: 0}}"), "w.yaml:1: clients[0].reasoning.multi_turn.max_rounds: 0: want rounds from 1 to 100000"},
	{"max output", "clients: [{rate: 1, max_output: 5, " + lengths + "}]", "w.yaml:1: clients[0].max_output: 5: want at least the 10 tokens that outputs have"},
	{"skew alone", one(", prefix: {length: 10, skew: 1}"), "w.yaml:1: clients[0].prefix.skew: 1: want it with a count above 1 only"},
	{"tenant twice", "tenants: [{id: a}, {id: a}]", `w.yaml:1: tenants[1].id: "a" is given twice, first on line 1, want unique names`},
	{"unknown tenant", "tenants: [{id: acme}]\n" + one(", tenant_id: acne"), `w.yaml:2: clients[0].tenant_id: unknown tenant "acne", the nearest is "acme" (there are: acme)`},
	{"targets differ", "tenants: [{id: a, slo: {ttft: 1s}}, {id: b, slo: {ttft: 2s}}]", "w.yaml:1: tenants[1].slo.ttft: 2s: class standard has the target 1s already, want tenants of a class to agree"},
	{"correlations of nobody", "correlations: {prefix_reuse: 0.5}", "w.yaml:1: correlations.prefix_reuse: 0.5: want it with tenants only"},
	{"stages", "inference_perf: {stages: [], shared_prefix: {}}", "w.yaml:1: inference_perf.stages: no stages, want at least one like {rate: 8, duration: 600}"},
	{"ServeGen data", "servegen_data: {path: here}", "w.yaml:1: servegen_data.path: here/chunk-1-trace.csv:3: rate: NaN: want a number"},
	{"media", "clients: [{rate: 1, output_distribution: {type: constant, params: {value: 1}}, multimodal: {text_distribution: {type: exponential, params: {mean: 3}}}}]", "w.yaml:1: clients[0].multimodal.text_distribution: exponential: the sum of the parts is computed for constant and empirical ones without a file only; want one of these, or input_distribution instead of multimodal"},
	{"profile twice", one(", arrival: {process: diurnal, peak_to_trough: 2}, load_profile: {type: constant}"), "w.yaml:1: clients[0].load_profile: given beside arrival diurnal, which says itself how the rate varies"},
	{"profile without segments", "load_profile: {type: step}", "w.yaml:1: load_profile.segments: no segments, want at least one like {duration: 10m, multiplier: 2}"},
	{"profile at 0", "load_profile: {type: constant, multiplier: 0}\n" + one(""), "w.yaml:2: clients[0]: its rate over time: rate: 0: want a rate above 0 at some time"},
	{"utilization of 0 tokens", "utilization: 1\n" + one(", rate_fraction: 1"), "w.yaml:2: clients[0].rate: 1: given beside rate_fraction, want one of them"},
	{"line breaks in a name", "\"a\\nb\": 1", `w.yaml:1: a\nb: unknown field`},
}

// TestBadFiles: one line, with file, line and field, in time.
func TestBadFiles(t *testing.T) {
	d := defaults()
	d.ServeGen = func(path string) ([]traffic.Client, error) {
		return nil, errors.New(path + "/chunk-1-trace.csv:3: rate: NaN: want a number")
	}
	for _, c := range badFiles {
		var err error
		took := cputime.Of(func() {
			var s *Spec
			if s, err = Parse("w.yaml", []byte(c.text)); err == nil {
				_, _, err = s.Traffic(d)
			}
		})
		if strings.HasPrefix(c.want, "w.yaml:0: nothing") {
			c.want = "w.yaml: nothing sends requests, want clients, cohorts, inference_perf or servegen_data"
		}
		whole := err != nil && err.Error() == c.want
		if open := strings.HasSuffix(c.want, ": ") || strings.HasSuffix(c.want, "field"); err == nil || !(whole || open && strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		var fault *Error
		if err != nil && (!errors.As(err, &fault) || strings.ContainsAny(err.Error(), "\n\r")) {
			t.Errorf("%s: %q is not an *Error of one line", c.name, err)
		}
		if took > time.Second {
			t.Errorf("%s: took %v", c.name, took)
		}
	}
}

func TestCapacityUnknownAndTrafficWithoutEnd(t *testing.T) {
	s, err := Parse("w.yaml", []byte("utilization: 0.5\nclients: [{id: a, rate_fraction: 1, "+lengths+"}]"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Traffic(Defaults{Requests: 1}); err == nil || err.Error() != "w.yaml:1: utilization: 0.5: the capacity of the cluster is not known here, want aggregate_rate" {
		t.Errorf("%v", err)
	}
	s, _ = Parse("w.yaml", []byte("clients: [{id: a, rate: 1, "+lengths+"}]"))
	if _, _, err := s.Traffic(Defaults{}); err == nil || err.Error() != `w.yaml: num_requests: not given, want num_requests or horizon, as client "a" has no end` {
		t.Errorf("%v", err)
	}
}

// TestAliases: anchors, aliases and merge keys stand for what they name, and a
// short file that stands for a billion values ends in an error.
func TestAliases(t *testing.T) {
	c, _ := build(t, `clients:
- &a {id: a, rate: 1, input_distribution: &d {type: constant, params: {value: 7}}, output_distribution: *d}
- {<<: *a, id: b, rate: 2}
- {<<: [{rate: 3}, *a], id: c}`)
	if b := clientOf(t, &c, "b"); b.Rate.At(0) != 2 || b.Input != c.Clients[0].Output || clientOf(t, &c, "c").Rate.At(0) != 3 {
		t.Errorf("%+v", c.Clients)
	}
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		n := string(rune('a' + i))
		p := string(rune('a' + i - 1))
		if i == 1 {
			p = "a0"
		}
		laughs.WriteString(n + ": &" + n + " [" + strings.Repeat("*"+p+", ", 10) + "]\n")
	}
	var err error
	took := cputime.Of(func() { _, err = Parse("w.yaml", []byte(laughs.String())) })
	if err == nil || !strings.Contains(err.Error(), "values with its aliases written out, want less") || took > time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

func TestHostileSizes(t *testing.T) {
	for name, text := range map[string]string{
		"deep":       strings.Repeat("[", 100_000),
		"deep block": strings.Repeat("- ", 100_000),
		"long name":  strings.Repeat("x", 1_000_000) + ": 1",
		"long text":  "category: " + strings.Repeat("x", 1_000_000),
		"many":       "clients: [" + strings.Repeat("{},", 100_001) + "]",
		"tenants":    "tenants: [" + strings.Repeat("{},", 20_001) + "]",
		"large":      strings.Repeat("#", limits.Bytes+1),
	} {
		var err error
		took := cputime.Of(func() { _, err = Parse("w.yaml", []byte(text)) })
		if err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 600 || took > 5*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.yaml")
	if _, err := OpenFile(path); err == nil || err.Error() != path+": no such file or directory" {
		t.Errorf("%v", err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("values.txt", "# tokens, weight\n100,1\n\n300,3\n")
	write("trace.csv", "arrival_us,input_tokens,output_tokens\n10,1,1\n30,1,1\n")
	write("w.yaml", `clients:
- {id: a, rate: 1, input_distribution: {type: empirical, file: values.txt}, output_distribution: {type: constant, params: {value: 1}}}
- {id: b, arrival: {process: trace, file: trace.csv}, `+lengths+`}`)
	s, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := trafficOf(t, s)
	near(t, "mean", c.Clients[0].Input.Dist.Mean(), 250, 1e-12)
	if b := clientOf(t, &c, "b"); len(b.Times) != 2 || b.Times[0] != 10 || b.Times[1] != 30 {
		t.Errorf("%+v", b.Times)
	}
	write("values.txt", "100,x\n")
	if _, _, err := s.Traffic(defaults()); err == nil || !strings.HasSuffix(err.Error(), `values.txt:1: weight: "x": want a weight from 0`) {
		t.Errorf("%v", err)
	}
}
