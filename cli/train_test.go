package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/latency"
	"blis/report"
)

func TestTrainText(t *testing.T) {
	dir := servedRuns(t)
	text := done(t, "train", dir, "--hold-out", "workload,tail,model", "--name", "served").out
	// The coefficient file ends it, to the bit, which is not for people.
	report, set, found := strings.Cut(text, "\nschema: ")
	if !found {
		t.Fatalf("no coefficient file in\n%s", text)
	}
	golden(t, "train.txt", report)
	if s, err := latency.ParsePhysicsSet([]byte("schema: "+set), "set.yaml"); err != nil || s.Name != "served" || len(s.Errors) != 18 {
		t.Errorf("%v: %+v", err, s)
	}
}

// The same data give the same file, byte for byte, whatever the workers, and run
// takes it.
func TestTrainWritesTheSameFileAgain(t *testing.T) {
	dir := servedRuns(t)
	out := t.TempDir()
	var files []string
	for _, workers := range []string{"1", "3"} {
		path := filepath.Join(out, workers+".yaml")
		s := done(t, "train", dir, "--only", "llama-3.1", "--workers", workers, "--out", path, "--note", "one, two", "--note", "three", "--dates", "2026-01-31,2026-02-02", "--data", "here")
		if want := "\nwritten to " + path + "; use it with blis run --coefficients " + path + "\n"; !strings.HasSuffix(s.out, want) || strings.Contains(s.out, "schema:") || s.err != "" {
			t.Errorf("want %q at the end of\n%s%s", want, s.out, s.err)
		}
		files = append(files, read(t, path))
	}
	if files[0] != files[1] {
		t.Errorf("%s\ndiffers from\n%s", files[0], files[1])
	}
	set, err := latency.ParsePhysicsSet([]byte(files[0]), "set.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if x := &set.TrainedOn; set.Name != "trained" || len(set.Notes) != 2 || set.Notes[0] != "one, two" || len(x.Dates) != 2 || x.Data != "here" || x.Samples != 300 || len(x.Models) != 1 || x.TPMax != 1 {
		t.Errorf("%+v", set)
	}
	done(t, small("--model", "Llama-3.1-8B", "--latency-model", "physics", "--coefficients", filepath.Join(out, "1.yaml"))...)
}

func TestTrainJSON(t *testing.T) {
	text := done(t, "train", servedRuns(t), "--hold-out", "workload,model", "--format", "json").out
	var j report.TrainingJSON
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&j); err != nil {
		t.Fatal(err)
	}
	if j.Schema != "blis.train/v1" || j.LatencyModel != "physics" || j.Training.Samples != 400 || len(j.Training.Models) != 2 || j.Replays < 2 || !j.Converged || len(j.Coefficients) != len(latency.BetaNames)+len(latency.AlphaNames) {
		t.Errorf("%+v", j)
	}
	if len(j.Overloaded) != 1 || len(j.Skipped) != 1 || len(j.InSample) != 3 || len(j.HeldOut) != 2 || len(j.HeldOut[0].Runs) != 2 || len(j.HeldOut[0].Summary) != 12 || len(j.HeldOut[0].Skipped) != 1 {
		t.Errorf("%+v", j)
	}
	set, err := latency.ParsePhysicsSet([]byte(*j.Set), "set.yaml")
	if err != nil {
		t.Fatal(err)
	}
	values := append(append([]float64{}, set.Beta[:]...), set.Alpha[:]...)
	for i, c := range j.Coefficients {
		if c.Value != values[i] || c.StandardError != nil && !(*c.StandardError > 0) {
			t.Errorf("%+v, %v in the file", c, values[i])
		}
	}
	nulls(t, text, "standard_error", "alpha_coeffs", "beta_coeffs", "closed_loops")
}

// nulls wants no null in a JSON text but under these names.
func nulls(t *testing.T, text string, but ...string) {
	t.Helper()
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				if inner == nil && slices.Contains(but, name) {
					continue
				}
				walk(path+"."+name, inner)
			}
		case []any:
			for _, inner := range v {
				walk(path, inner)
			}
		case nil:
			t.Errorf("%s is null", path)
		}
	}
	walk("", resultOf(t, text))
}

