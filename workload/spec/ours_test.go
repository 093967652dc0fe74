package spec

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

func TestProcesses(t *testing.T) {
	for _, c := range []struct {
		arrival string
		law     draw.ArrivalProcess
	}{
		{"{process: poisson, cv: 3}", draw.ArrivalProcess{Kind: draw.Poisson}},
		{"{process: constant}", draw.ArrivalProcess{Kind: draw.Constant}},
		{"{process: gamma}", draw.ArrivalProcess{Kind: draw.Gamma, CV: 1}},
		{"{process: weibull, cv: 2}", draw.ArrivalProcess{Kind: draw.Weibull, CV: 2}},
		{"{process: pareto, alpha: 1.5}", draw.ArrivalProcess{Kind: draw.Pareto, Alpha: 1.5}},
		{"{process: bursty, alpha: 1.5}", draw.ArrivalProcess{Kind: draw.Pareto, Alpha: 1.5}},
		{"{process: periodic, jitter: 0.25}", draw.ArrivalProcess{Kind: draw.Periodic, Jitter: 0.25}},
		{"{process: adversarial, size: 8}", draw.ArrivalProcess{Kind: draw.Burst, Size: 8}},
		{"{process: adversarial, every: 5s}", draw.ArrivalProcess{Kind: draw.Burst, Size: 50}},
		{"{process: adversarial, every: 5s, size: 50}", draw.ArrivalProcess{Kind: draw.Burst, Size: 50}},
	} {
		got, _ := build(t, "clients: [{rate: 10, "+lengths+", arrival: "+c.arrival+"}]")
		if got.Clients[0].Process != c.law || got.Clients[0].Rate.At(0) != 10 {
			t.Errorf("%s: %+v at %v/s, want %+v", c.arrival, got.Clients[0].Process, got.Clients[0].Rate.At(0), c.law)
		}
	}
	c, _ := build(t, "clients: [{"+lengths+", arrival: {process: adversarial, every: 5s, size: 20}}]")
	if c.Clients[0].Rate.At(0) != 4 {
		t.Errorf("20 requests every 5 s are %v/s", c.Clients[0].Rate.At(0))
	}
	c, _ = build(t, "clients: [{"+lengths+", arrival: {process: trace, times_us: [1, 1, 5]}}]")
	if want := []vtime.Time{1, 1, 5}; !reflect.DeepEqual(c.Clients[0].Times, want) || c.Clients[0].Rate.Pieces != nil {
		t.Errorf("%+v", c.Clients[0])
	}
}

func TestDistributionsBecomeThoseOfDraw(t *testing.T) {
	must := func(d draw.Distribution, err error) draw.Distribution {
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		text string
		dist draw.Distribution
		min  int32
		max  int32
	}{
		{"{type: exponential, params: {mean: 9}}", must(draw.NewExponential(9)), 1, maxTokens},
		{"{type: lognormal, params: {mu: 2, sigma: 1, max: 99}}", must(draw.NewLognormal(2, 1)), 1, 99},
		{"{type: lognormal, params: {mean: 40, cv: 2, min: 3}}", must(draw.NewLognormalMean(40, 2)), 3, maxTokens},
		{"{type: pareto_lognormal, params: {alpha: 2, xm: 7, mu: 1, sigma: 2, mix_weight: 0.5}}", must(draw.NewParetoLognormal(2, 7, 1, 2, 0.5)), 1, maxTokens},
		{"{type: uniform, params: {min: 3, max: 9}}", must(draw.NewUniform(2.5, 9.5)), 3, 9},
		{"{type: gaussian, params: {mean: 40, std_dev: 2}}", draw.Gaussian(40, 2), 1, maxTokens},
		{"{type: constant, params: {value: 0}}", draw.Fixed(0), 0, 0},
	} {
		got, _ := build(t, "clients: [{rate: 1, input_distribution: {type: constant, params: {value: 1}}, output_distribution: "+c.text+"}]")
		if want := (draw.Length{Dist: c.dist, Min: c.min, Max: c.max}); got.Clients[0].Output != want {
			t.Errorf("%s: %+v, want %+v", c.text, got.Clients[0].Output, want)
		}
	}
	got, _ := build(t, "clients: [{rate: 1, output_distribution: {type: constant, params: {value: 1}}, input_distribution: {type: zipf, params: {s: 1, n: 3}}}]")
	near(t, "mean of 1, 2, 3 with weights 1, 1/2, 1/3", got.Clients[0].Input.Dist.Mean(), 3/(1+1./2+1./3), 1e-12)
}

