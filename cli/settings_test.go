package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blis/actors"
)

// parsed is the configuration that a command line of run gives.
func parsed(t *testing.T, args ...string) (actors.Config, map[string]bool) {
	t.Helper()
	c := &console{lookup: func(string) (string, bool) { return "", false }}
	ctx, err := parse(append([]string{"run"}, args...), c)
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{}
	for _, f := range ctx.Flags() {
		flags[f.Name] = true
	}
	return ctx.Model.Children[0].Target.Interface().(runCmd).Config, flags
}

func TestFlagsAreNamedLikeTheirSettings(t *testing.T) {
	_, flags := parsed(t)
	for _, e := range entries(&actors.Config{}) {
		if !flags[e.name] {
			t.Errorf("setting %s has no flag of its name", e.name)
		}
	}
	for _, name := range []string{"workers", "config", "print-config", "format", "results-path", "requests-out", "record", "stats"} {
		if !flags[name] {
			t.Errorf("no flag --%s", name)
		}
	}
}

func TestDefaultsOfFlagsAreDefaultConfig(t *testing.T) {
	got, _ := parsed(t)
	if d := cmp.Diff(actors.DefaultConfig(), got, cmpopts.IgnoreFields(actors.Config{}, "Custom")); d != "" {
		t.Error(d)
	}
}

func TestFormsOfValues(t *testing.T) {
	got, _ := parsed(t, "--no-enable-prefix-caching", "--async-scheduling", "--enable-chunked-prefill=false", "--alpha-coeffs", "1,2.5,3e2",
		"--timeout", "1.5s", "--admission-latency", "250", "--workload-seed", "0", "--tensor-parallel-size", "2", "--max-prompts", "7", "--trace", "a/b.csv", "--activation-memory", "1.5GiB")
	want := actors.DefaultConfig()
	want.EnablePrefixCaching, want.AsyncScheduling, want.EnableChunkedPrefill = false, new(true), false
	want.AlphaCoeffs, want.Timeout, want.AdmissionLatency = []float64{1, 2.5, 300}, 1_500_000, 250
	want.WorkloadSeed, want.TP, want.NumRequests, want.Trace, want.ActivationMemory = new(uint64), 2, 7, "a/b.csv", 3<<29
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(actors.Config{}, "Custom")); d != "" {
		t.Error(d)
	}
}

// distinct are flags that leave no part of the configuration at its default
// where that would hide a loss on the way through a file.
var distinct = []string{
	"--num-requests", "80", "--num-instances", "3", "--routing-policy", "weighted", "--routing-scorers", "queue-depth:2,kv-utilization:1",
	"--latency-model", "blackbox", "--alpha-coeffs", "1000,2,3", "--beta-coeffs", "7000,17.25,2.5", "--workload-seed", "9", "--timeout", "20s",
	"--no-enable-prefix-caching", "--async-scheduling", "--scheduler", "priority-fcfs", "--priority-policy", "slo-based", "--slo-targets", "standard:ttft=500ms",
	"--snapshot-refresh-interval", "10ms", "--in-flight", "periodic", "--admission-latency", "7", "--activation-memory", "2500MB", "--fitness-weights", "p99_ttft@200ms:1,jain:0.5",
}

func TestPrintedConfigRepeatsTheRun(t *testing.T) {
	for name, flags := range map[string][]string{
		"defaults": {"--num-requests", "50"},
		"distinct": distinct,
		"trace":    {"--trace", "../testdata/traces/blis.csv", "--num-instances", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"run", "--format", "json"}, flags...)
			result := resultOf(t, done(t, args...).out)
			config, err := json.Marshal(result["config"])
			if err != nil {
				t.Fatal(err)
			}
			for from, text := range map[string]string{
				"--print-config":   done(t, append(args, "--print-config")...).out,
				"the JSON result":  string(config),
				"comments and all": "# mine\n" + done(t, append(args, "--print-config")...).out + "\n# end\n",
			} {
				again := resultOf(t, done(t, "run", "--format", "json", "--config", file(t, "run.yaml", text)).out)
				if again["digest"] != result["digest"] {
					t.Errorf("from %s: digest %v, want %v", from, again["digest"], result["digest"])
				}
				if d := cmp.Diff(result["config"], again["config"]); d != "" {
					t.Errorf("from %s: %s", from, d)
				}
			}
		})
	}
}

func TestFlagBeforeEnvironmentBeforeFile(t *testing.T) {
	path := file(t, "run.yaml", "num-instances: 3\nseed: 5\nnum-requests: 20\n")
	env := map[string]string{"BLIS_NUM_INSTANCES": "4", "BLIS_SEED": "6", "BLIS_CONFIG": path}
	s := blis(t, env, "run", "--num-instances", "5", "--format", "json")
	config := resultOf(t, s.out)["config"].(map[string]any)
	got := []any{config["num-instances"], config["seed"], config["num-requests"], config["block-size-in-tokens"]}
	if want := []any{5.0, 6.0, 20.0, 16.0}; !reflect.DeepEqual(got, want) {
		t.Errorf("flag, environment, file, default: %v, want %v", got, want)
	}
}

func TestMisspeltVariableIsNamed(t *testing.T) {
	s := blis(t, map[string]string{"BLIS_NUM_INSTANCE": "4"}, small()...)
	if s.code != 0 || !strings.Contains(s.err, `BLIS_NUM_INSTANCE is no setting, the nearest is "BLIS_NUM_INSTANCES"`) {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
}
