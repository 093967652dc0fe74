package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// TestServeGenSpan: windows are cut to the span, each keeps its change, and
// clients without one are left out.
func TestServeGenSpan(t *testing.T) {
	length := func(n int32) *draw.Length {
		l := draw.Exactly(n)
		return &l
	}
	data := func(path string) ([]traffic.Client, error) {
		if path != "data/week" {
			return nil, fmt.Errorf("%s: no such folder", path)
		}
		client := func(id string, windows ...draw.Window) traffic.Client {
			c := traffic.Client{ID: id, Class: "standard", Rate: draw.Flat(1), Input: draw.Exactly(1), Output: draw.Exactly(1)}
			c.Rate.Windows = windows
			return c
		}
		a := client("a", draw.Window{Start: 0, End: 10, Factor: 1}, draw.Window{Start: 10, End: 20, Factor: 2}, draw.Window{Start: 20, End: 30, Factor: 3})
		a.Changes = []traffic.Change{{Input: length(1)}, {Input: length(2)}, {Input: length(3)}}
		return []traffic.Client{a, client("b", draw.Window{Start: 0, End: 12, Factor: 1}), client("c")}, nil
	}
	d := defaults()
	d.ServeGen = data
	build := func(span string) (traffic.Config, error) {
		s, err := Parse("data/w.yaml", []byte("aggregate_rate: 3\nservegen_data: {path: week"+span+"}"))
		if err != nil {
			t.Fatal(err)
		}
		c, notes, err := s.Traffic(d)
		if err == nil && (len(notes) != 1 || !strings.Contains(notes[0], "w.yaml:1: aggregate_rate: has no effect")) {
			t.Errorf("notes %q", notes)
		}
		return c, err
	}
	c, err := build(", span_start: 12, span_end: 25")
	if err != nil || len(c.Clients) != 2 || c.Requests != 0 {
		t.Fatalf("%v, %d requests of %+v", err, c.Requests, c.Clients)
	}
	a := clientOf(t, &c, "a")
	if want := []draw.Window{{Start: 12, End: 20, Factor: 2}, {Start: 20, End: 25, Factor: 3}}; !reflect.DeepEqual(a.Rate.Windows, want) || *a.Changes[0].Input != draw.Exactly(2) || *a.Changes[1].Input != draw.Exactly(3) {
		t.Errorf("%+v %+v", a.Rate.Windows, a.Changes)
	}
	if w := clientOf(t, &c, "c").Rate.Windows; len(w) != 1 || w[0].Start != 12 || w[0].End != 25 {
		t.Errorf("a client without windows: %+v", w)
	}
	if c, err = build(""); err != nil || len(c.Clients) != 3 || c.Clients[2].Rate.Windows != nil || c.Requests != 1000 {
		t.Errorf("%v, %d requests of %+v", err, c.Requests, c.Clients)
	}
	if c, err = build(", span_start: 1"); err != nil || c.Requests != 1000 {
		t.Errorf("%v, %d requests of a span without end", err, c.Requests)
	}
}

// ServeGen's data are days long: without an end that somebody asks for, the
// caller's number of requests is one.
func TestServeGenDataEndAfterTheCallersRequests(t *testing.T) {
	d := defaults()
	d.ServeGen = func(string) ([]traffic.Client, error) {
		c := traffic.Client{ID: "a", Class: "standard", Rate: draw.Flat(1), Input: draw.Exactly(1), Output: draw.Exactly(1)}
		c.Rate.Windows = []draw.Window{{Start: 0, End: 1 << 40, Factor: 1}}
		return []traffic.Client{c}, nil
	}
	for text, want := range map[string]int64{
		"servegen_data: {path: x}":                  1000,
		"servegen_data: {path: x, span_end: 1h}":    0,
		"num_requests: 5\nservegen_data: {path: x}": 5,
		"horizon: 3h\nservegen_data: {path: x}":     0,
	} {
		s, err := Parse("w.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if c, _, err := s.Traffic(d); err != nil || c.Requests != want || acceptable(&c) != nil {
			t.Errorf("%s: %v, limit %d, want %d; %v", text, err, c.Requests, want, acceptable(&c))
		}
	}
}