func TestLoadProfiles(t *testing.T) {
	s := vtime.Second
	for _, c := range []struct {
		profile string
		rates   map[vtime.Duration]float64
	}{
		{"{type: constant, multiplier: 3}", map[vtime.Duration]float64{0: 30, vtime.Hour: 30}},
		{"{type: step, segments: [{duration: 10s, multiplier: 2}, {duration: 5s, multiplier: 0}]}", map[vtime.Duration]float64{0: 20, 12 * s: 0, 20 * s: 0}},
		{"{type: step, repeat: true, segments: [{duration: 10s, multiplier: 2}, {duration: 5s, multiplier: 0}]}", map[vtime.Duration]float64{0: 20, 12 * s: 0, 16 * s: 20}},
		{"{type: ramp, segments: [{duration: 10s, multiplier: 3}, {duration: 10s, multiplier: 1}]}", map[vtime.Duration]float64{0: 10, 5 * s: 20, 10 * s: 30, 15 * s: 20, 30 * s: 10}},
		{"{type: ramp, start: 0, segments: [{duration: 10s, multiplier: 4}]}", map[vtime.Duration]float64{0: 0, 5 * s: 20, 99 * s: 40}},
		{"{type: spike, every: 60s, duration: 5s, factor: 4}", map[vtime.Duration]float64{0: 10, 54 * s: 10, 55 * s: 40, 60 * s: 10, 116 * s: 40}},
		{"{type: diurnal, period: 100s, peak_to_trough: 3, peak_at: 0}", map[vtime.Duration]float64{0: 15, 50 * s: 5, 25 * s: 10}},
	} {
		for _, text := range []string{
			"load_profile: " + c.profile + "\nclients: [{rate: 10, " + lengths + "}]",
			"load_profile: {type: constant, multiplier: 7}\nclients: [{rate: 10, " + lengths + ", load_profile: " + c.profile + "}]",
		} {
			got, _ := build(t, text)
			for at, want := range c.rates { // any order: each is looked at alone
				if rate := got.Clients[0].Rate.At(vtime.Time(at)); rate < want-1e-3 || rate > want+1e-3 {
					t.Errorf("%s at %v: %v, want %v", c.profile, at, rate, want)
				}
			}
		}
	}
}

const threeTenants = `
tenants:
- {id: calm, weight: 3, slo_class: critical, slo: {ttft: 1s, tpot: 50ms}, prefix: {length: 80}}
- {id: wild, weight: 1, behavior: %s, archetype: {%s}}
- {id: other, rate: 2}
correlations: {prefix_reuse: 0.6}
clients:
- {id: api, rate: 8, input_distribution: {type: gaussian, params: {mean: 100, std_dev: 10, max: 900}}, output_distribution: {type: constant, params: {value: 5}}, arrival: {process: constant}%s}
`

func TestTenantsShareClients(t *testing.T) {
	c, _ := build(t, fmt.Sprintf(threeTenants, "normal", "", ""))
	calm, wild, other := clientOf(t, &c, "api/calm"), clientOf(t, &c, "api/wild"), clientOf(t, &c, "api/other")
	if calm.Rate.At(0) != 6 || wild.Rate.At(0) != 2 || other.Rate.At(0) != 2 || calm.Class != "critical" || wild.Class != "standard" || calm.Tenant != "calm" {
		t.Errorf("%+v", c.Clients)
	}
	if p := calm.Prefix; p.Group != "tenant/calm" || p.Length != 80 || p.Share != 0.6 || other.Prefix.Group != "tenant/other" || other.Prefix.Length != 50 {
		t.Errorf("%+v, %+v", calm.Prefix, other.Prefix)
	}
	s, _ := Parse("w.yaml", []byte(fmt.Sprintf(threeTenants, "normal", "", "")))
	if got := s.Targets(); got != "critical:ttft=1000000us,tpot=50000us" {
		t.Errorf("targets %q", got)
	}
	c, _ = build(t, "tenants: [{id: a, weight: 2}, {id: b}, {id: c, rate: 1}]\nclients: [{id: u, concurrency: 10, num_requests: 100, "+lengths+"}]")
	a, b := clientOf(t, &c, "u/a"), clientOf(t, &c, "u/b")
	if len(c.Clients) != 2 || a.Users != 7 || b.Users != 3 || a.Requests != 67 || b.Requests != 33 {
		t.Errorf("%+v", c.Clients)
	}
}

