package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/actors"
	"blis/report"
	"blis/report/plaintext"
)

// kinds are runs of every kind that the result has a form for.
var kinds = map[string][]string{
	"plain":            small(),
	"one request":      {"run", "--num-requests", "1"},
	"nothing fits":     small("--max-model-len", "2"),
	"all rejected":     small("--admission-policy", "reject-all"),
	"token bucket":     small("--admission-policy", "token-bucket", "--token-bucket-refill-rate", "100"),
	"timed out":        small("--timeout", "1s", "--rate", "500"),
	"targets":          small("--slo-targets", "standard:ttft=20ms,tpot=14ms;batch:e2e=1s"),
	"horizon":          small("--horizon", "300ms"),
	"before it begins": small("--horizon", "1us"),
	"measured":         small("--measure-from", "100ms", "--measure-to", "400ms"),
	"measured nothing": small("--measure-from", "1h"),
	"preempted":        small("--total-kv-blocks", "120", "--rate", "100", "--prompt-tokens-max", "700", "--output-tokens-max", "700"),
	"prefix":           small("--prefix-tokens", "512", "--routing-policy", "weighted"),
	"no output":        small("--output-tokens", "0", "--output-tokens-stdev", "0", "--output-tokens-min", "0"),
	"trace":            {"run", "--trace", "../testdata/traces/blis.csv"},
	"blackbox":         small("--latency-model", "blackbox"),
	"fitness":          small("--fitness-weights", weights),
	"CPU tier":         tiered(),
	"storage tiers":    tiered("--kv-cpu-blocks", "300", "--kv-storage", "disk,1GiB,3GB/s,1GB/s,1ms,local", "--kv-storage", "remote"),
	"prefill, decode":  {"run", "--num-requests", "60", "--architecture", "pd", "--kv-cpu-blocks", "300", "--rate", "100", "--prefix-tokens", "64"},
	"failures":         small("--mtbf", "100ms", "--mttr", "20ms", "--health-check", "10ms,2,1", "--retries", "1", "--retry-backoff", "1ms"),
}

// kindRows are the columns of the kinds that have more than others.
var kindRows = map[string]report.Rows{"CPU tier": {Tiers: 1}, "storage tiers": {Tiers: 2}, "prefill, decode": {Tiers: 1, Pools: true, Disaggregates: true}, "failures": {Fails: true}}

func TestResultsFitTheSchema(t *testing.T) {
	s := loadSchema(t)
	for name, args := range kinds {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "result.json")
			printed := done(t, append(args, "--format", "json", "--results-path", path)...).out
			written := read(t, path)
			for _, text := range []string{printed, written} {
				for _, bad := range s.check(text) {
					t.Error(bad)
				}
			}
			whole := resultOf(t, written)
			if n := len(whole["requests"].([]any)); float64(n) != whole["injected_requests"] {
				t.Errorf("%d requests of %v", n, whole["injected_requests"])
			}
			delete(whole, "requests")
			if d := cmp.Diff(resultOf(t, printed), whole); d != "" {
				t.Errorf("printed and written: %s", d)
			}
		})
	}
}

func TestEverythingDroppedIsAResult(t *testing.T) {
	s := done(t, append(kinds["nothing fits"], "--format", "json")...)
	r := resultOf(t, s.out)
	if r["dropped_unservable"] != 60.0 || r["ttft_mean_ms"] != nil || r["responses_per_sec"] != nil {
		t.Errorf("dropped %v, TTFT %v, rate %v", r["dropped_unservable"], r["ttft_mean_ms"], r["responses_per_sec"])
	}
	if !strings.Contains(s.err, "warning: no request completed: 60 dropped (60 prompt too long)") {
		t.Errorf("no warning in %q", s.err)
	}
}

// A result is a function of the configuration: equal to the byte, whatever
// carried it out.
func TestResultIsEqualToTheByte(t *testing.T) {
	for name, args := range kinds {
		first := done(t, append(args, "--format", "json", "--workers", "1")...).out
		for _, workers := range []string{"1", "2"} {
			if again := done(t, append(args, "--format", "json", "--workers", workers)...).out; again != first {
				t.Errorf("%s: %s workers: %s", name, workers, cmp.Diff(first, again))
			}
		}
	}
}

