package cli

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"blis/latency"
)

// servedPasses is a CSV file of forward passes of a server at some TP: prefills, decodes
// and both, with one pass that took ten times as long as it should.
func servedPasses(t *testing.T, tp int) string {
	t.Helper()
	model, err := latency.FindModel("Llama-3.1-8B")
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := latency.FindHardware("H100")
	if err != nil {
		t.Fatal(err)
	}
	f, err := latency.NewFeatures(&latency.Deployment{Model: &model, GPU: &gpu, TP: tp},
		latency.EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 20000, ChunkedPrefill: true})
	if err != nil {
		t.Fatal(err)
	}
	physics, err := latency.NewPhysics(f, latency.AlphaVector{}, latency.BetaVector{0: 1, 1: 2, 2: 1.2, 4: 1.1, 8: 0.8, 16: 3, 17: 0.5, 18: 30, 20: 0.8, 23: 2, 27: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, uint64(tp)))
	text := "prefill_tokens,prefill_requests,prefill_context_tokens,decode_requests,decode_context_tokens,latency_ms,tp\n"
	for i := range 300 {
		var b latency.Batch
		if i%3 != 0 {
			b.DecodeTokens = 1 + random.Int64N(32)
			b.DecodeContext = b.DecodeTokens * (100 + random.Int64N(3000))
		}
		if i%3 != 1 {
			b.PrefillTokens, b.PrefillRequests = 1<<(5+random.Int64N(8)), 1
			b.PrefillPairs = b.PrefillTokens * (b.PrefillTokens + 1) / 2
		}
		b.DecodeRequests = b.DecodeTokens
		b.SampledRows = b.DecodeRequests + b.PrefillRequests
		ms := physics.Step(&b) / 1e3
		if i == 150 {
			ms *= 10
		}
		text += fmt.Sprintf("%d,%d,0,%d,%d,%.4f,%d\n", b.PrefillTokens, b.PrefillRequests, b.DecodeRequests, b.DecodeContext-b.DecodeTokens, ms, tp)
	}
	return file(t, fmt.Sprintf("passes%d.csv", tp), text)
}

func TestTrainPasses(t *testing.T) {
	one, two := servedPasses(t, 1), servedPasses(t, 2)
	args := []string{"train", "--steps", one + "," + two, "--model", "Llama-3.1-8B", "--hardware", "H100", "--engine", "vLLM 0.20", "--note", "made up"}
	out := filepath.Join(t.TempDir(), "set.yaml")
	text := done(t, append(args, "--out", out)...).out
	for _, line := range []string{
		"set        trained: passes regression, λ 0.003\n",
		"fitted to  598 of 600 forward passes\n",
		"outlier    " + one + ", TP 1, line 152: ",
		"range      prefills alone of 32, 64, 128, 256, 512, 1024, 2048, 4096 tokens\n",
		"range      at most 32 decoding requests, 4096 prefill tokens beside them, ",
		"not fitted offload_read, expert_layers, ",
		"HELD OUT, BY A FIT TO THE OTHERS  passes  median APE",
		two + ", TP 2, mixed     100 ",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	set, err := latency.ParsePhysicsSet([]byte(read(t, out)), out)
	if err != nil {
		t.Fatal(err)
	}
	if x := &set.TrainedOn; x.Method != "passes regression" || x.Engine != "vLLM 0.20" || x.TPMax != 2 || x.SeatsMax != 33 || x.Samples != 598 || x.Lambda != 0.003 {
		t.Errorf("%+v", x)
	}
	if e := set.Errors[0]; len(set.Errors) != 1 || e.Metric != "step" || e.Runs != 598 || e.MedianAPEPercent > 3 {
		t.Errorf("%+v", set.Errors)
	}
	if got := set.Beta[0]; got < 0.95 || got > 1.05 {
		t.Errorf("linear compute is %v, planted 1", got)
	}
	const want = "error      not stated for requests; time of a step "
	if text := done(t, "run", "--model", "Llama-3.1-8B", "--hardware", "H100", "--coefficients", out, "--num-requests", "10").out; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	form := done(t, append(args, "--lambda", "0.01", "--format", "json")...).out
	nulls(t, form)
	j := resultOf(t, form)
	if fit := j["fit"].(map[string]any); j["schema"] != "blis.train-passes/v1" || fit["lambda"] != 0.01 || len(fit["held_out"].([]any)) != 6 || len(fit["outliers"].([]any)) != 2 {
		t.Errorf("%.300s", form)
	}
	nulls(t, done(t, "train", "--steps", one, "--model", "Llama-3.1-8B", "--hardware", "H100", "--format", "json").out) // nothing held out
}

func TestFlagsOfStepsSuitTheData(t *testing.T) {
	passes, steps := servedPasses(t, 1), servedSteps(t)
	for _, c := range []struct{ name, args, want string }{
		{"both", passes + "," + steps, "--steps: " + passes + ", TP 1 holds forward passes measured alone, " + steps + " periods of steps: want one of the two in a fit"},
		{"signed passes", passes + " --signed", "--signed: coefficients of forward passes are fitted within bounds: want it with periods of steps"},
		{"λ of periods", steps + " --lambda 0.1", "--lambda: for periods of steps cross-validation chooses it: want it with runs or forward passes"},
		{"λ 0 of passes", passes + " --lambda 0", "--lambda is 0: want above 0, at most 1000000: features that look alike need a ridge to be told apart"},
	} {
		s := blis(t, nil, strings.Fields("train --model Llama-3.1-8B --hardware H100 --steps "+c.args)...)
		if s.code != exitInput || s.err != "blis: "+c.want+"\n" {
			t.Errorf("%s: exit %d: %s\nwant %s", c.name, s.code, s.err, c.want)
		}
	}
}
