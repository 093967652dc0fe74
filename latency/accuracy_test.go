package latency

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a run may do outside the data of a set is listed with the value of the run and
// what was measured.
func TestNotMeasuredNamesEachRangeAndValue(t *testing.T) {
	set := bySet("a", ours, HeldOutWorkload, 5)
	set.TrainedOn.ContextMax, set.TrainedOn.SeatsMax, set.TrainedOn.StepTokensMax, set.TrainedOn.AsyncScheduling = 1059, 128, 2048, true
	small := EngineLimits{MaxBatchedTokens: 2048, MaxSeqs: 128, BlockSize: 16, GPUBlocks: 100, ChunkedPrefill: true}
	large := small
	large.MaxBatchedTokens, large.MaxSeqs = 8192, 1024
	for name, c := range map[string]struct {
		model, gpu string
		tp         int
		limits     EngineLimits
		async      bool
		context    int64
		want       string
	}{
		"all of it was":         {"Llama-2-7b-hf", "H100", 1, small, true, 1059, ""},
		"larger limits":         {"Llama-2-7b-hf", "H100", 4, large, true, 14050, "max-model-len: contexts above 1,059 tokens; max-num-seqs: max_num_seqs 1,024 (measured: 128); max-num-batched-tokens: max_num_batched_tokens 8,192 (measured: 2,048)"},
		"an unknown context":    {"Llama-2-7b-hf", "H100", 1, small, true, 0, "max-model-len: contexts above 1,059 tokens"},
		"nothing was":           {"Llama-2-70b-hf", "A100", 8, small, false, 4096, "model: this model; hardware: GPU A100-80; tp: TP 8 (measured: 1 to 4); async-scheduling: async scheduling off; max-model-len: contexts above 1,059 tokens"},
		"another kind of model": {"Mixtral-8x7B-v0.1", "H100", 2, small, true, 1000, "model: moe model"},
	} {
		var got []string
		for _, n := range set.NotMeasured(deployment(t, c.model, c.gpu, c.tp), c.limits, c.async, c.context) {
			got = append(got, n.Setting+": "+n.Text)
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
	}
}

func TestAccuracyOfARun(t *testing.T) {
	d := deployment(t, "Llama-2-7b-hf", "H100", 1)
	a := bySet("a", ours, HeldOutWorkload, 5).Accuracy(d, typicalLimits, false, 100)
	off := &Deviation{Expected: 5, Median: 1, Bias: -5, Worst: -15}
	want := &Stated{HeldOut: HeldOutWorkload, Runs: 9, Models: 4, FittedTo: 1, TTFT: off, TPOT: off, E2E: off}
	if diff := cmp.Diff(want, a.Stated); diff != "" || len(a.NotMeasured) > 0 {
		t.Errorf("%s, %v", diff, a.NotMeasured)
	}
	d.TP = 8
	if a := bySet("a", ours, HeldOutWorkload, 5).Accuracy(d, typicalLimits, false, 100); a.Stated != nil || len(a.NotMeasured) != 1 {
		t.Errorf("at TP 8: %+v", a)
	}
}

// Of a set that was fitted to steps the error of a step is known, for the models that it
// was fitted to, and no latency model is chosen by it.
func TestAccuracyOfASetOfSteps(t *testing.T) {
	set := bySet("a", ours, HeldOutConfiguration, 5)
	set.Errors = set.Errors[:1]
	set.Errors[0].Metric = "step"
	d := deployment(t, "Llama-2-7b-hf", "H100", 1)
	for _, async := range []bool{false, true} {
		if a := set.Accuracy(d, typicalLimits, async, 100); a.Stated != nil || a.Step == nil || a.Step.Metric != "step" {
			t.Errorf("async %v: %+v", async, a)
		}
	}
	if best, next := ChooseFrom([]*PhysicsSet{set}, RooflineRecord, d, typicalLimits); best.Set != nil || next != nil {
		t.Errorf("%v is chosen, %v next", best.Name(), next)
	}
	for name, other := range map[string]*Deployment{"TP 8": deployment(t, "Llama-2-7b-hf", "H100", 8), "another model": deployment(t, "Qwen3-8B", "H100", 1)} {
		if a := set.Accuracy(other, typicalLimits, false, 100); a.Step != nil {
			t.Errorf("%s: %+v", name, a.Step)
		}
	}
}

// Roofline knows its error where it was measured, for whatever model, and nowhere else.
func TestErrorOfRoofline(t *testing.T) {
	for _, r := range RooflineRecords() {
		for i := range r.Errors {
			var p problems
			if r.Errors[i].check(&p, ""); p.err("roofline") != nil {
				t.Error(p.err("roofline"))
			}
		}
	}
	for _, c := range []struct {
		model, gpu string
		tp         int
		want       string
	}{
		{"Llama-3.1-70B", "H100", 4, "E2E of 9 runs"},
		{"Mixtral-8x7B-v0.1", "H100-SXM", 2, "E2E of 9 runs"},
		{"Llama-3.1-8B", "RTX4090", 1, "E2E of 1 runs"},
		{"Llama-3.1-8B", "RTX4090", 2, ""},
		{"Llama-3.1-70B", "H100", 8, "TPOT of 39 runs"},
		{"Mixtral-8x7B-v0.1", "H100", 8, ""}, // dense models alone
		{"Llama-3.1-70B", "B200", 2, "TPOT of 149 runs"},
		{"Llama-3.1-8B", "A100", 1, ""},
	} {
		d := deployment(t, c.model, c.gpu, c.tp)
		got := ""
		if s := RooflineRecord(d).Accuracy(d, typicalLimits, true, 0).Stated; s != nil {
			metric, _ := s.Ranked()
			got = fmt.Sprintf("%s of %d runs", metric, s.Runs)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", d, got, c.want)
		}
	}
}
