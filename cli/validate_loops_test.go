package cli

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"blis/report"
)

const loopBenchmarks = `model,gpu,precision,vllm_version,input_tokens,output_tokens,concurrency,tp,pp,mean_ttft_ms,mean_tpot_ms
meta-llama/Llama-3.1-8B,h100_sxm,,0.15.1,500,100,8,1,1,60,8
meta-llama/Llama-3.1-8B,h100_sxm,,0.15.1,500,100,32,1,1,100,10
meta-llama/Llama-3.1-70B,h100_sxm,fp8,,500,100,4,4,1,100,12
meta-llama/Llama-3.1-70B,h100_sxm,,,500,100,4,1,1,100,12
meta-llama/Llama-3.1-8B,h100_sxm,,0.15.1,500,100,2000,1,1,900,99
a/b,h100_sxm,,,500,100,4,1,1,100,12
meta-llama/Llama-3.1-8B,z9,,,500,100,4,1,1,100,12
a/b,h100_sxm,,,500,100,8,1,1,100,12
meta-llama/Llama-3.1-8B,h100_sxm,,,500,100,8,1,2,100,12
`

func TestValidateClosedLoops(t *testing.T) {
	args := []string{"validate", "--closed-loop", file(t, "loops.csv", loopBenchmarks), "--latency-model", "physics,roofline", "--coefficients", servedSet(t)}
	text := done(t, args...).out
	for _, line := range []string{
		"left out   1 of the closed loops (line 5): meta-llama/Llama-3.1-70B on H100 at TP 1 does not fit into memory\n",
		`left out   2 of the closed loops (line 7 and others): unknown model "a/b"`,
		`left out   1 of the closed loops (line 8): unknown GPU "z9"`,
		"left out   1 of the closed loops (line 10): 2 pipeline stages are not simulated\n",
		"TPOT OF CLOSED LOOPS, physics  n  median APE",
		"in 1 of them the KV cache may not hold the requests of all users",
		"TPOT OF CLOSED LOOPS, roofline  n  median APE",
		"meta-llama/Llama-3.1-70B on H100, fp8, TP 4  1 ",
		"meta-llama/Llama-3.1-8B on H100, bf16, TP 1  3 ",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	text = done(t, append(args, "--format", "json")...).out
	var j report.ValidationJSON
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&j); err != nil {
		t.Fatal(err)
	}
	nulls(t, text, "prefills", "cold_ttft_median_ape", "doubt")
	if len(j.Loops.Models) != 2 || len(j.Loops.LeftOut) != 4 || j.Loops.LeftOut[1].Points != 2 || j.Loops.LeftOut[1].Lines[1] != 9 {
		t.Fatalf("%+v", j.Loops)
	}
	for _, m := range j.Loops.Models {
		bias, worst := 0.0, 0.0
		for _, p := range m.Points {
			e := p.PredictedTPOT/p.TPOT - 1
			bias += e / 4
			if math.Abs(e) > math.Abs(worst) {
				worst = e
			}
			if p.PredictedTTFT <= 0 || p.Latency == "" {
				t.Errorf("%s: %+v", m.Name, p)
			}
		}
		if a := m.All; len(m.Points) != 4 || a.Points != 4 || len(m.Groups) != 2 || math.Abs(a.Bias-bias) > 1e-9 || math.Abs(a.Worst-worst) > 1e-9 || a.Median > a.P90 || a.P90 > math.Abs(a.Worst) {
			t.Errorf("%s: %+v, %+v; bias %v, worst %v", m.Name, a, m.Points, bias, worst)
		}
	}
}

func TestBlackboxOfClosedLoopsIsLeftOut(t *testing.T) {
	text := done(t, "validate", "--closed-loop", file(t, "loops.csv", loopBenchmarks), "--latency-model", "blackbox").out
	if !strings.Contains(text, "left out   1 of the closed loops (line 4): no published coefficients of meta-llama/Llama-3.1-70B on H100 at TP 4\n") {
		t.Error(text)
	}
}

func TestTrainOnClosedLoops(t *testing.T) {
	loops := file(t, "loops.csv", loopBenchmarks)
	text := done(t, "train", "--closed-loop", loops, "--name", "loops").out
	for _, line := range []string{
		"set        loops: meta-llama/Llama-3.1-8B, meta-llama/Llama-3.1-70B on H100 at TP 1 to 4, vLLM, vLLM 0.15.1\n",
		"fitted to  0 requests of 0 runs, 4 closed loops; ",
		`left out   2 of the closed loops (line 7 and others): unknown model "a/b"`,
		"TPOT OF CLOSED LOOPS, fitted to  n  median APE",
		"TPOT OF CLOSED LOOPS, group held out  n  median APE",
		"TPOT OF CLOSED LOOPS, model held out  n  median APE",
		"\n  samples: 4\n",
		"\n  async_scheduling: true\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	text = done(t, "train", servedRuns(t), "--only", "8B", "--closed-loop", loops, "--format", "json").out
	var j report.TrainingJSON
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&j); err != nil {
		t.Fatal(err)
	}
	nulls(t, text, "standard_error", "alpha_coeffs", "beta_coeffs")
	if len(j.InSample) == 0 || len(j.Loops.Models) != 3 || j.Loops.Models[0].All.Points != 3 || j.Training.Samples <= 3 {
		t.Errorf("%+v, %+v", j.Training, j.Loops)
	}
}