func TestBehavioursAndArchetypes(t *testing.T) {
	wild := func(behavior, archetype, more string) *traffic.Client {
		t.Helper()
		c, _ := build(t, fmt.Sprintf(threeTenants, behavior, archetype, more))
		return clientOf(t, &c, "api/wild")
	}
	near(t, "prompts of prompt_tokens", wild("normal", "prompt_tokens: 250", "").Input.Dist.Mean(), 250, 1e-12)
	if k := wild("bursty", "burst_propensity: 2", ""); k.Process != (draw.ArrivalProcess{Kind: draw.Gamma, CV: 3}) {
		t.Errorf("bursty: %+v", k.Process)
	}
	if k := wild("bursty", "burst_propensity: 5", ""); k.Process.CV != 5 {
		t.Errorf("more bursty: %+v", k.Process)
	}
	k := wild("abusive", "", "")
	if k.Rate.At(0) != 8 || k.Prefix != (traffic.Prefix{}) || k.Input.Dist.Mean() != 400 || k.Input.Max != 3600 || k.Process.Kind != draw.Constant {
		t.Errorf("abusive: %+v", k)
	}
	k = wild("adversarial", "", "")
	if k.Rate.At(0) != 2 || k.Process != (draw.ArrivalProcess{Kind: draw.Burst, Size: 32}) || k.Input.Dist.Mean() != 400 || k.Prefix.Share != 0.6 {
		t.Errorf("adversarial: %+v", k)
	}
	if k := wild("normal", "reuse_affinity: 0.9", ""); k.Prefix.Share != 0.9 || k.Process.Kind != draw.Constant {
		t.Errorf("affinity: %+v", k.Prefix)
	}
	if k := wild("normal", "session_length: 7", ", request_types: [{type: chat, rounds: 2}]"); k.Kinds[0].Session.Rounds != draw.Exactly(7) {
		t.Errorf("session length: %+v", k.Kinds[0].Session)
	}
	_, notes := build(t, fmt.Sprintf(threeTenants, "normal", "session_length: 7", ""))
	if len(notes) != 1 || !strings.Contains(notes[0], `tenants[1]: archetype.session_length has no effect on client "api"`) {
		t.Errorf("%q", notes)
	}
	c, _ := build(t, strings.Replace(fmt.Sprintf(threeTenants, "normal", "", ""), "prefix_reuse: 0.6", "burst_propensity: 4, burst_size: 0.5", 1))
	for i := range c.Clients {
		if c.Clients[i].Process != (draw.ArrivalProcess{Kind: draw.Gamma, CV: 4}) || c.Clients[i].BurstSize != 0.5 {
			t.Errorf("burst_propensity and burst_size: %+v, %v", c.Clients[i].Process, c.Clients[i].BurstSize)
		}
	}
}

func TestScalingKeepsTheShape(t *testing.T) {
	for _, d := range []string{
		"{type: lognormal, params: {mu: 4, sigma: 0.5}}", "{type: lognormal, params: {mean: 100, cv: 1}}", "{type: exponential, params: {mean: 100}}",
		"{type: uniform, params: {min: 50, max: 150}}", "{type: constant, params: {value: 100}}", "{type: empirical, params: {10: 1, 300: 2}}",
		"{type: zipf, params: {s: 1, n: 50}}", "{type: pareto_lognormal, params: {alpha: 3, xm: 40, mu: 4, sigma: 0.5, mix_weight: 0.3}}",
	} {
		text := "tenants: [{id: a, behavior: %s}]\nclients: [{id: c, rate: 1, output_distribution: {type: constant, params: {value: 5}}, input_distribution: " + d + "}]"
		plain, _ := build(t, fmt.Sprintf(text, "normal"))
		long, _ := build(t, fmt.Sprintf(text, "abusive"))
		p, l := plain.Clients[0].Input, long.Clients[0].Input
		near(t, d+" mean", l.Dist.Mean(), 4*p.Dist.Mean(), 0.006)
		near(t, d+" variance", l.Dist.Variance()+1e-9, 16*p.Dist.Variance()+1e-9, 0.02)
	}
}