// A program that calls actors.Run gets what the command prints.
func TestReportsOfALibraryCallAreThoseOfTheCommand(t *testing.T) {
	cfg := actors.DefaultConfig()
	cfg.NumRequests, cfg.NumInstances, cfg.RoutingPolicy, cfg.SLOTargets = 60, 2, "least-loaded", "standard:ttft=20ms"
	result, err := actors.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	args := small("--routing-policy", "least-loaded", "--slo-targets", "standard:ttft=20ms")
	var object, text strings.Builder
	if err := errors.Join(report.JSON(&object, result), report.Text(&text, result, plaintext.Style{})); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(done(t, append(args, "--format", "json")...).out, object.String()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(done(t, args...).out, text.String()); d != "" {
		t.Error(d)
	}
}

// The keys that scripts read today come first, in ms and s.
func TestKeysOfOldKeepNamesAndUnits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result.json")
	done(t, small("--results-path", path, "--alpha-coeffs", "1000,0,0", "--beta-coeffs", "10000,0,0",
		"--arrival", "constant", "--rate", "1", "--output-tokens", "3", "--output-tokens-stdev", "0")...)
	r := resultOf(t, read(t, path))
	for key, want := range map[string]any{
		"completed_requests": 60.0, "still_queued": 0.0, "still_running": 0.0, "injected_requests": 60.0, "total_output_tokens": 180.0,
		"e2e_mean_ms": 31.0, "e2e_p99_ms": 31.0, "ttft_p50_ms": 11.0, "itl_mean_ms": 10.0, "itl_p99_ms": 10.0, "scheduling_delay_p99_ms": 1.0,
		"preemption_count": 0.0, "kv_allocation_failures": 0.0, "dropped_unservable": 0.0, "length_capped_requests": 0.0, "timed_out_requests": 0.0,
	} {
		if r[key] != want {
			t.Errorf("%s is %v, want %v", key, r[key], want)
		}
	}
	last := r["requests"].([]any)[59].(map[string]any)
	want := map[string]any{"requestID": "request_59", "arrived_at": 60.0, "num_prefill_tokens": last["num_prefill_tokens"], "num_decode_tokens": 3.0,
		"ttft_ms": 11.0, "itl_ms": 10.0, "e2e_ms": 31.0, "scheduling_delay_ms": 1.0, "handled_by": "instance-1", "slo_class": "standard", "tenant_id": "", "state": "completed"}
	if d := cmp.Diff(want, last); d != "" {
		t.Error(d)
	}
}

func TestInterruptedRunIsPartial(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	rows, results := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "result.json")
	s := blisUntil(t, ctx, nil, small("--format", "json", "--requests-out", rows, "--results-path", results)...)
	results, rows = results+".partial", rows+".partial"
	if want := "blis: not whole, so under a name of its own: " + rows + ", " + results + "\nblis: interrupted\n"; s.code != exitInterrupted || !strings.HasSuffix(s.err, want) {
		t.Errorf("exit %d: %q, want %q", s.code, s.err, want)
	}
	r := resultOf(t, s.out)
	if r["partial"] != true || r["digest"] != nil || r["completed_requests"] != 0.0 {
		t.Errorf("partial %v, digest %v, %v completed", r["partial"], r["digest"], r["completed_requests"])
	}
	for _, bad := range loadSchema(t).check(read(t, results)) {
		t.Error(bad)
	}
	if !strings.HasPrefix(read(t, rows), "request,arrival_us,") {
		t.Error("no rows")
	}
}

