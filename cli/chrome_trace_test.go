package cli

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/internal/chromecheck"
	"blis/internal/testsize"
)

// chrome runs a command with a Chrome trace and checks that.
func chrome(t *testing.T, args ...string) (*chromecheck.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.json")
	done(t, append(args, "--chrome-trace", path)...)
	text := read(t, path)
	f, err := chromecheck.Read([]byte(text))
	if err != nil {
		t.Fatalf("blis %q: %v", args, err)
	}
	return f, text
}

// has counts events of a phase and a name; "": any.
func events(f *chromecheck.File, ph, name string) (n int) {
	for i := range f.Events {
		if e := &f.Events[i]; e.Ph == ph && (name == "" || e.Name == name) {
			n++
		}
	}
	return n
}

// chromeRuns are runs of all kinds, with events that their traces have.
func chromeRuns(t *testing.T) map[string]struct {
	args []string
	want string
} {
	failures := file(t, "failures.yaml", "failures:\n  - {crash: instance-0, at: 700ms, for: 500ms}\n  - {slow: instance-1, at: 500ms, for: 1s, factor: 3}\n")
	scale := file(t, "scale.yaml", "autoscale:\n  type: target-utilization\n  min: 2\n  max: 5\n  actuation:\n    model_load: 100ms\n")
	return map[string]struct {
		args []string
		want string
	}{
		"plain":   {small("--rate", "100"), "X prefill+decode; X decode; b request; b front_end; b queue; b prefill; b decode; C requests; C KV blocks"},
		"gateway": {small("--rate", "100", "--routing-latency", "2ms"), "b gateway"},
		"pd": {[]string{"run", "--architecture", "pd", "--num-requests", "60", "--rate", "30"},
			"b remote_prefill; b hand_over; b transfer; b prefill_elsewhere; X pd; s hand_over; s kv_transfer"},
		"pd early": {[]string{"run", "--architecture", "pd", "--num-requests", "60", "--rate", "30", "--pd-decode-choice", "arrival", "--pd-hold-timeout", "1ms"}, "b remote_prefill; i kv_expired"},
		"tiers":    {small("--rate", "60", "--kv-cpu-blocks", "300", "--total-kv-blocks", "400", "--kv-storage", "remote"), "X offload; X reload; i preemption; i blocked_head; s kv_transfer"},
		"ranks":    {small("--rate", "60", "--data-parallel-size", "2"), "X decode"},
		"failures": {small("--rate", "20", "--failures", failures, "--retries", "2", "--health-check", "100ms,1,1"), "i crash; i repair; i slow; i cut_off"},
		"scaling":  {small("--rate", "200", "--num-requests", "800", "--policy-config", scale, "--autoscale-interval", "500ms", "--num-instances", "2"), "i scale_up; C instances"},
		"rejects":  {small("--admission-policy", "reject-all"), "b request"},
		"cut":      {small("--rate", "100", "--horizon", "300ms"), "b decode"},
		"targets":  {small("--slo-targets", "ttft=1ms"), "i slo_violation"},
	}
}

func TestChromeTraceOfRuns(t *testing.T) {
	for name, c := range chromeRuns(t) {
		t.Run(name, func(t *testing.T) {
			f, _ := chrome(t, c.args...)
			for _, what := range strings.Split(c.want, "; ") {
				ph, of, _ := strings.Cut(what, " ")
				if events(f, ph, of) == 0 {
					t.Errorf("no %s", what)
				}
			}
			for what, k := range f.OtherData.Kept {
				if k.Kept != k.Of {
					t.Errorf("%d of %d %s", k.Kept, k.Of, what)
				}
			}
			if f.Unbound > 0 || f.OtherData.Partial {
				t.Errorf("%d ends of flows are in no slice, partial %v", f.Unbound, f.OtherData.Partial)
			}
		})
	}
}