func TestRequestTypes(t *testing.T) {
	c, _ := build(t, `
correlations: {session_growth: sublinear}
clients:
- id: mix
  rate: 1
  `+strings.ReplaceAll(lengths, "}}, ", "}}\n  ")+`
  max_output: 64
  priority: 2.5
  timeout: 30s
  num_requests: 77
  request_types:
  - {type: completion, share: 0.25, output_distribution: {type: exponential, params: {mean: 9}}}
  - {type: chat, share: 0.25, rounds: 4, think_time: {type: exponential, params: {mean: 2s, min: 500ms, max: 1m}}, context: none, open: true, follow_distribution: {type: constant, params: {value: 33}}}
  - {type: agentic, share: 0.25, growth: linear, tools: {probability: 0.5, calls: 3, latency: 200ms, result_tokens: 40}}
  - {type: chat, share: 0.25, rounds: 2, context_limit: 500}
`)
	k := &c.Clients[0]
	if k.MaxOutput != 64 || k.Hint != 2.5 || k.Timeout != 30*vtime.Second || k.Requests != 77 || len(k.Kinds) != 4 {
		t.Fatalf("%+v", k)
	}
	if k.Kinds[0].Session != nil || k.Kinds[0].Output.Max != 64 || k.Kinds[0].Share != 0.25 {
		t.Errorf("completion: %+v", k.Kinds[0])
	}
	chat, agent, bounded := k.Kinds[1].Session, k.Kinds[2].Session, k.Kinds[3].Session
	if chat.Context != traffic.NoContext || !chat.Open || *chat.Follow != draw.Exactly(33) || chat.Think.Min != 500*vtime.Millisecond || chat.Think.Max != vtime.Minute {
		t.Errorf("chat: %+v", chat)
	}
	if agent.Growth != traffic.Linear || agent.Rounds != draw.Exactly(1) || agent.Tools.Probability != 0.5 || agent.Tools.Calls != draw.Exactly(3) || agent.Tools.Latency != draw.Always(200*vtime.Millisecond) || agent.Tools.Result != draw.Exactly(40) {
		t.Errorf("agentic: %+v %+v", agent, agent.Tools)
	}
	if bounded.Growth != traffic.Bounded || bounded.Limit != 500 || k.Kinds[3].Name != "chat-2" {
		t.Errorf("bounded: %+v", bounded)
	}
	c, _ = build(t, one(", request_types: [{type: reasoning, reasoning: {steps: 3, tokens_per_step: 100, kept: true}}]"))
	if r := c.Clients[0].Kinds[0].Session.Reasoning; r.Steps != draw.Exactly(3) || r.Tokens != draw.Exactly(100) || !r.Kept {
		t.Errorf("reasoning: %+v", r)
	}
	c, _ = build(t, "correlations: {session_growth: sublinear}\n"+one(", request_types: [{type: chat, rounds: 2}]"))
	if g := c.Clients[0].Kinds[0].Session.Growth; g != traffic.Sublinear {
		t.Errorf("growth %v", g)
	}
}

// TestGraphs: in topological order, ties as in the file, copies written out.
func TestGraphs(t *testing.T) {
	c, _ := build(t, one(`, request_types: [{type: agentic, graph: [
		{id: join, wait_for: [work, look]}, {id: plan}, {id: work, wait_for: [plan], repeat: 2, tool_wait: 1s},
		{id: look, wait_for: [plan], output_distribution: {type: constant, params: {value: 3}}}, {id: check, wait_for: [work], repeat: 2}]}]`))
	var got []string
	for _, n := range c.Clients[0].Kinds[0].Session.Graph {
		got = append(got, fmt.Sprint(n.Name, n.After, int64(n.Wait.Min)))
	}
	want := "plan[] 0 work-1[0] 1000000 work-2[0] 1000000 look[0] 0 join[1 2 3] 0 check-1[1 2] 0 check-2[1 2] 0"
	if strings.Join(got, " ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, " "), want)
	}
}

