package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// Requests that ran alone are predicted by the latency model that simulated them, with no error but the rounding of
// times to whole µs; and the spans are a workload again.
func TestSpansAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.json")
	run := []string{"run", "--num-requests", "40", "--rate", "0.05", "--format", "json"}
	first := resultOf(t, done(t, append(run, "--otlp", path)...).out)
	var validated struct {
		Prefills struct {
			Requests []struct {
				Measured  float64 `json:"measured_ms"`
				Predicted float64 `json:"predicted_ms"`
			}
		}
	}
	if err := json.Unmarshal([]byte(done(t, "validate", "--otlp", path, "--model", "Llama-3.1-8B-Instruct", "--hardware", "H100", "--format", "json").out), &validated); err != nil {
		t.Fatal(err)
	}
	if n := len(validated.Prefills.Requests); n < 30 {
		t.Errorf("%d requests ran alone", n)
	}
	for _, r := range validated.Prefills.Requests {
		if math.Abs(r.Measured-r.Predicted) > 0.001 {
			t.Errorf("a prefill took %g ms, predicted are %g", r.Measured, r.Predicted)
		}
	}
	again := resultOf(t, done(t, "run", "--trace", path, "--format", "json").out)
	for _, key := range []string{"injected_requests", "total_input_tokens", "total_output_tokens", "ttft_p99_ms", "e2e_p99_ms"} {
		if again[key] != first[key] {
			t.Errorf("%s is %v when the spans are the workload, was %v", key, again[key], first[key])
		}
	}
}

// There is a span for each request that ended on an instance: an error where it did not complete; names are text.
func TestSpansOfAllRequests(t *testing.T) {
	dir := t.TempDir()
	for i, args := range [][]string{kinds["timed out"], kinds["nothing fits"], kinds["all rejected"], kinds["prefill, decode"], kinds["horizon"]} {
		path := filepath.Join(dir, fmt.Sprint(i))
		r := resultOf(t, done(t, append(args[:len(args):len(args)], "--otlp", path, "--format", "json")...).out)
		good, bad, ids := 0.0, 0.0, map[string]bool{}
		for line := range strings.Lines(read(t, path)) {
			var x struct {
				ResourceSpans []struct {
					ScopeSpans []struct {
						Spans []struct {
							TraceID, SpanID, Name      string
							StartTimeUnixNano, EndTime string
							Status                     struct{ Code int }
						}
					}
				}
			}
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err)
			}
			s := x.ResourceSpans[0].ScopeSpans[0].Spans[0]
			if s.Name != "llm_request" || len(s.TraceID) != 32 || len(s.SpanID) != 16 || ids[s.TraceID] || ids[s.SpanID] {
				t.Errorf("%+v", s)
			}
			ids[s.TraceID], ids[s.SpanID] = true, true
			if s.Status.Code == 0 {
				good++
			} else {
				bad++
			}
		}
		if good != r["completed_requests"] || bad != r["timed_out_requests"].(float64)+r["aborted_requests"].(float64) {
			t.Errorf("%v: %g completed, %g with errors", args, good, bad)
		}
	}
}