// Rows as CSV and as JSONL say the same, agree with the summary, and stand in
// order of arrival.
func TestRows(t *testing.T) {
	for name, args := range kinds {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			table, lines := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "rows.jsonl")
			r := resultOf(t, done(t, append(args, "--format", "json", "--requests-out", table)...).out)
			done(t, append(args, "--requests-out", lines)...)
			f, err := os.Open(table)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			rows, err := csv.NewReader(f).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(rows[0], ","); got != strings.Join(kindRows[name].Columns(), ",") {
				t.Errorf("header %s", got)
			}
			objects := strings.Split(strings.TrimSuffix(read(t, lines), "\n"), "\n")
			if objects[0] == "" {
				objects = nil
			}
			if len(objects) != len(rows)-1 || float64(len(objects)) != r["injected_requests"] {
				t.Fatalf("%d rows, %d objects, %v injected", len(rows)-1, len(objects), r["injected_requests"])
			}
			for i, text := range objects {
				compareRow(t, i, kindRows[name].Columns(), rows[i+1], text)
			}
		})
	}
}

func compareRow(t *testing.T, i int, columns, row []string, text string) {
	t.Helper()
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		t.Fatal(err)
	}
	if len(object) != len(columns) {
		t.Errorf("row %d: %d keys", i, len(object))
	}
	for c, name := range columns {
		value := ""
		switch v := object[name].(type) {
		case string:
			value = v
		case json.Number:
			value = v.String()
		}
		if row[c] != value {
			t.Errorf("row %d: %s is %q and %v", i, name, row[c], object[name])
		}
	}
	if object["request"].(json.Number).String() != json.Number(itoa(i)).String() {
		t.Errorf("row %d is request %v", i, object["request"])
	}
	if completed := object["state"] == "completed"; completed != (object["completed_us"] != nil) || completed != (object["e2e_us"] != nil) {
		t.Errorf("row %d: state %v, completed at %v, E2E %v", i, object["state"], object["completed_us"], object["e2e_us"])
	}
}

func itoa(i int) string {
	text, _ := json.Marshal(i)
	return string(text)
}

func TestRowsOfATrace(t *testing.T) {
	trace := "arrival_us,input_tokens,output_tokens,tenant,slo_class,session,round\n0,20,2,\"a, \"\"b\"\"\",batch,7,3\n5,90000,2,,,,\n"
	path := filepath.Join(t.TempDir(), "rows.csv")
	done(t, "run", "--trace", file(t, "trace.csv", trace), "--num-instances", "1", "--alpha-coeffs", "1000,0,0", "--beta-coeffs", "10000,0,0",
		"--max-model-len", "1000", "--requests-out", path)
	want := strings.Join(report.Rows{}.Columns(), ",") + `
0,0,completed,instance-0,"a, ""b""",batch,,7,3,20,0,2,1000,1000,11000,21000,11000,10000,21000,1000,0
1,5,dropped,instance-0,,standard,,,,90000,,0,,,,,,,,,0
`
	if got := read(t, path); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The flat keys say what the nested ones do.
func TestFlatKeysAgreeWithOverall(t *testing.T) {
	for name, args := range kinds {
		r := resultOf(t, done(t, append(args, "--format", "json")...).out)
		all := r["overall"].(map[string]any)
		states := all["states"].(map[string]any)
		for flat, nested := range map[string]any{
			"completed_requests": states["completed"], "still_queued": states["queued"], "still_running": states["running"], "still_pending": states["pending"],
			"dropped_unservable": states["dropped"], "timed_out_requests": states["timed_out"], "rejected_requests": states["rejected"],
			"total_input_tokens": all["input_tokens"], "total_output_tokens": all["output_tokens"], "responses_per_sec": all["requests_per_second"],
			"tokens_per_sec": all["tokens_per_second"], "goodput": all["goodput_per_second"], "slo_attainment": all["slo_attainment"], "preemption_count": all["preemptions"],
		} {
			if r[flat] != nested {
				t.Errorf("%s: %s is %v, overall says %v", name, flat, r[flat], nested)
			}
		}
		for _, latency := range []string{"e2e", "ttft", "itl", "tpot", "scheduling_delay"} {
			summary, _ := all[latency+"_us"].(map[string]any)
			for _, q := range []string{"mean", "p50", "p90", "p95", "p99"} {
				var want any
				if summary != nil {
					want = summary[q].(float64) / 1e3
				}
				if got := r[latency+"_"+q+"_ms"]; got != want {
					t.Errorf("%s: %s_%s_ms is %v, overall says %v", name, latency, q, got, want)
				}
			}
		}
	}
}
