package calibrate

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"blis/calibrate/measured"
	"blis/latency"
)

// syntheticPasses are forward passes of a server with the coefficients of truth, off
// by a relative noise: 300 decodes, 60 mixed and 30 prefills. The lines are those of
// a file with a header.
func syntheticPasses(t *testing.T, noise float64) StepData {
	t.Helper()
	o := Overrides{Model: "meta-llama/Llama-3.1-8B", Hardware: "H100", TP: 1}
	d, limits, err := o.Deployment("", 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := latency.NewFeatures(d, limits)
	if err != nil {
		t.Fatal(err)
	}
	m, err := latency.NewPhysics(f, truth().Alpha, truth().Beta)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 5))
	data := StepData{Name: "passes", Features: f, Async: true, ChunkedPrefill: true}
	for i, kind := range random.Perm(390) {
		s := measured.Step{ID: int64(i + 2), OwnTime: true, HasSums: true}
		if kind >= 300 {
			s.PrefillTokens, s.PrefillRequests = 1<<(6+random.Int64N(8)), 1
			s.PrefillPairs = s.PrefillTokens * (s.PrefillTokens + 1) / 2
		}
		if kind < 360 {
			s.DecodeRequests = 1 + random.Int64N(32)
			s.DecodeContext = s.DecodeRequests * (100 + random.Int64N(4000))
		}
		s.DecodeTokens = s.DecodeRequests
		s.Running, s.SampledRows = s.PrefillRequests+s.DecodeRequests, s.PrefillRequests+s.DecodeRequests
		s.ScheduledTokens = s.PrefillTokens + s.DecodeTokens
		s.Period = m.Step(stepBatch(&s, 0)) * (1 + float64(noise*random.NormFloat64()))
		data.Steps = append(data.Steps, s)
	}
	return data
}

func TestOutlyingPassesAreLeftOut(t *testing.T) {
	data := syntheticPasses(t, 0.05)
	all, none := data.Passes()
	if len(all) != 390 || len(none) > 0 {
		t.Fatalf("%d passes, outliers %+v", len(all), none)
	}
	if p := all[7]; p.Line != 9 || p.Seconds != data.Steps[7].Period/1e6 || p.Batch != *stepBatch(&data.Steps[7], 0) {
		t.Errorf("%+v is not %+v", p, data.Steps[7])
	}
	planted := map[int]float64{} // two of each kind
	factors := [stepKinds][]float64{{2.2, 0.4}, {100, 0.03}, {30, 2.5}}
	for i := range data.Steps {
		if of := &factors[kindOf(&data.Steps[i])]; i%7 == 3 && len(*of) > 0 {
			planted[i], *of = (*of)[0], (*of)[1:]
		}
	}
	for i, factor := range planted {
		data.Steps[i].Period *= factor
	}
	kept, outliers := data.Passes()
	if len(kept) != 384 || len(outliers) != len(planted) {
		t.Errorf("%d kept, outliers %+v", len(kept), outliers)
	}
	for _, o := range outliers {
		s := &data.Steps[o.Line-2]
		if f := planted[int(o.Line-2)]; math.Abs(o.Factor/f-1) > 0.4 || o.Measured != 1e3*(s.Period/1e6) || o.Configuration != "passes" || o.Batch != batchText(s) {
			t.Errorf("%+v, planted %v", o, f)
		}
	}
	fit := mustFit(t, []StepData{data}, StepOptions{})
	if !slices.Equal(fit.Outliers, outliers) || !slices.Contains(fit.Dropped, DroppedSteps{dropTexts[unlikeOthers], 6}) {
		t.Errorf("%+v, %+v", fit.Outliers, fit.Dropped)
	}
}

// A pass is the time of its own batch: nothing is moved by a row with async
// scheduling, and none is a warm-up.
func TestAPassBelongsToItsBatch(t *testing.T) {
	data := syntheticPasses(t, 0)
	fit := mustFit(t, []StepData{data}, StepOptions{})
	dropped := 0
	for _, d := range fit.Dropped {
		dropped += d.Steps
	}
	if dropped > 1 || fit.Rows+fit.HeldOut+dropped != 390 { // one beside what is held out
		t.Errorf("%d rows, %d held out, dropped %+v", fit.Rows, fit.HeldOut, fit.Dropped)
	}
	if e := fit.Configurations[0].HeldOut; e.MAPE > 0.002 {
		t.Errorf("held out %+v", e)
	}
	data.Async = false
	if other := mustFit(t, []StepData{data}, StepOptions{}); other.Beta != fit.Beta {
		t.Errorf("async %v, else %v", fit.Beta, other.Beta)
	}
}

func TestKindsOfPassesCountTheSame(t *testing.T) {
	data := syntheticPasses(t, 0)
	var rows []stepRow
	for i := range data.Steps {
		rows = append(rows, stepRow{step: &data.Steps[i], weight: 1})
	}
	weighKindsEqually(rows)
	var sums [stepKinds]float64
	for i := range rows {
		sums[kindOf(rows[i].step)] += rows[i].weight
	}
	for p, sum := range sums {
		if math.Abs(sum-130) > 1e-9 {
			t.Errorf("%s weighs %v, want 130", kindNames[p], sum)
		}
	}
}

// What is known of the public passes: which six are outliers, and that a fit to two
// degrees of tensor parallelism is not far off on the third.
func TestPublicPasses(t *testing.T) {
	needMeasured(t)
	folder := t.TempDir()
	const config = `{"architectures":["Qwen3ForCausalLM"],"head_dim":128,"hidden_act":"silu","hidden_size":5120,"intermediate_size":25600,"max_position_embeddings":40960,
		"model_type":"qwen3","num_attention_heads":64,"num_hidden_layers":64,"num_key_value_heads":8,"tie_word_embeddings":false,"torch_dtype":"bfloat16","vocab_size":151936}`
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(measuredRuns, "steps", "*.csv.gz"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	data, deployments, err := ReadStepData(files, Overrides{ModelConfigFolder: folder, Hardware: "B200", TP: 1}, true)
	if err != nil || len(data) != 3 {
		t.Fatal(err)
	}
	var lines []int64
	total := 0
	for i := range data {
		if want := 1 << i; deployments[i].TP != want {
			t.Errorf("%s has TP %d", data[i].Name, deployments[i].TP)
		}
		kept, outliers := data[i].Passes()
		total += len(kept) + len(outliers)
		for _, o := range outliers {
			lines = append(lines, o.Line)
		}
	}
	if want := []int64{42, 43, 232, 233, 305, 36}; total != 20774 || !slices.Equal(lines, want) {
		t.Errorf("%d passes, outliers in lines %v, want %v", total, lines, want)
	}
	for _, e := range mustFit(t, data, StepOptions{}).Configurations {
		if len(e.LeftOutKinds) != 3 || e.LeftOut.Median > 0.2 {
			t.Errorf("%s: %+v", e.Name, e)
		}
	}
}
