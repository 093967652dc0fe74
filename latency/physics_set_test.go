package latency

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// setYAML is as a person would write it.
const setYAML = `schema: blis.physics/v1
name: h100-dense
specification: 1
trained_on:
  models: [meta-llama/Llama-2-7b-hf, meta-llama/Llama-3.1-8B]
  kinds: [dense]
  gpus: [H100]
  tp_min: 1
  tp_max: 4
  batched_tokens_min: 2048
  batched_tokens_max: 8192
  engine: vLLM 0.15.1
  async_scheduling: true
  chunked_prefill: true
  dates: [2026-01-10, 2026-01-12]
  data: "reference/measured, 64 stages"
  samples: 52000
  lambda: 0.1
  gamma: 0.3
  method: ridge
errors:
  - {held_out: leave-one-workload-out, metric: ttft, statistic: mean, median_ape_percent: 12.5, runs: 16}
  - {held_out: leave-one-workload-out, metric: e2e, statistic: p99, gpu: H100, tp: 4, median_ape_percent: 20, mean_ape_percent: 25, model_mean_ape_percent: 30, bias_percent: -10.5, worst_percent: -41, models: 3, group_p90_ape_percent: 35, runs: 16}
notes: [α from requests that met an idle engine]
alpha: [0, 0, 0.5, 4.4e-3, 0, 0, 0, 0, 0, 0, 0]
beta: [1.6, 1.8, 1.3, 1.2, 1.4, 0, 0, 0, 1, 0, 0, 0, 0, 0, -0.0001, 0.002]
`

func parsedSet(t testing.TB) *PhysicsSet {
	t.Helper()
	s, err := ParsePhysicsSet([]byte(setYAML), "set.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParsePhysicsSet(t *testing.T) {
	want := &PhysicsSet{
		Name: "h100-dense",
		TrainedOn: Training{
			Models: []string{"meta-llama/Llama-2-7b-hf", "meta-llama/Llama-3.1-8B"}, Kinds: []string{"dense"}, GPUs: []string{"H100"}, TPMin: 1, TPMax: 4,
			BatchedTokensMin: 2048, BatchedTokensMax: 8192, Engine: "vLLM 0.15.1", AsyncScheduling: true, ChunkedPrefill: true,
			Dates: []string{"2026-01-10", "2026-01-12"}, Data: "reference/measured, 64 stages", Samples: 52000, Lambda: 0.1, Gamma: 0.3, Method: "ridge",
		},
		Errors: []HeldOutError{
			{HeldOut: "leave-one-workload-out", Metric: "ttft", Statistic: "mean", MedianAPEPercent: 12.5, Runs: 16}, // as files of before have it
			{"leave-one-workload-out", "e2e", "p99", "H100", 4, 16, 3, 20, 25, 30, -10.5, -41, 35},
		},
		Notes: []string{"α from requests that met an idle engine"},
		Alpha: AlphaVector{2: 0.5, 3: 0.0044},
		Beta:  BetaVector{1.6, 1.8, 1.3, 1.2, 1.4, 8: 1, 14: -0.0001, 15: 0.002},
	}
	if diff := cmp.Diff(want, parsedSet(t)); diff != "" {
		t.Error(diff)
	}
}

// How Format writes is part of the format: files are compared and kept.
func TestFormatOfAPhysicsSet(t *testing.T) {
	got := string(parsedSet(t).Format())
	for _, want := range []string{
		"schema: blis.physics/v1\nname: \"h100-dense\"\nspecification: 1 # of the features: docs/latency.md\ntrained_on:\n  models: [\"meta-llama/Llama-2-7b-hf\", \"meta-llama/Llama-3.1-8B\"]\n",
		"  tp_min: 1\n  tp_max: 4\n  batched_tokens_min: 2048\n  batched_tokens_max: 8192\n  engine: \"vLLM 0.15.1\"\n  async_scheduling: true\n  chunked_prefill: true\n",
		"  - {held_out: \"leave-one-workload-out\", metric: ttft, statistic: mean, median_ape_percent: 12.5, runs: 16}\n" +
			"  - {held_out: \"leave-one-workload-out\", metric: e2e, statistic: p99, gpu: \"H100\", tp: 4, median_ape_percent: 20, mean_ape_percent: 25, model_mean_ape_percent: 30, bias_percent: -10.5, worst_percent: -41, models: 3, group_p90_ape_percent: 35, runs: 16}\n",
		"alpha:\n  - 0 # 1 seat_use\n  - 0 # 2 kv_usage\n  - 0.5 # 3 prompt_compute\n  - 0.0044 # 4 constant\n",
		"  - -0.0001 # 15 mixed_batch\n  - 0.002 # 16 constant\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no\n%s\nin\n%s", want, got)
		}
	}
}

