package cli

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"blis/latency"
)

// servedSteps is a CSV file of steps of a server with the coefficients of served:
// prefills of all lengths beside decodes, one after the other.
func servedSteps(t *testing.T) string {
	t.Helper()
	model, err := latency.FindModel("Llama-3.1-8B")
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := latency.FindHardware("H100")
	if err != nil {
		t.Fatal(err)
	}
	f, err := latency.NewFeatures(&latency.Deployment{Model: &model, GPU: &gpu, TP: 1},
		latency.EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 20000, ChunkedPrefill: true})
	if err != nil {
		t.Fatal(err)
	}
	physics, err := latency.NewPhysics(f, served.Alpha, served.Beta)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	text := "step.id,batch.num_prefill_reqs,batch.num_decode_reqs,batch.prefill_tokens,batch.decode_tokens,prefill_pairs,prefill_context,decode_context,sampled_rows,queue.running_depth,period_us\n"
	for id := range 500 {
		b := latency.Batch{DecodeTokens: random.Int64N(60)}
		b.DecodeContext = b.DecodeTokens * (1 + random.Int64N(3000))
		if random.IntN(3) == 0 || b.DecodeTokens == 0 {
			b.PrefillTokens, b.PrefillRequests = 1+random.Int64N(4000), 1
			if random.IntN(2) == 0 {
				b.PrefillContext = random.Int64N(4000)
			}
			b.PrefillPairs = b.PrefillTokens*b.PrefillContext + b.PrefillTokens*(b.PrefillTokens+1)/2
		}
		b.DecodeRequests = b.DecodeTokens
		b.SampledRows = b.DecodeRequests + b.PrefillRequests
		text += fmt.Sprintf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.0f\n", id, b.PrefillRequests, b.DecodeRequests, b.PrefillTokens, b.DecodeTokens,
			b.PrefillPairs, b.PrefillContext, b.DecodeContext, b.SampledRows, b.SampledRows, physics.Step(&b))
	}
	return file(t, "steps.csv", text)
}

func TestTrainSteps(t *testing.T) {
	args := []string{"train", "--steps", servedSteps(t), "--model", "Llama-3.1-8B", "--hardware", "H100", "--no-async-scheduling", "--engine", "vLLM 0.11"}
	out := filepath.Join(t.TempDir(), "set.yaml")
	text := done(t, append(args, "--out", out)...).out
	if !strings.HasPrefix(text, "set        trained: ridge, λ ") || !strings.HasSuffix(text, "\nwritten to "+out+"; use it with blis run --coefficients "+out+"\n") {
		t.Errorf("%s", text)
	}
	for _, word := range []string{"NaN", "Inf"} {
		if strings.Contains(text, word) {
			t.Errorf("%s in\n%s", word, text)
		}
	}
	set, err := latency.ParsePhysicsSet([]byte(read(t, out)), out)
	if err != nil {
		t.Fatal(err)
	}
	if x := &set.TrainedOn; x.Method != "ridge" || x.Engine != "vLLM 0.11" || x.AsyncScheduling || !x.ChunkedPrefill || x.Samples < 300 {
		t.Errorf("%+v", x)
	}
	for _, i := range []int{0, 4} { // of one model, weights are as constant as the constant
		if got, want := set.Beta[i], served.Beta[i]; got < 0.9*want || got > 1.1*want {
			t.Errorf("%s is %v, planted %v", latency.BetaNames[i], got, want)
		}
	}
	again := done(t, args...).out
	if head, tail, found := strings.Cut(again, "\nschema: "); !found || "schema: "+tail != read(t, out) || !strings.HasPrefix(text, head[:len(head)-1]) {
		t.Errorf("without --out\n%s", again)
	}
	j := resultOf(t, done(t, append(args, "--format", "json")...).out)
	if j["schema"] != "blis.train-steps/v1" || j["coefficient_file"] != read(t, out) || j["fit"] == nil {
		t.Errorf("%.300v", j)
	}
	nulls(t, done(t, append(args, "--format", "json")...).out)
}