// The numbers of a trace are those of the result.
func TestChromeTraceAgreesWithTheResult(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	r := resultOf(t, done(t, small("--rate", "100", "--total-kv-blocks", "200", "--format", "json", "--chrome-trace", path)...).out)
	f, err := chromecheck.Read([]byte(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	generated, preempted := 0.0, 0.0
	for i := range f.Events {
		if e := &f.Events[i]; e.Ph == "b" && e.Name == "request" {
			generated += e.Args["output_tokens"].(float64)
			n, _ := e.Args["preemptions"].(float64)
			preempted += n
		}
	}
	if n := events(f, "b", "request"); float64(n) != r["completed_requests"] || generated != r["total_output_tokens"] || preempted != float64(events(f, "i", "preemption")) || preempted == 0 {
		t.Errorf("%d requests, %v tokens, %v preemptions, %d marks of them; the result has %v and %v", n, generated, preempted, events(f, "i", "preemption"), r["completed_requests"], r["total_output_tokens"])
	}
}

// Equal runs have equal traces, on any number of workers, packed or not, and nothing else changes.
func TestChromeTraceIsTheSame(t *testing.T) {
	for name, c := range chromeRuns(t) {
		plain := done(t, append(c.args, "--format", "json")...).out
		var first string
		for _, workers := range []string{"1", "2", "3", "8"} {
			_, text := chrome(t, append(c.args, "--workers", workers, "--trace-events", "1000")...)
			if first == "" {
				first = text
			}
			if text != first {
				t.Errorf("%s: %s workers have another trace", name, workers)
			}
		}
		path := filepath.Join(t.TempDir(), "c.json.gz")
		if got := done(t, append(c.args, "--format", "json", "--chrome-trace", path, "--trace-events", "1000")...).out; got != plain {
			t.Errorf("%s: another result", name)
		}
		packed, err := gzip.NewReader(strings.NewReader(read(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(packed); err != nil || string(text) != first {
			t.Errorf("%s: packed it is another trace, %v", name, err)
		}
	}
}

// What else traces a run gets what it gets alone.
func TestChromeTraceBesideOthers(t *testing.T) {
	for name, c := range chromeRuns(t) {
		for _, level := range []string{"decisions", "detailed"} {
			var texts [2]string
			for i := range texts {
				dir := t.TempDir()
				args := append(c.args, "--trace-level", level, "--trace-out", filepath.Join(dir, "t.jsonl"), "--summarize-trace", "pattern",
					"--requests-out", filepath.Join(dir, "r.csv"), "--metrics-out", filepath.Join(dir, "m.txt"), "--timeseries", filepath.Join(dir, "s.csv"))
				if i == 1 {
					args = append(args, "--chrome-trace", filepath.Join(dir, "c.json"))
				}
				texts[i] = done(t, args...).out + read(t, filepath.Join(dir, "t.jsonl")) + read(t, filepath.Join(dir, "r.csv")) + read(t, filepath.Join(dir, "m.txt")) + read(t, filepath.Join(dir, "s.csv"))
				if i == 1 {
					if alone, both := second(chrome(t, c.args...)), read(t, filepath.Join(dir, "c.json")); alone != both {
						t.Errorf("%s, %s: another Chrome trace beside others", name, level)
					}
				}
			}
			if texts[0] != texts[1] {
				t.Errorf("%s, %s: other outputs with a Chrome trace", name, level)
			}
		}
	}
}

func second(_ *chromecheck.File, text string) string { return text }

// A trace has at most as many events as asked for, and says what it left out.
func TestChromeTraceIsCapped(t *testing.T) {
	args := []string{"run", "--num-requests", "1500", "--rate", "150", "--num-instances", "4"}
	whole, _ := chrome(t, args...)
	merged, _ := chrome(t, append(args, "--trace-events", fmt.Sprint(len(whole.Events)-100))...)
	if o := &merged.OtherData; !o.Thinned.Merged || o.Thinned.Hash || o.Kept["requests"].Kept != 1500 || o.Kept["steps"].Kept >= whole.OtherData.Kept["steps"].Kept {
		t.Errorf("a little less: %+v", o)
	}
	last := whole
	for _, most := range []int{12_000, 4_000, 1_000} {
		f, _ := chrome(t, append(args, "--trace-events", fmt.Sprint(most))...)
		o := &f.OtherData
		if len(f.Events) < most/2 || len(f.Events) > most || !o.Thinned.Merged || !o.Thinned.Hash {
			t.Errorf("%d of %d events: %+v", len(f.Events), most, o)
		}
		if o.Kept["requests"].Of != 1500 || o.Kept["steps"].Of != whole.OtherData.Kept["steps"].Of {
			t.Errorf("of %+v", o.Kept)
		}
		ids := map[any]bool{}
		for _, e := range last.Events {
			ids[e.ID] = true
		}
		for _, e := range f.Events {
			if e.Ph == "b" && !ids[e.ID] {
				t.Errorf("request %v is not in the larger trace", e.ID)
			}
		}
		tokens := 0.0
		for _, e := range f.Events {
			if e.Ph == "X" {
				tokens += e.Args["decode_tokens"].(float64) + e.Args["prefill_tokens"].(float64)
			}
		}
		if want := stepTokens(whole); tokens != want {
			t.Errorf("steps of %v tokens, want %v", tokens, want)
		}
		last = f
	}
}

func stepTokens(f *chromecheck.File) (n float64) {
	for _, e := range f.Events {
		if e.Ph == "X" {
			n += e.Args["decode_tokens"].(float64) + e.Args["prefill_tokens"].(float64)
		}
	}
	return n
}

// Any window, instances and cap: what there is balances.
func TestChromeTraceOfParts(t *testing.T) {
	seed := rand.Uint64()
	draw := rand.New(rand.NewPCG(seed, 0))
	runs := chromeRuns(t)
	names := []string{"plain", "pd", "pd early", "tiers", "failures", "scaling", "cut", "ranks"}
	for range testsize.Of(6, 25, 100) {
		name := names[draw.IntN(len(names))]
		args := append([]string{}, runs[name].args...)
		from, length := draw.IntN(4000), 1+draw.IntN(3000)
		if draw.IntN(3) > 0 {
			args = append(args, "--chrome-trace-from", fmt.Sprintf("%dms", from), "--chrome-trace-to", fmt.Sprintf("%dms", from+length))
		} else {
			from, length = 0, 1e9
		}
		if draw.IntN(2) > 0 {
			args = append(args, "--chrome-trace-instances", []string{"0", "1", "0-1", "1,3", "2-9"}[draw.IntN(5)])
		}
		args = append(args, "--trace-events", fmt.Sprint([]int{1000, 3000, 100_000}[draw.IntN(3)]))
		path := filepath.Join(t.TempDir(), "c.json")
		done(t, append(args, "--chrome-trace", path)...)
		f, err := chromecheck.Read([]byte(read(t, path)))
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, args, err)
		}
		for _, e := range f.Events {
			if e.Ts != nil && (*e.Ts < int64(from)*1000 || *e.Ts > int64(from+length)*1000) {
				t.Fatalf("seed %d: %q: %s", seed, args, e)
			}
		}
	}
}

// The window and the instances are those asked for.
func TestChromeTraceOfInstances(t *testing.T) {
	args := []string{"run", "--num-requests", "200", "--rate", "100", "--num-instances", "5"}
	whole, _ := chrome(t, args...)
	f, _ := chrome(t, append(args, "--chrome-trace-instances", "1,3-4")...)
	for _, e := range f.Events {
		if *e.Pid != 3 && *e.Pid != 5 && *e.Pid != 6 {
			t.Fatalf("%s", e)
		}
	}
	n := 0
	for _, e := range whole.Events {
		if e.Ph == "X" && (*e.Pid == 3 || *e.Pid == 5 || *e.Pid == 6) {
			n++
		}
	}
	if got := events(f, "X", ""); got != n || n == 0 {
		t.Errorf("%d slices, want %d", got, n)
	}
	s := blis(t, nil, append(args, "--chrome-trace", os.DevNull, "--chrome-trace-instances", "2-7")...)
	if s.code != exitDone || !strings.Contains(s.err, "--chrome-trace-instances names instance 7, and the run has 0 to 4") {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
}

// Names are text, whatever they are, and long ones are cut off.
func TestChromeTraceOfHostileNames(t *testing.T) {
	for _, name := range []string{`</script><b>"`, `a\"b`, "שלום", strings.Repeat("é", 128)} {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
		spec := file(t, "w.yaml", fmt.Sprintf("version: \"2\"\nseed: 1\naggregate_rate: 50\nnum_requests: 20\nclients:\n  - id: a\n    tenant_id: \"%s\"\n    rate_fraction: 1\n    arrival: {process: poisson}\n    input_distribution: {type: constant, params: {value: 100}}\n    output_distribution: {type: constant, params: {value: 5}}\n", quoted))
		f, _ := chrome(t, "run", "--workload-spec", spec, "--slo-targets", "ttft=1us")
		want := name
		if len(name) > 200 {
			want = strings.Repeat("é", 100) + "…"
		}
		if got := f.Events[firstRequest(f)].Args["tenant"]; got != want {
			t.Errorf("%.40q reads %.40q", name, got)
		}
	}
}

func firstRequest(f *chromecheck.File) int {
	for i := range f.Events {
		if f.Events[i].Ph == "b" {
			return i
		}
	}
	return 0
}

// A run that is interrupted leaves a valid trace, which says so.
func TestChromeTraceOfAnInterruptedRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := filepath.Join(t.TempDir(), "a.json")
	if s := blisUntil(t, ctx, nil, "run", "--chrome-trace", path); s.code != exitInterrupted {
		t.Fatalf("exit %d: %s", s.code, s.err)
	}
	f, err := chromecheck.Read([]byte(read(t, path+partialEnd)))
	if err != nil || !f.OtherData.Partial {
		t.Errorf("%v: %+v", err, f)
	}
}

func TestChromeTraceOnAFullDisk(t *testing.T) {
	for _, name := range []string{"full.json", "full.json.gz"} {
		path := fullDisk(t, name)
		s := blis(t, nil, "run", "--num-requests", "3000", "--chrome-trace", path)
		if s.code != exitCheck || !strings.Contains(s.err, "--chrome-trace: write "+path+": no space left on device") || !strings.Contains(s.out, "digest") || strings.Count(s.err, "no space") != 1 {
			t.Errorf("%s: exit %d, %q", name, s.code, s.err)
		}
	}
}

// A decision trace that cannot be written says so, as it does alone, and leaves the Chrome trace whole.
func TestChromeTraceBesideAFullDisk(t *testing.T) {
	args := []string{"run", "--num-requests", "4000", "--rate", "100"}
	_, alone := chrome(t, args...)
	full, path := fullDisk(t, "full.jsonl"), filepath.Join(t.TempDir(), "c.json")
	s := blis(t, nil, append(args, "--trace-out", full, "--chrome-trace", path)...)
	if want := "blis: --trace-out: write " + full + ": no space left on device\n"; s.code != exitCheck || s.err != want {
		t.Errorf("exit %d, %q, want %q", s.code, s.err, want)
	}
	if read(t, path) != alone {
		t.Error("another Chrome trace")
	}
}

func TestChromeTraceFlagsAreChecked(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	for _, c := range []struct{ args, want string }{
		{"--trace-events 5", "--trace-events is 5 without a Chrome trace: want --chrome-trace FILE with it"},
		{"--chrome-trace-from 5s", "--chrome-trace-from is 5s without a Chrome trace: want --chrome-trace FILE with it"},
		{"--chrome-trace-to 5s", "--chrome-trace-to is 5s without a Chrome trace: want --chrome-trace FILE with it"},
		{"--chrome-trace-instances 3", "--chrome-trace-instances is 3 without a Chrome trace: want --chrome-trace FILE with it"},
		{"--chrome-trace OUT --trace-events 999", "--trace-events is 999: want 1000 to 100000000"},
		{"--chrome-trace OUT --chrome-trace-from=-1s", `--chrome-trace-from: "-1s" is not a duration`},
		{"--chrome-trace OUT --chrome-trace-from 2s --chrome-trace-to 2s", "--chrome-trace-to is 2s: want 0 (the end of the run) or later than --chrome-trace-from, 2s"},
		{"--chrome-trace OUT --chrome-trace-instances 3-1", `--chrome-trace-instances: "3-1": want indices of instances, from 0 to 1048575, such as 0-3,7`},
		{"--chrome-trace OUT --chrome-trace-instances 0-x,2", `--chrome-trace-instances: "0-x": want indices`},
		{"--chrome-trace OUT --results-path OUT", "--chrome-trace: OUT is the file of --results-path too"},
		{"--chrome-trace OUT/a.json", "--chrome-trace: OUT/a.json: no such file or directory"},
	} {
		s := blis(t, nil, strings.Fields("run "+strings.ReplaceAll(c.args, "OUT", out))...)
		if s.code != exitInput || !strings.Contains(s.err, strings.ReplaceAll(c.want, "OUT", out)) || s.out != "" || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", c.args, s.code, s.err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file of a run that was refused")
	}
}