// TestIndependence: a client or tenant with a rate of its own changes no other.
func TestIndependence(t *testing.T) {
	text := fmt.Sprintf(threeTenants, "abusive", "prompt_tokens: 300", ", request_types: [{type: chat, rounds: 3, think_time: 2s}]")
	before, _ := build(t, text)
	more := []string{
		text + "- {id: more, rate: 100, " + lengths + ", prefix_group: g}\n",
		text + "cohorts: [{id: crowd, population: 3, rate: 5, " + lengths + "}]\n",
		strings.Replace(text, "- {id: other, rate: 2}", "- {id: another, rate: 9}\n- {id: other, rate: 2}", 1),
		text + "goodput_slo_targets: {batch: {e2e_ms: 3}}\n",
	}
	for i, text := range more {
		after, _ := build(t, text)
		if len(after.Clients) == len(before.Clients) != (i == 3) {
			t.Fatalf("%d: %d clients", i, len(after.Clients))
		}
		for k := range before.Clients {
			if id := before.Clients[k].ID; !reflect.DeepEqual(before.Clients[k], *clientOf(t, &after, id)) {
				t.Errorf("%d: client %s is another", i, id)
			}
		}
	}
}

// TestTrafficLeavesTheSpecificationAlone: twice gives the same.
func TestTrafficLeavesTheSpecificationAlone(t *testing.T) {
	for _, s := range Scenarios() {
		spec, err := OpenScenario(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		a, notes := trafficOf(t, spec)
		b, again := trafficOf(t, spec)
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(notes, again) {
			t.Errorf("%s differs the second time", s.Name)
		}
	}
}

// TestUtilizationCountsWhatArrivalsBegin: sessions are several requests, whose
// prompts grow.
func TestUtilizationCountsWhatArrivalsBegin(t *testing.T) {
	const text = "utilization: 0.5\nclients: [{rate_fraction: 1, " + lengths + ", prefix: {length: 40, share: 0.5}, request_types: [%s]}]"
	for _, c := range []struct {
		types string
		rate  float64 // half of 10,000 tokens per second, over the tokens of an arrival
	}{
		{"{type: completion}", 5000. / 130},
		{"{type: chat, rounds: 3, context: none}", 5000. / (3 * 130)},
		{"{type: chat, rounds: 3}", 5000. / (3*130 + 110 + 220)},
		{"{type: chat, rounds: 3, context_limit: 150}", 5000. / (3*130 + 110 + 130)}, // 20 of the 150 are prefix
		{"{type: chat, rounds: 2, growth: sublinear}", 5000. / (2*130 + 110)},
		{"{type: chat, rounds: 3, growth: sublinear}", 5000. / (3*130 + 110 + 110*(1+1/math.Sqrt2))},
		{"{type: reasoning, reasoning: {steps: 2, tokens_per_step: 50}}", 5000. / 230},
		{"{type: agentic, context: none, tools: {probability: 0.5, calls: 2, result_tokens: 60}}", 5000. / (130 + 0.75*90)},
		{"{type: agentic, graph: [{id: a}, {id: b, wait_for: [a], repeat: 2}, {id: c, wait_for: [b]}]}", 5000. / (4*130 + 2*110 + 220 + 10)},
		{"{type: completion, share: 0.5}, {type: chat, share: 0.5, rounds: 3, context: none}", 5000. / 260},
	} {
		got, notes := build(t, fmt.Sprintf(text, c.types))
		near(t, c.types, got.Clients[0].Rate.At(0), c.rate, 1e-9)
		if len(notes) != 1 || !strings.Contains(notes[0], "w.yaml:1: utilization: 0.5 of the capacity of ") {
			t.Errorf("%s: notes %q", c.types, notes)
		}
	}
}
