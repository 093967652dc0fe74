package report

import (
	"encoding/json"
	"strings"
	"testing"

	"blis/latency"
	"blis/report/plaintext"
)

// measuredAccuracy is the error of a set that is off by little in all but one run.
func measuredAccuracy() *latency.Accuracy {
	return &latency.Accuracy{
		Stated: &latency.Stated{
			HeldOut: latency.HeldOutModel, Runs: 9, Models: 4,
			E2E: &latency.Deviation{Expected: 7.23, Median: 5.1, Bias: -3.44, Worst: 231.4}, TPOT: &latency.Deviation{Expected: 4, Median: 3, Bias: 0, Worst: -18.6},
			TTFT: &latency.Deviation{Expected: 1246, Median: 13.5, Bias: 1219, Worst: 14785},
		},
		NotMeasured: []latency.Unmeasured{{Setting: "hardware", Text: "GPU A100-80"}, {Setting: "max-model-len", Text: "contexts above 1,059 tokens"}},
	}
}

// stepError is the error of a set that was fitted to forward passes.
func stepError() *latency.HeldOutError {
	return &latency.HeldOutError{
		HeldOut: latency.HeldOutConfiguration, Metric: "step", Statistic: "mean", Runs: 20768, Models: 1,
		MedianAPEPercent: 2.51, MeanAPEPercent: 4.19, ModelMeanAPEPercent: 4.19, BiasPercent: 0.08, WorstPercent: 49.33,
	}
}