// A set is written in the lowest version that has its features.
func TestVersionOfAPhysicsSet(t *testing.T) {
	old := parsedSet(t)
	for _, c := range []struct {
		at    int // of a coefficient that is not 0
		first string
		last  string
	}{{15, "specification: 1 #", "  - 7 # 16 constant\n"}, {16, "specification: 2 #", "  - 0 # 28 decode_layers\n"}, {27, "specification: 2 #", "  - 7 # 28 decode_layers\n"}} {
		set := *old
		set.Beta[c.at] = 7
		text := string(set.Format())
		if !strings.Contains(text, "\n"+c.first) || !strings.HasSuffix(text, c.last) {
			t.Errorf("want %q, and %q at the end of\n%s", c.first, c.last, text)
		}
		again, err := ParsePhysicsSet([]byte(text), "set.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&set, again); diff != "" {
			t.Error(diff)
		}
	}
	// The same coefficients, written as version 2 by hand.
	long := strings.NewReplacer("specification: 1", "specification: 2", "0.002]", "0.002"+strings.Repeat(", 0", 12)+"]").Replace(setYAML)
	again, err := ParsePhysicsSet([]byte(long), "set.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(old, again); diff != "" {
		t.Error(diff)
	}
}

func TestPhysicsSetsSurviveTheRoundTrip(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringMatching(`[a-zA-Z0-9 "'\\:#\[\]{},&*!|>%@~?/.é–😀\-]{1,30}`).Draw(t, "text")
		if strings.TrimSpace(s) == "" {
			return "x"
		}
		return s
	})
	number := rapid.Float64Range(-maxCoefficient, maxCoefficient)
	rapid.Check(t, func(t *rapid.T) {
		s := &PhysicsSet{
			Name: text.Draw(t, "name"),
			TrainedOn: Training{
				Models: rapid.SliceOfN(text, 1, 3).Draw(t, "models"), Kinds: rapid.SampledFrom([][]string{{"dense"}, {"moe"}, {"dense", "moe"}}).Draw(t, "kinds"),
				GPUs: rapid.SliceOfN(text, 1, 3).Draw(t, "GPUs"), TPMin: rapid.IntRange(1, 8).Draw(t, "TP"), TPMax: rapid.IntRange(8, 64).Draw(t, "TP"),
				Engine: text.Draw(t, "engine"), AsyncScheduling: rapid.Bool().Draw(t, "async"), ChunkedPrefill: rapid.Bool().Draw(t, "chunked"),
				Data: text.Draw(t, "data"), Samples: rapid.Int64Range(1, math.MaxInt64).Draw(t, "samples"),
				Lambda: rapid.Float64Range(0, math.MaxFloat64).Draw(t, "λ"), Gamma: rapid.Float64Range(5e-324, 1).Draw(t, "γ"), Method: text.Draw(t, "method"),
			},
		}
		if rapid.Bool().Draw(t, "all of it") {
			s.TrainedOn.BatchedTokensMin, s.TrainedOn.BatchedTokensMax = 1, rapid.Int64Range(1, 1<<40).Draw(t, "tokens")
			s.TrainedOn.ContextMax, s.TrainedOn.SeatsMax, s.TrainedOn.StepTokensMax = rapid.Int64Range(0, 1<<40).Draw(t, "context"), 128, rapid.Int64Range(0, 1<<40).Draw(t, "step")
			s.TrainedOn.Dates = []string{"2025-12-31", "2026-01-01"}
			share := rapid.Float64Range(0, 1e6)
			a, b := share.Draw(t, "error"), share.Draw(t, "error")
			s.Errors = []HeldOutError{
				{HeldOut: text.Draw(t, "held out"), Metric: "tpot", Statistic: "p90", MedianAPEPercent: a, Runs: 3},
				{HeldOut: "x", Metric: "tpot", Statistic: "p90", GPU: text.Draw(t, "GPU"), TP: 2, Runs: 3, Models: 2, MedianAPEPercent: min(a, b), MeanAPEPercent: b, ModelMeanAPEPercent: a, BiasPercent: -a, WorstPercent: -max(a, b)},
			}
			s.Notes = rapid.SliceOfN(text, 1, 3).Draw(t, "notes")
		}
		for i := range s.Alpha {
			s.Alpha[i] = number.Draw(t, "α")
		}
		betas := s.Beta[:]
		if rapid.Bool().Draw(t, "version 1") {
			betas = s.Beta[:BetasOfVersion1]
		}
		for i := range betas {
			betas[i] = number.Draw(t, "β")
		}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		data := s.Format()
		again, err := ParsePhysicsSet(data, "set.yaml")
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatal(diff)
		}
		if !bytes.Equal(again.Format(), data) {
			t.Fatal("equal sets, other bytes")
		}
	})
}