// Runs that nothing can be said of are no hole in the JSON: nobody else has the
// model, or requests have one token.
func TestTrainJSONOfLittle(t *testing.T) {
	dir := servedRuns(t)
	text := done(t, "train", filepath.Join(dir, "requests", "large.csv"), "--hold-out", "workload,model,tail", "--format", "json").out
	nulls(t, text, "doubt", "standard_error", "alpha_coeffs", "beta_coeffs", "closed_loops")
	if !strings.Contains(text, `"summary": []`) {
		t.Errorf("no empty summary in\n%s", text)
	}
	single := folder(t, map[string]string{
		"runs.csv": servedColumns + "\none,Llama-3.1-8B,H100,1,vLLM 0.15.1,64,2048,4096,16,9000,1,1,1,1,0,2x1;2x1\n" +
			"long,Llama-3.1-8B,H100,1,vLLM 0.15.1,64,2048,50,16,9000,1,1,1,1,0,\n", // no prompt of which is accepted
		"requests/one.csv":  "arrival_us,input_tokens,output_tokens,ttft_us,e2e_us\n0,100,1,20000,20000\n900000,100,5,20000,20000\n",
		"requests/long.csv": "arrival_us,input_tokens,output_tokens,ttft_us,e2e_us\n0,100,5,20000,40000\n",
	})
	nulls(t, done(t, "train", single, "--hold-out", "none", "--format", "json").out, "standard_error", "alpha_coeffs", "beta_coeffs", "closed_loops")
	nulls(t, done(t, "validate", single, "--format", "json").out, "doubt", "missing", "prefills", "closed_loops")
	for _, args := range [][]string{{"train", single, "--hold-out", "none"}, {"validate", single}} {
		for line := range strings.Lines(done(t, args...).out) {
			if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
				t.Errorf("%v: %s", args, line)
			}
		}
	}
	s := blis(t, nil, "train", single)
	if want := "blis: fit without one, which judges it: nothing to fit: want requests that completed, measured and in the replay\n"; s.code != exitInput || s.err != want {
		t.Errorf("exit %d: %q, want %q", s.code, s.err, want)
	}
}

func TestTrainBlackbox(t *testing.T) {
	dir := servedRuns(t)
	s := done(t, "train", dir, "--only", "8b", "--latency-model", "blackbox", "--hold-out", "none")
	_, flags, found := strings.Cut(s.out, "\nuse it with blis run --alpha-coeffs ")
	if !found || !strings.HasPrefix(s.out, "model      blackbox\n") {
		t.Fatalf("%s", s.out)
	}
	fields := strings.Fields(flags)
	done(t, small("--alpha-coeffs", fields[0], "--beta-coeffs", fields[2])...)
	text := done(t, "train", dir, "--only", "8b", "--latency-model", "blackbox", "--hold-out", "none", "--format", "json").out
	nulls(t, text, "name", "trained_on", "coefficient_file", "closed_loops")
	if j := resultOf(t, text); len(j["alpha_coeffs"].([]any)) != 3 || len(j["beta_coeffs"].([]any)) != 3 {
		t.Errorf("%.300s", text)
	}
}

func TestTrainIsInterrupted(t *testing.T) {
	dir := servedRuns(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "set.yaml")
	for _, args := range [][]string{{"train", dir, "--out", out}, {"validate", dir}} {
		s := blisUntil(t, ctx, nil, args...)
		if s.code != exitInterrupted || s.err != "blis: interrupted\n" || s.out != "" {
			t.Errorf("%v: exit %d: %q, %q", args, s.code, s.err, s.out)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a coefficient file of nothing is left")
	}
}

func TestTrainHelp(t *testing.T) {
	for _, command := range []string{"train", "validate"} {
		s := done(t, command, "--help")
		for _, want := range []string{"Usage: blis " + command, "Examples:", "  blis " + command + " measurements/", "--hardware NAME", "--otlp ", "docs/latency.md"} {
			if !strings.Contains(s.out, want) {
				t.Errorf("%s --help: no %q in\n%s", command, want, s.out)
			}
		}
		if s.err != "" {
			t.Errorf("%s --help: %q", command, s.err)
		}
	}
}