// TestOneSourceOnly: what sends is said in one way.
func TestOneSourceOnly(t *testing.T) {
	const perf = "inference_perf: {stages: [{rate: 1, duration: 3}], shared_prefix: {num_unique_system_prompts: 1, num_users_per_system_prompt: 1}}\n"
	for text, want := range map[string]string{ // any order: each is looked at alone
		perf + "cohorts: [{id: a, population: 1, rate: 1, " + lengths + "}]": "w.yaml:2: cohorts: given beside inference_perf, want one of them",
		perf + "tenants: [{id: a}]":                                "w.yaml:2: tenants: given beside inference_perf, want clients",
		perf + "utilization: 3":                                    "w.yaml:2: utilization: 3: given beside inference_perf, whose stages say the rate",
		"load_profile: {type: constant}\nservegen_data: {path: x}": "w.yaml:1: load_profile: given beside servegen_data, whose windows have their rates",
	} {
		if _, err := Parse("w.yaml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestPrefixGroupsHaveOneLength(t *testing.T) {
	c, notes := build(t, "clients:\n- {id: a, rate: 1, prefix_group: g, "+lengths+"}\n- {id: b, rate: 1, prefix_group: g, prefix_length: 300, "+lengths+"}\n"+
		"- {id: c, rate: 1, prefix_group: g, "+lengths+"}\n- {id: d, rate: 1, prefix: {group: g, length: 200}, "+lengths+"}\n- {id: e, rate: 1, prefix_length: 9, "+lengths+"}")
	for id, want := range map[string]int32{"a": 50, "b": 300, "c": 300, "d": 200, "e": 0} { // any order: each is looked at alone
		if got := clientOf(t, &c, id).Prefix.Length; got != want {
			t.Errorf("client %s has a prefix of %d, want %d", id, got, want)
		}
	}
	want := "w.yaml:6: clients[4].prefix_length: has no effect without prefix_group\n" +
		`w.yaml:5: clients[3].prefix.length: 200: group "g" has 300 at clients[1].prefix_length; their prompts share the first 200 tokens`
	if got := strings.Join(notes, "\n"); got != want {
		t.Errorf("notes\n%s\nwant\n%s", got, want)
	}
}

// TestMergeKeys: own fields go before merged ones, and earlier mappings before
// later ones.
func TestMergeKeys(t *testing.T) {
	c, _ := build(t, `clients:
- &a {id: a, rate: 1, `+lengths+`}
- {rate: 2, <<: *a, id: b}
- {<<: [{rate: 3, model: m}, {rate: 4}, *a], id: c}`)
	if b, d := clientOf(t, &c, "b"), clientOf(t, &c, "c"); b.Rate.At(0) != 2 || d.Rate.At(0) != 3 || d.Model != "m" {
		t.Errorf("%+v", c.Clients)
	}
	s, err := Parse("w.yaml", []byte("goodput_slo_targets: {critical: &x {ttft_ms: 5, itl_ms: 7}, batch: {itl_ms: 8, <<: *x}}\n"+one("")))
	if err != nil || s.Targets() != "critical:ttft=5000us,tpot=7000us;batch:ttft=5000us,tpot=8000us" {
		t.Errorf("%v, targets %s", err, s.Targets())
	}
	s, err = Parse("w.yaml", []byte("goodput_slo_targets: {tenant/gold: {ttft_ms: 5}, batch: {itl_ms: 8}}\n"+one("")))
	if err != nil || s.Targets() != "tenant/gold:ttft=5000us;batch:tpot=8000us" {
		t.Errorf("%v, targets %s", err, s.Targets())
	}
	if _, err := Parse("w.yaml", []byte("goodput_slo_targets: {tenant/: {ttft_ms: 5}}\n"+one(""))); err == nil || !strings.Contains(err.Error(), "names no tenant") {
		t.Errorf("a tenant without a name: %v", err)
	}
	c, _ = build(t, "clients: [{rate: 1, input_distribution: {type: empirical, params: &p {10: 1, 30: 1}}, output_distribution: {type: empirical, params: {<<: *p, 10: 3}}}]")
	near(t, "mean of 10 three times and 30 once", c.Clients[0].Output.Dist.Mean(), 15, 1e-12)
	c, _ = build(t, "clients: [{rate: 1, input_distribution: {type: empirical, params: &p {10: 1, 30: 1}}, output_distribution: {type: empirical, params: {<<: [{10: 3}, *p]}}}]")
	near(t, "mean of the first of several", c.Clients[0].Output.Dist.Mean(), 15, 1e-12)
}

// TestConversationsShareOutTheStage: as evenly as whole rounds allow.
func TestConversationsShareOutTheStage(t *testing.T) {
	c, _ := build(t, "inference_perf: {stages: [{rate: 11, duration: 1}], shared_prefix: {num_unique_system_prompts: 2, num_users_per_system_prompt: 2, question_len: 5, output_len: 5, enable_multi_turn_chat: true}}")
	var got []int64
	for i := range c.Clients {
		got = append(got, c.Clients[i].Requests)
	}
	if want := []int64{3, 3, 3, 2}; !reflect.DeepEqual(got, want) || c.Clients[3].ID != "prompt-1-user-1" {
		t.Errorf("rounds %v, want %v", got, want)
	}
}

// TestCoactiveClientsCountOnce: with two of its windows in that of another.
func TestCoactiveClientsCountOnce(t *testing.T) {
	c, _ := build(t, `{aggregate_rate: 90, clients: [
		{id: a, rate_fraction: 1, `+lengths+`, lifecycle: {windows: [{start_us: 0, end_us: 30}]}},
		{id: b, rate_fraction: 2, `+lengths+`, lifecycle: {windows: [{start_us: 0, end_us: 10}, {start_us: 20, end_us: 30}]}}]}`)
	if a := clientOf(t, &c, "a"); a.Rate.At(15) != 30 {
		t.Errorf("a sends at %v/s, want a third of 90", a.Rate.At(15))
	}
}

// TestLimits: what the others do not reach.
func TestLimits(t *testing.T) {
	s, err := Parse("w.yaml", []byte("horizon: 1s\ncohorts: [{id: a, population: 99999, rate: 1, "+lengths+"}, {id: b, population: 2, rate: 1, "+lengths+"}]"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Traffic(defaults()); err == nil || err.Error() != "w.yaml:2: cohorts[1]: more than 100000 clients, with cohorts and tenants written out; want less" {
		t.Errorf("%v", err)
	}
	if c, _ := build(t, "horizon: 1s\ncohorts: [{id: a, population: 100000, rate: 5, "+lengths+"}]"); len(c.Clients) != 100_000 || c.Horizon != vtime.Time(vtime.Second) {
		t.Errorf("%d clients", len(c.Clients))
	}
}

// Files lists every path that a specification names, wherever it stands.
func TestFiles(t *testing.T) {
	for text, want := range map[string][]string{ // any order: each by itself
		"servegen_data: {path: week}":           {"data/week"},
		"clients: [{rate: 1, " + lengths + "}]": nil,
		"clients: [{arrival: {process: trace, file: a.csv}, input_distribution: {type: empirical, file: /x}, output_distribution: {type: empirical, file: x}}, {arrival: {process: trace, file: a.csv}, " + lengths + "}]": {"data/a.csv", "/x", "data/x"},
	} {
		s, err := Parse("data/w.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := s.Files(); !slices.Equal(got, want) {
			t.Errorf("%s: files %q, want %q", text, got, want)
		}
	}
}