func TestPhysicsSetNamesEveryBadField(t *testing.T) {
	change := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(setYAML) }
	for name, c := range map[string]struct{ yaml, want string }{
		"nothing": {"", `set.yaml: schema is "", want blis.physics/v1; specification is 0, want 1 or 2, the versions of the features that this program computes; ` +
			"trained_on.async_scheduling is missing, want true or false; trained_on.chunked_prefill is missing, want true or false; " +
			"alpha has 0 numbers, want 11; beta has 0 numbers, want 28; name is missing; trained_on.models is missing, want a list; " +
			"trained_on.kinds is missing, want a list; trained_on.gpus is missing, want a list; trained_on.tp_min is 0, want 1 to 1024; " +
			"trained_on.tp_max is 0, want 1 to 1024; trained_on.engine is missing; trained_on.data is missing; " +
			"trained_on.samples is 0, want 1 to 9223372036854775807; trained_on.gamma is 0, want above 0 and at most 1; trained_on.method is missing"},
		"numbers": {change("tp_max: 4", "tp_max: 0", "_min: 2048", "_min: 9000", "lambda: 0.1", "lambda: .inf", "gamma: 0.3", "gamma: 1.5", "12.5", "-1", "runs: 16}\nnotes", "runs: 0}\nnotes"),
			"set.yaml: trained_on.tp_max is 0, want 1 to 1024; trained_on.batched_tokens_max is 8192, want 9000 to 1099511627776; " +
				"trained_on.lambda is +Inf, want a finite number, 0 or more; trained_on.gamma is 1.5, want above 0 and at most 1; " +
				"errors[0].median_ape_percent is -1, want a finite number, 0 or more; errors[1].runs is 0, want 1 to 1073741824"},
		"errors of groups": {change("_ape_percent: 35", "_ape_percent: -35"), "set.yaml: errors[1].group_p90_ape_percent is -35, want a finite number, 0 or more"},
		"errors of models": {change("tp: 4", "tp: -1", "bias_percent: -10.5", "bias_percent: -31", "worst_percent: -41", "worst_percent: 29", "models: 3", "models: 17"),
			"set.yaml: errors[1].tp is -1, want 0 to 1024; errors[1].models is 17, want 1 to 16; errors[1].bias_percent is -31, want at most model_mean_ape_percent in magnitude; " +
				"errors[1].worst_percent is 29, want a finite number, in magnitude no mean or median of the runs above it"},
		"a mean of no models": {change("models: 3, ", ""), "set.yaml: errors[1].models is missing, want the number of models behind the mean, the bias and the worst error"},
		"a TP of no GPU":      {change("gpu: H100, ", ""), "set.yaml: errors[1].gpu is missing"},
		"words": {change("[dense]", "[dense, sparse]", "ttft", "TTFT", "p99", "max", "[2026-01-10, 2026-01-12]", "[2026-01-10, soon]", "name: h100-dense", `name: "a\tb"`),
			`set.yaml: name is "a\tb", want one line without control characters; trained_on.kinds[1] is "sparse", want dense, moe; ` +
				`trained_on.dates[1] is "soon", want a day such as 2026-01-31; errors[0].metric is "TTFT", want ttft, tpot, itl, e2e, step, throughput; ` +
				`errors[1].statistic is "max", want mean, p50, p90, p95, p99`},
		"dates the wrong way":   {change("[2026-01-10, 2026-01-12]", "[2026-01-12, 2026-01-10]"), "set.yaml: trained_on.dates end before they begin"},
		"one date":              {change("[2026-01-10, 2026-01-12]", "[2026-01-12]"), "set.yaml: trained_on.dates has 1 days, want the first and the last"},
		"no numbers":            {change("0.5, 4.4e-3", ".nan, -.inf", "1.6, 1.8", "~, 1e13"), "set.yaml: beta linear_compute is missing; alpha prompt_compute is NaN, want a number from -1e12 to 1e12; alpha constant is -Inf, want a number from -1e12 to 1e12; beta prefill_attention is 1e+13, want a number from -1e12 to 1e12"},
		"short vector":          {change("[1.6, ", "["), "set.yaml: beta has 15 numbers, want 16"},
		"vector of version 1":   {change("specification: 1", "specification: 2"), "set.yaml: beta has 16 numbers, want 28"},
		"vector of version 2":   {change("0.002]", "0.002"+strings.Repeat(", 0", 12)+"]"), "set.yaml: beta has 28 numbers, want 16"},
		"vector of neither":     {change("specification: 1", "specification: 2", "0.002]", "0.002, 1]"), "set.yaml: beta has 17 numbers, want 28"},
		"another version":       {change("specification: 1", "specification: 3"), "set.yaml: specification is 3, want 1 or 2, the versions of the features that this program computes; beta has 16 numbers, want 28"},
		"another schema":        {change("physics/v1", "physics/v2"), `set.yaml: schema is "blis.physics/v2", want blis.physics/v1`},
		"unknown field":         {change("tp_max: 4", "tp_most: 4"), `set.yaml:9: trained_on.tp_most: unknown field "tp_most" (there are: models, kinds, gpus, precisions, tp_min, tp_max, batched_tokens_min, batched_tokens_max, context_max, seats_max, step_tokens_max, engine, dates, data, samples, lambda, gamma, method, async_scheduling, chunked_prefill)`},
		"text for a number":     {change("samples: 52000", "samples: many"), `set.yaml:17: trained_on.samples: "many" is not allowed, want a whole number`},
		"text for a factor":     {change("1.8", "large"), `set.yaml:26: beta[1]: "large" is not allowed, want a number`},
		"field twice":           {change("method: ridge", "engine: vLLM"), `set.yaml:20: trained_on.engine: is given twice, first on line 12, want it once`},
		"no YAML":               {"a: [", "set.yaml:"},
		"too long":              {change("h100-dense", strings.Repeat("x", 1001)), "set.yaml: name has 1001 bytes, want at most 1000"},
		"empty among the lists": {change("[H100]", `[H100, ""]`, "[α from", `["", α from`), "set.yaml: trained_on.gpus[1] is missing; notes[0] is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParsePhysicsSet([]byte(c.yaml), "set.yaml")
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || c.want != "set.yaml:" && err.Error() != c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func FuzzParsePhysicsSet(f *testing.F) {
	f.Add([]byte(setYAML))
	f.Add(parsedSet(f).Format())
	f.Add([]byte("alpha: [.nan, .inf, -.inf, ~, 1e400, 0x10]\nbeta: {}\ntrained_on: [1]\nnotes: [[]]"))
	f.Add([]byte("trained_on: &a {models: [*a]}\nerrors: [~]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParsePhysicsSet(data, "set.yaml")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, v := range slices.Concat(s.Alpha[:], s.Beta[:], []float64{s.TrainedOn.Lambda, s.TrainedOn.Gamma}) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%v passed", v)
			}
		}
		again, err := ParsePhysicsSet(s.Format(), "again.yaml")
		if err != nil {
			t.Fatalf("%v in\n%s", err, s.Format())
		}
		if !bytes.Equal(again.Format(), s.Format()) {
			t.Fatal("the round trip changes the set")
		}
	})
}
