package cli

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"blis/latency"
	"blis/report"
)

// servedSet is the coefficient file of the servers behind servedRuns.
func servedSet(t *testing.T) string {
	set := latency.PhysicsSet{
		Name: "served", Alpha: served.Alpha, Beta: served.Beta,
		TrainedOn: latency.Training{
			Models: []string{"meta-llama/Llama-3.1-8B"}, Kinds: []string{"dense"}, GPUs: []string{"H100"}, TPMin: 1, TPMax: 4,
			Engine: "vLLM 0.15.1", AsyncScheduling: true, ChunkedPrefill: true, Data: "made up", Samples: 1, Gamma: 0.3, Method: "none",
		},
	}
	return file(t, "served.yaml", string(set.Format()))
}

func TestValidateText(t *testing.T) {
	golden(t, "validate.txt", done(t, "validate", servedRuns(t), "--client-timeout", "5s", "--latency-model", "physics,roofline,blackbox", "--coefficients", servedSet(t)).out)
}

func TestValidateJSON(t *testing.T) {
	text := done(t, "validate", servedRuns(t), "--client-timeout", "5s", "--latency-model", "physics,blackbox", "--coefficients", servedSet(t), "--format", "json").out
	var j report.ValidationJSON
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&j); err != nil {
		t.Fatal(err)
	}
	if j.Schema != "blis.validate/v1" || len(j.Models) != 2 || j.Prefills != nil || len(j.Skipped) != 1 {
		t.Fatalf("%+v", j)
	}
	nulls(t, text, "doubt", "prefills", "closed_loops", "missing", "latency", "all", "cold", "throughput")
	physics := &j.Models[0]
	if physics.Name != "physics" || len(physics.Runs) != 4 || len(physics.Summary) != 12 || physics.ColdTTFT == nil || len(physics.Rankings) != 3 {
		t.Errorf("%+v", physics)
	}
	for _, r := range physics.Runs {
		overloaded := r.Run == "flood"
		if r.Missing != nil || r.Latency == nil || r.Throughput == nil || r.Overloaded != overloaded || (r.All == nil) != overloaded || (r.Cold == nil) != overloaded {
			t.Errorf("%+v", r)
			continue
		}
		if e := r.Throughput.Error(); math.Abs(e) > 0.03 {
			t.Errorf("%s: throughput %+v", r.Run, r.Throughput)
		}
		if overloaded {
			continue
		}
		for _, s := range r.All.Scores { // times off by up to 2 %, and nothing else
			if math.Abs(s.Error()) > 0.02 || s.Statistic == "mean" && math.Abs(s.Error()) > 0.004 {
				t.Errorf("%s: %+v", r.Run, s)
			}
		}
		if len(r.StageErrors) != map[string]int{"chat": 3}[r.Run] {
			t.Errorf("%s: %d stages", r.Run, len(r.StageErrors))
		}
	}
	// Blackbox has no coefficients of the 70B at TP 4.
	for _, r := range j.Models[1].Runs {
		if (r.Missing != nil) != (r.Run == "large") || (r.Latency == nil) != (r.Run == "large") {
			t.Errorf("blackbox: %+v", r)
		}
	}
}

// otlpSpans is the trace of two requests that ran alone and one whose span is of
// somebody else.
const otlpSpans = `{"resourceSpans":[{"scopeSpans":[{"spans":[
{"name":"llm_request","traceId":"01","spanId":"01","startTimeUnixNano":"1000000000","endTimeUnixNano":"1900000000","attributes":[
 {"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"1000"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"20"}},{"key":"gen_ai.latency.time_in_model_prefill","value":{"doubleValue":0.03}}]},
{"name":"llm_request","traceId":"02","spanId":"02","startTimeUnixNano":"2000000000","endTimeUnixNano":"2900000000","attributes":[
 {"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"3000"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"20"}},{"key":"gen_ai.latency.time_in_model_prefill","value":{"doubleValue":0.09}}]},
{"name":"GET /health","traceId":"03","spanId":"03","startTimeUnixNano":"2000000000","endTimeUnixNano":"2900000000"}]}]}]}`

func TestValidatePrefills(t *testing.T) {
	trace := file(t, "trace.json", otlpSpans)
	args := []string{"validate", "--otlp", trace, "--model", "Llama-3.1-8B", "--hardware", "H100", "--coefficients", servedSet(t)}
	s := done(t, args...)
	if want := "blis: " + trace + ": 1 of 3 spans not used: named \"GET /health\"\n"; s.err != want {
		t.Errorf("notes %q, want %q", s.err, want)
	}
	if !strings.HasPrefix(s.out, "prefills of 2 requests that ran alone, by served: median of absolute errors ") {
		t.Errorf("%s", s.out)
	}
	var j report.ValidationJSON
	if err := json.Unmarshal([]byte(done(t, append(args, "--format", "json")...).out), &j); err != nil {
		t.Fatal(err)
	}
	p := j.Prefills
	if p == nil || p.Set != "served" || len(p.Rows) != 2 || p.Rows[0].Tokens != 1000 || p.Rows[1].Measured != 90 {
		t.Fatalf("%+v", p)
	}
	mean := (math.Abs(p.Rows[0].Predicted/30-1) + math.Abs(p.Rows[1].Predicted/90-1)) / 2
	if math.Abs(p.Median-mean) > 1e-12 || len(j.Models) != 3 || len(j.Models[0].Runs) != 0 {
		t.Errorf("%+v, want a median of %v", p, mean)
	}
	// Beside runs, and in training.
	both := done(t, "train", servedRuns(t), "--only", "3.1", "--otlp", trace, "--model", "Llama-3.1-8B", "--hardware", "H100", "--hold-out", "none")
	if !strings.Contains(both.out, "300 requests of 2 runs, 2 prefills of requests that ran alone;") {
		t.Errorf("%s", both.out)
	}
	// Without --coefficients they are those of the shipped set that covers it.
	shipped := done(t, "validate", "--otlp", trace, "--model", "Llama-2-7b-hf", "--hardware", "H100")
	if !strings.HasPrefix(shipped.out, "prefills of 2 requests that ran alone, by h100-llama-2-7b: ") {
		t.Errorf("%s", shipped.out)
	}
}

// A set can be a shipped one by its name.
func TestValidateTakesShippedSetsByName(t *testing.T) {
	dir := servedRuns(t)
	s := done(t, "validate", dir, "--latency-model", "physics", "--coefficients", "H100-CodeLlama-34b")
	if !strings.Contains(s.out, "\nby physics h100-codellama-34b (") {
		t.Errorf("%s", s.out)
	}
	for _, set := range latency.PhysicsSets() {
		if got, err := openSet(set.Name); err != nil || got != set {
			t.Errorf("%s: %v, %v", set.Name, got, err)
		}
	}
}