// The lines about the error name size, sign and worst run of each metric, what they were
// found on, and what of the run they do not know. They fit the width.
func TestErrorLineOfARun(t *testing.T) {
	known := measuredAccuracy()
	here := measuredAccuracy()
	here.Stated.GPU, here.Stated.TP, here.NotMeasured = "H100", 2, nil
	old := measuredAccuracy()
	old.Stated.Models, old.NotMeasured = 0, nil
	unknown := measuredAccuracy()
	unknown.Stated = nil
	steps := measuredAccuracy()
	steps.Stated, steps.Step, steps.NotMeasured = nil, stepError(), nil
	periods := *steps
	periods.Step = &latency.HeldOutError{HeldOut: latency.HeldOutConfiguration, MedianAPEPercent: 5, Runs: 3}
	decodes := measuredAccuracy()
	decodes.Stated.E2E, decodes.Stated.TTFT, decodes.NotMeasured = nil, nil, nil
	groups := measuredAccuracy()
	groups.Stated.E2E, groups.Stated.TTFT, groups.NotMeasured = nil, nil, nil
	groups.Stated.TPOT.GroupP90 = 11.52
	for name, c := range map[string]struct {
		accuracy *latency.Accuracy
		want     string
	}{
		"groups":        {groups, "error expected TPOT 4.0 % (median 3.0, nine of ten groups within 11.5, bias 0.0, worst −19): mean over 4 models (9 runs, leave-one-model-out)"},
		"TPOT alone":    {decodes, "error expected TPOT 4.0 % (median 3.0, bias 0.0, worst −19): mean over 4 models (9 runs, leave-one-model-out)"},
		"passes alone":  {steps, "error not stated for requests; time of a step 4.2 % (median 2.5, bias +0.1, worst +49): mean over 1 model (20,768 steps, leave-one-configuration-out)"},
		"periods alone": {&periods, "error not stated for requests; time of a step 5.0 %: median of 3 runs, leave-one-configuration-out"},
		"nothing known": {nil, ""},
		"known": {known, "error expected E2E 7.2 % (median 5.1, bias −3.4, worst +231), TPOT 4.0 % (median 3.0, bias 0.0, worst −19), TTFT 1,246 % (median 13.5, bias +1,219, worst +14,785): mean over 4 models (9 runs, leave-one-model-out) " +
			"not measured: GPU A100-80, contexts above 1,059 tokens"},
		"at one TP":    {here, "error expected E2E 7.2 % (median 5.1, bias −3.4, worst +231), TPOT 4.0 % (median 3.0, bias 0.0, worst −19), TTFT 1,246 % (median 13.5, bias +1,219, worst +14,785): mean over 4 models (9 runs on H100 at TP 2, leave-one-model-out)"},
		"medians only": {old, "error expected E2E 7.2 %, TPOT 4.0 %, TTFT 1,246 %: median of 9 runs, leave-one-model-out; bias and worst run not known"},
		"not stated":   {unknown, "error not stated for this run not measured: GPU A100-80, contexts above 1,059 tokens"},
	} {
		var b strings.Builder
		w := plaintext.NewWriter(&b, plaintext.Style{Width: 80})
		writeAccuracy(&w, c.accuracy)
		if got := strings.Join(strings.Fields(b.String()), " "); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}

func TestErrorOfARunAsJSON(t *testing.T) {
	old := measuredAccuracy()
	old.Stated.Models, old.Stated.GPU, old.Stated.TP, old.NotMeasured = 0, "H100", 2, nil
	unknown := measuredAccuracy()
	unknown.Stated = nil
	groups := &latency.Accuracy{Stated: &latency.Stated{HeldOut: latency.HeldOutGroup, Runs: 9, Models: 1, TPOT: &latency.Deviation{Expected: 4, Median: 3, Worst: 20, GroupP90: 11.5}}}
	steps := &latency.Accuracy{Step: stepError()}
	for name, c := range map[string]struct {
		accuracy *latency.Accuracy
		want     string
	}{
		"nothing known": {nil, `null`},
		"groups":        {groups, `{"held_out":"leave-one-group-out","gpu":null,"tp":null,"runs":9,"models":1,"e2e":null,"tpot":{"expected_percent":4,"median_percent":3,"bias_percent":0,"worst_percent":20,"group_p90_percent":11.5},"ttft":null,"step":null,"not_measured":[]}`},
		"passes alone": {steps, `{"held_out":"leave-one-configuration-out","gpu":null,"tp":null,"runs":20768,"models":1,"e2e":null,"tpot":null,"ttft":null,` +
			`"step":{"expected_percent":4.19,"median_percent":2.51,"bias_percent":0.08,"worst_percent":49.33},"not_measured":[]}`},
		"known": {measuredAccuracy(), `{"held_out":"leave-one-model-out","gpu":null,"tp":null,"runs":9,"models":4,"e2e":{"expected_percent":7.23,"median_percent":5.1,"bias_percent":-3.44,"worst_percent":231.4},` +
			`"tpot":{"expected_percent":4,"median_percent":3,"bias_percent":0,"worst_percent":-18.6},"ttft":{"expected_percent":1246,"median_percent":13.5,"bias_percent":1219,"worst_percent":14785},"step":null,` +
			`"not_measured":[{"setting":"hardware","text":"GPU A100-80"},{"setting":"max-model-len","text":"contexts above 1,059 tokens"}]}`},
		"medians only": {old, `{"held_out":"leave-one-model-out","gpu":"H100","tp":2,"runs":9,"models":null,"e2e":{"expected_percent":7.23,"median_percent":5.1,"bias_percent":null,"worst_percent":null},` +
			`"tpot":{"expected_percent":4,"median_percent":3,"bias_percent":null,"worst_percent":null},"ttft":{"expected_percent":1246,"median_percent":13.5,"bias_percent":null,"worst_percent":null},"step":null,"not_measured":[]}`},
		"not stated": {unknown, `{"held_out":null,"gpu":null,"tp":null,"runs":null,"models":null,"e2e":null,"tpot":null,"ttft":null,"step":null,` +
			`"not_measured":[{"setting":"hardware","text":"GPU A100-80"},{"setting":"max-model-len","text":"contexts above 1,059 tokens"}]}`},
	} {
		if got, err := json.Marshal(newLatencyError(c.accuracy)); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, c.want)
		}
	}
}
