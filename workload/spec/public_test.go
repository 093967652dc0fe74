package spec

import (
	"fmt"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// The files of this test use every field of the public simulator's format.

func TestPublicClients(t *testing.T) {
	c, notes := build(t, `
version: "1"
seed: 7
category: language
aggregate_rate: 100.0
num_requests: 500
clients:
  - id: "night-jobs"
    tenant_id: "tenant-A"
    slo_class: "batch"
    model: m
    rate_fraction: 0.7
    streaming: false
    arrival: {process: gamma, cv: 3.5}
    input_distribution:
      type: pareto_lognormal
      params: {alpha: 1.5, xm: 50, mu: 5.5, sigma: 1.2, mix_weight: 0.3}
    output_distribution: {type: exponential, params: {mean: 256}}
    prefix_group: "system"
    network: {rtt_ms: 2.0, bandwidth_mbps: 1000}
    timeout: 2000000
    adapter: sql
  - id: "people"
    tenant_id: "tenant-B"
    slo_class: "realtime"
    rate_fraction: 0.7
    streaming: true
    arrival: {process: poisson}
    input_distribution: {type: gaussian, params: {mean: 128, std_dev: 50, min: 10, max: 2048}}
    output_distribution: {type: empirical, params: {"10": 1, "300": 3}}
    prefix_group: "other"
    prefix_length: 512
    slo_target_us: 250000
    network: {rtt_ms: 0}
`)
	if c.Seed != 7 || c.Requests != 500 || c.Horizon != 0 {
		t.Errorf("%+v", c)
	}
	jobs, people := clientOf(t, &c, "night-jobs"), clientOf(t, &c, "people")
	near(t, "rate", jobs.Rate.At(0), 50, 1e-12)
	if jobs.Process != (draw.ArrivalProcess{Kind: draw.Gamma, CV: 3.5}) || jobs.Model != "m" || jobs.Tenant != "tenant-A" || jobs.Timeout != 2*vtime.Second {
		t.Errorf("%+v", jobs)
	}
	if p := jobs.Prefix; p.Group != "system" || p.Length != 50 || p.Share != 1 || p.Count != 1 {
		t.Errorf("prefix %+v", p)
	}
	if people.Class != "critical" || people.Prefix.Length != 512 || people.Timeout != 0 {
		t.Errorf("%+v", people)
	}
	near(t, "mean output", people.Output.Dist.Mean(), 227.5, 1e-12)
	if people.Input != (draw.Length{Dist: draw.Gaussian(128, 50), Min: 10, Max: 2048}) {
		t.Errorf("input %+v", people.Input)
	}
	want := []string{
		"w.yaml:25: clients[1].slo_class: realtime is called critical since version 2",
		"w.yaml:12: clients[0].rate_fraction: the rate fractions add up to 1.4: each is divided by that",
		`w.yaml:22: clients[0].adapter: "sql": adapters are not modelled, requests are served by the model alone`,
		"w.yaml:20: clients[0].network: the network between client and server is not modelled, latencies are those of the server",
	}
	if got, want := strings.Join(notes, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("notes\n%s\nwant\n%s", got, want)
	}
	s, _ := Parse("w.yaml", []byte("version: 1\nclients: [{rate: 1, slo_target_us: 250000, slo_class: interactive, "+lengths+"}]"))
	if got := s.Targets(); got != "standard:ttft=250000us" {
		t.Errorf("targets %q", got)
	}
}

func TestPublicSessions(t *testing.T) {
	text := `
aggregate_rate: 500
horizon: 60000000
clients:
  - id: chat
    rate_fraction: 1
    arrival: {process: poisson}
    ` + strings.ReplaceAll(lengths, "}}, ", "}}\n    ") + `
    %s
    reasoning:
      reason_ratio_distribution: {type: gaussian, params: {mean: 0, std_dev: 0, min: 0, max: 0}}
      multi_turn: {max_rounds: 5, think_time_us: 500000, context_growth: accumulate%s}
`
	c, notes := build(t, fmt.Sprintf(text, "streaming: true", ""))
	s := c.Clients[0].Kinds[0].Session
	if len(notes) != 0 || c.Horizon != vtime.Time(vtime.Minute) || c.Requests != 0 || c.Clients[0].Kinds[0].Name != "chat" {
		t.Errorf("%q, %+v", notes, c)
	}
	if s.Rounds != draw.Exactly(5) || s.Think != draw.Always(500*vtime.Millisecond) || s.Context != traffic.Accumulate || s.Open {
		t.Errorf("%+v", s)
	}
	c, _ = build(t, fmt.Sprintf(text, "closed_loop: false", ", single_session: true"))
	if !c.Clients[0].Kinds[0].Session.Open || c.Clients[0].Requests != 5 {
		t.Errorf("%+v", c.Clients[0])
	}
	c, notes = build(t, strings.Replace(fmt.Sprintf(text, "", ""), "mean: 0, std_dev: 0, min: 0, max: 0", "mean: 30, std_dev: 0, min: 0, max: 90", 1))
	if len(notes) != 1 || !strings.Contains(notes[0], "changes no length") {
		t.Errorf("%q", notes)
	}
	_ = c
}

func TestPublicConcurrency(t *testing.T) {
	c, _ := build(t, "clients: [{id: users, concurrency: 20, think_time_us: 2000000, "+lengths+"}]")
	k := &c.Clients[0]
	if k.Users != 20 || k.Think != draw.Always(2*vtime.Second) || k.Rate.Pieces != nil || k.Requests != 1000 {
		t.Errorf("%+v", k)
	}
	c, _ = build(t, "num_requests: 7\nclients: [{id: a, concurrency: 20, "+lengths+"}, {id: b, concurrency: 20, num_requests: 50, "+lengths+"}, {id: c, concurrency: 10, "+lengths+"}]")
	if a, b, c := &c.Clients[0], &c.Clients[1], &c.Clients[2]; a.Requests != 4 || b.Requests != 50 || c.Requests != 3 {
		t.Errorf("%d, %d, %d requests, want 4, 50, 3", a.Requests, b.Requests, c.Requests)
	}
}

func TestPublicWindows(t *testing.T) {
	// Rates of windows are absolute without aggregate_rate.
	c, _ := build(t, `clients: [{id: a, rate_fraction: 1, `+lengths+`, arrival: {process: poisson}, lifecycle: {windows: [
		{start_us: 1000000, end_us: 2000000, trace_rate: 7, arrival: {process: gamma, shape: 0.25, scale: 1000}, output_distribution: {type: constant, params: {value: 3}}},
		{start_us: 0, end_us: 1000000, trace_rate: 2}]}}]`)
	k := &c.Clients[0]
	if len(k.Rate.Windows) != 2 || len(k.Changes) != 2 || k.Rate.At(0) != 2 || k.Rate.At(1_500_000) != 7 || k.Rate.At(2_000_000) != 0 {
		t.Fatalf("%+v", k)
	}
	if *k.Rate.Windows[1].Process != (draw.ArrivalProcess{Kind: draw.Gamma, Shape: 0.25}) || k.Rate.Windows[0].Process != nil || *k.Changes[1].Output != draw.Exactly(3) || k.Changes[0] != (traffic.Change{}) {
		t.Errorf("%+v %+v", k.Rate.Windows, k.Changes)
	}
	// With it they are weights among those that send at the same time.
	c, _ = build(t, `{aggregate_rate: 100, clients: [
		{id: a, rate_fraction: 1, `+lengths+`, lifecycle: {windows: [{start_us: 0, end_us: 10, trace_rate: 3}, {start_us: 10, end_us: 20}]}},
		{id: b, rate_fraction: 1, `+lengths+`, lifecycle: {windows: [{start_us: 0, end_us: 10, trace_rate: 1}]}}]}`)
	if a, b := clientOf(t, &c, "a"), clientOf(t, &c, "b"); a.Rate.At(5) != 75 || b.Rate.At(5) != 25 || a.Rate.At(15) != 100 || b.Rate.At(15) != 0 {
		t.Errorf("%v %v %v", a.Rate.At(5), b.Rate.At(5), a.Rate.At(15))
	}
	// Plain windows: the sum is that of all who send at any time of one's own.
	c, _ = build(t, `{aggregate_rate: 90, clients: [
		{id: a, rate_fraction: 2, `+lengths+`, lifecycle: {windows: [{start_us: 0, end_us: 10}, {start_us: 5, end_us: 20}]}},
		{id: b, rate_fraction: 1, `+lengths+`, lifecycle: {windows: [{start_us: 15, end_us: 30}]}},
		{id: c, rate_fraction: 1, `+lengths+`, lifecycle: {windows: [{start_us: 30, end_us: 40}]}}]}`)
	if a, b, d := clientOf(t, &c, "a"), clientOf(t, &c, "b"), clientOf(t, &c, "c"); a.Rate.At(5) != 60 || b.Rate.At(25) != 30 || d.Rate.At(35) != 90 || len(a.Rate.Windows) != 1 {
		t.Errorf("%+v %+v %+v", a.Rate, b.Rate, d.Rate)
	}
}

func TestPublicCohorts(t *testing.T) {
	const cohort = `{id: users, population: 4, rate_fraction: 1, prefix_group: doc, prefix_length: 64, prefix_sharing: %s, ` + lengths + `, arrival: {process: poisson}%s}`
	text := func(sharing, pattern string) string {
		return "{aggregate_rate: 100, horizon: 86400000000, cohorts: [" + fmt.Sprintf(cohort, sharing, pattern) + "]}"
	}
	c, _ := build(t, text("per_member", ""))
	if len(c.Clients) != 4 || c.Clients[0].ID != "users-0001" || c.Clients[3].ID != "users-0004" || c.Clients[1].Prefix.Group != "doc/users-0002" {
		t.Fatalf("%+v", c.Clients)
	}
	near(t, "rate of a member", c.Clients[2].Rate.At(0), 25, 1e-12)

	c, _ = build(t, text("shared", ", diurnal: {peak_hour: 14, peak_to_trough_ratio: 4}, spike: {start_time_us: 3600000000, duration_us: 60000000}"))
	if len(c.Clients) != 8 || c.Clients[0].Prefix.Group != "doc" {
		t.Fatalf("%d clients", len(c.Clients))
	}
	hour := func(h int) vtime.Time { return vtime.Time(vtime.Duration(h) * vtime.Hour) }
	k, spike := clientOf(t, &c, "users-0001"), clientOf(t, &c, "users-0001/spike")
	near(t, "peak", k.Rate.At(hour(14)), 25, 1e-6)
	near(t, "trough", k.Rate.At(hour(2)), 6.25, 1e-6)
	near(t, "spike", spike.Rate.At(hour(1)), 25, 1e-12)
	if k.Rate.At(hour(1)) != 0 || spike.Rate.At(hour(1)+60_000_000) != 0 || k.Rate.At(hour(1)+60_000_000) == 0 {
		t.Error("the cohort sends beside its spike, or the spike does not end")
	}

	c, _ = build(t, text("shared", ", spike: {start_time_us: 1000000, duration_us: 1000000}"))
	if k := &c.Clients[0]; len(c.Clients) != 4 || k.Rate.At(0) != 0 || k.Rate.At(1_000_000) != 25 || k.Rate.At(2_000_000) != 0 {
		t.Errorf("a spike alone: %+v", c.Clients[0].Rate)
	}
	c, _ = build(t, strings.Replace(text("shared", ", spike: {start_time_us: 1000000, duration_us: 1000000, trace_rate: 8}"), "aggregate_rate: 100, ", "", 1))
	if k := &c.Clients[0]; k.Rate.At(1_500_000) != 2 {
		t.Errorf("a spike's own rate: %+v", k.Rate)
	}
	c, _ = build(t, text("shared", ", drain: {start_time_us: 1000000, ramp_duration_us: 1000000}"))
	if k := &c.Clients[0]; k.Rate.At(999_999) != 25 || k.Rate.At(1_500_000) != 12.5 || k.Rate.At(2_000_000) != 0 {
		t.Errorf("a drain: %+v", k.Rate)
	}
}

func TestPublicInferencePerf(t *testing.T) {
	const text = `
version: "1"
inference_perf:
  stages: [{rate: 8.0, duration: 600}, {rate: 20.0, duration: 600}]
  shared_prefix: {num_unique_system_prompts: 3, num_users_per_system_prompt: 2, system_prompt_len: 100, question_len: 447, output_len: 248, enable_multi_turn_chat: %v}
`
	c, _ := build(t, fmt.Sprintf(text, false))
	k := clientOf(t, &c, "prompt-2-user-1")
	if len(c.Clients) != 6 || k.Tenant != "prompt-2" || k.Prefix.Group != "prompt-2" || k.Prefix.Length != 100 || k.Input != draw.Exactly(447) || k.Output != draw.Exactly(248) {
		t.Fatalf("%+v", k)
	}
	var sums [2]int64
	for i := range c.Clients {
		for j, s := range c.Clients[i].Stages {
			if sums[j] += s.Count; s.Start != vtime.Time(j)*600_000_000 || s.End != s.Start+600_000_000 {
				t.Errorf("stage %d: %+v", j, s)
			}
		}
	}
	if sums != [2]int64{4800, 12000} {
		t.Errorf("%v requests, want 4800 and 12000", sums)
	}
	c, _ = build(t, fmt.Sprintf(text, true))
	k = clientOf(t, &c, "stage-1-prompt-0-user-0")
	if s := k.Kinds[0].Session; len(c.Clients) != 12 || s.Rounds != draw.Exactly(2000) || s.Think != draw.Always(300*vtime.Millisecond) || s.Context != traffic.NoContext || k.Requests != 2000 {
		t.Errorf("%+v", k)
	}
	total := int64(0)
	for i := range c.Clients {
		total += c.Clients[i].Requests
	}
	if total != 8*600+20*600 {
		t.Errorf("%d requests, want %d", total, 28*600)
	}
}

func TestPublicMultimodal(t *testing.T) {
	c, notes := build(t, `{category: multimodal, clients: [{rate: 1, output_distribution: {type: constant, params: {value: 5}}, multimodal: {
		text_distribution: {type: empirical, params: {10: 1, 20: 1}},
		image_distribution: {type: empirical, params: {100: 1, 200: 1}}, image_count_distribution: {type: empirical, params: {0: 1, 2: 3}}}}]}`)
	l := c.Clients[0].Input
	if len(notes) != 0 || l.Min != 1 && l.Min != 10 || l.Max < 420 {
		t.Errorf("%q %+v", notes, l)
	}
	near(t, "mean", l.Dist.Mean(), 15+0.75*2*150, 1e-12)
	near(t, "variance", l.Dist.Variance(), 25+1.5*2500+0.75*2*2*150*150-225*225, 1e-9)
	least, most := l.Dist.Bounds()
	if least != 10 || most != 420 {
		t.Errorf("from %v to %v", least, most)
	}
}

func TestPublicShapeAndScaleGiveTheGap(t *testing.T) {
	c, _ := build(t, `clients: [{arrival: {process: gamma, shape: 2, scale: 50000}, `+lengths+`}, {arrival: {process: weibull, shape: 0.5, scale: 50000}, `+lengths+`}]`)
	near(t, "gamma", c.Clients[0].Rate.At(0), 10, 1e-12)
	near(t, "weibull", c.Clients[1].Rate.At(0), 10, 1e-9) // Γ(1 + 1/0.5) = 2
	if c.Clients[0].Process != (draw.ArrivalProcess{Kind: draw.Gamma, Shape: 2}) || c.Clients[0].ID != "client-0" {
		t.Errorf("%+v", c.Clients[0])
	}
	_, notes := build(t, `clients: [{rate: 3, arrival: {process: gamma, shape: 2, scale: 50000}, `+lengths+`}]`)
	if len(notes) != 1 || !strings.Contains(notes[0], "clients[0].arrival.scale: has no effect") {
		t.Errorf("%q", notes)
	}
}
