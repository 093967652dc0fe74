package cli

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

// Cases of people who described traffic and got other traffic.

// usersSpec is eight users who ask for ten seconds.
const usersSpec = `
version: "2"
horizon: 10s
clients:
  - id: u
    concurrency: 8
    input_distribution: {type: constant, params: {value: 100}}
    output_distribution: {type: constant, params: {value: 50}}
`

// Users who are refused do not ask a million times a second: with any admission
// policy they offer about one request per user and second, and a warning says
// what makes the load.
func TestCaseClosedLoopStormOfRejections(t *testing.T) {
	spec := file(t, "users.yaml", usersSpec)
	loop := []string{"--concurrency", "8", "--num-requests", "1000"}
	for _, x := range []struct {
		name     string
		args     []string
		most     float64 // offered per second
		refused  bool    // most were
		requests float64 // 0: as many as come
	}{
		{"a rate limit far below", append(loop, "--admission-policy", "rate-limit", "--set", "admission.params.rate=2", "--set", "admission.params.burst=1"), 12, true, 1000},
		{"a quota", append(loop, "--set", "admission.type=tenant-quota", "--set", "admission.params.max_active=4"), 12, true, 1000},
		{"nobody waits", append(loop, "--timeout", "1us"), 12, true, 1000},
		{"a rate limit near the load", []string{"--workload-spec", spec, "--admission-policy", "rate-limit", "--set", "admission.params.rate=10"}, 25, false, 0},
		{"nobody is admitted", []string{"--workload-spec", spec, "--admission-policy", "reject-all"}, 9, true, 80},
		{"everybody is admitted", []string{"--workload-spec", spec}, 25, false, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := done(t, append([]string{"run", "--num-instances", "1", "--format", "json"}, x.args...)...)
			r := resultOf(t, s.out)
			if offered := r["offered_per_sec"].(float64); offered > x.most {
				t.Errorf("%v requests offered per second, want at most %v", offered, x.most)
			}
			if n := r["injected_requests"].(float64); x.requests > 0 && n != x.requests {
				t.Errorf("%v requests, want %v", n, x.requests)
			}
			warned := false
			for _, w := range r["warnings"].([]any) {
				warned = warned || strings.Contains(w.(string), "requests were refused")
			}
			if warned != x.refused {
				t.Errorf("warned of refusals: %v, want %v", warned, x.refused)
			}
		})
	}
}

// The flag says how long users pause, for specifications too where they leave it
// open.
func TestRefusalPauseIsThatOfTheFlagOrTheSpecification(t *testing.T) {
	open := file(t, "open.yaml", usersSpec)
	own := file(t, "own.yaml", usersSpec+"    refusal_pause: 2s\n")
	for _, x := range []struct {
		spec, pause string
		want        float64 // requests of 8 users in 10 s who are all refused
	}{{open, "1s", 80}, {open, "500ms", 160}, {own, "500ms", 40}} {
		s := done(t, "run", "--workload-spec", x.spec, "--admission-policy", "reject-all", "--refusal-pause", x.pause, "--format", "json")
		if n := resultOf(t, s.out)["injected_requests"].(float64); n != x.want {
			t.Errorf("%s with %s: %v requests, want %v", x.spec, x.pause, n, x.want)
		}
	}
	for _, args := range [][]string{{"--concurrency", "2", "--refusal-pause", "0"}, {"--concurrency", "2", "--refusal-pause", "999us"}} {
		if s := blis(t, nil, append([]string{"run"}, args...)...); s.code != exitInput || !strings.Contains(s.err, "--refusal-pause is ") || !strings.Contains(s.err, "1ms or more") {
			t.Errorf("%q: exit %d, %s", args, s.code, s.err)
		}
	}
	if s := done(t, "run", "--workload-spec", file(t, "rate.yaml", "num_requests: 5\nclients: [{rate: 1, input_distribution: {type: constant, params: {value: 9}}, output_distribution: {type: constant, params: {value: 9}}}]"), "--refusal-pause", "2s"); !strings.Contains(s.out+s.err, "refusal-pause has no effect") {
		t.Errorf("nothing says that there are no users:\n%s", s.out)
	}
}

// seededSpec is traffic with a seed of its own.
const seededSpec = `
version: "2"
seed: 42
aggregate_rate: 20
num_requests: 60
clients:
  - id: a
    rate_fraction: 1
    arrival: {process: poisson}
    input_distribution: {type: exponential, params: {mean: 300}}
    output_distribution: {type: exponential, params: {mean: 60}}
`

// A seed that is given, by flag, variable or file, counts more than that of the
// specification; a seed for the traffic alone counts more than both.
func TestCaseSeedFlagBesideSpecSeed(t *testing.T) {
	spec := file(t, "seeded.yaml", seededSpec)
	tokens := func(env map[string]string, args ...string) (of float64, seeds [2]float64) {
		s := blis(t, env, append([]string{"run", "--workload-spec", spec, "--num-instances", "1", "--format", "json"}, args...)...)
		if s.code != exitDone {
			t.Fatal(s.err)
		}
		r := resultOf(t, s.out)
		key := r["key"].(map[string]any)
		return r["total_input_tokens"].(float64), [2]float64{key["seed"].(float64), key["workload_seed"].(float64)}
	}
	own, _ := tokens(nil)
	of7, _ := tokens(nil, "--workload-seed", "7")
	if own == of7 {
		t.Fatal("two seeds give the same tokens: they show nothing")
	}
	for _, x := range []struct {
		name  string
		env   map[string]string
		args  []string
		want  float64
		seeds [2]float64
	}{
		{"nothing", nil, nil, own, [2]float64{42, 42}},
		{"a flag", nil, []string{"--seed", "7"}, of7, [2]float64{7, 7}},
		{"a variable", map[string]string{"BLIS_SEED": "7"}, nil, of7, [2]float64{7, 7}},
		{"a file", nil, []string{"--config", file(t, "seed.yaml", "seed: 7\n")}, of7, [2]float64{7, 7}},
		{"a flag with the default's value", nil, []string{"--seed", "42"}, own, [2]float64{42, 42}},
		{"both", nil, []string{"--seed", "8", "--workload-seed", "7"}, of7, [2]float64{8, 7}},
		{"both, one in a file", nil, []string{"--seed", "8", "--config", file(t, "w.yaml", "workload-seed: 7\n")}, of7, [2]float64{8, 7}},
	} {
		if got, seeds := tokens(x.env, x.args...); got != x.want || seeds != x.seeds {
			t.Errorf("%s: %v tokens with seeds %v, want %v with %v", x.name, got, seeds, x.want, x.seeds)
		}
	}
	// The effective configuration repeats the run, whoever gave the seed.
	for _, args := range [][]string{nil, {"--seed", "7"}} {
		printed := done(t, append([]string{"run", "--workload-spec", spec, "--print-config"}, args...)...).out
		want, seeds := tokens(nil, args...)
		if got, again := tokens(nil, "--config", file(t, "printed.yaml", printed)); got != want || again != seeds {
			t.Errorf("printed with %q: %v tokens with seeds %v, want %v with %v", args, got, again, want, seeds)
		}
	}
}

// A replicate of compare is what run gives with its seed.
func TestRunWithASeedIsTheReplicateOfThatSeed(t *testing.T) {
	spec := file(t, "seeded.yaml", seededSpec)
	c := resultOf(t, done(t, "compare", "round-robin", "least-loaded", "--workload-spec", spec, "--seed", "6", "--seeds", "3", "--format", "json").out)
	values := c["bundles"].([]any)[0].(map[string]any)["measures"].(map[string]any)["mean_e2e"].(map[string]any)["values"].([]any)
	for i, seed := range []string{"6", "7", "8"} {
		run := resultOf(t, done(t, "run", "--workload-spec", spec, "--seed", seed, "--format", "json").out)
		if run["e2e_mean_ms"] != values[i] {
			t.Errorf("run --seed %s has the mean E2E %v, its replicate %v", seed, run["e2e_mean_ms"], values[i])
		}
	}
	if values[0] == values[1] {
		t.Error("two seeds give one value: they show nothing")
	}
}

// A script for the public simulator gives the timeout in whole seconds, negative
// for none. A number without a unit is refused; it would be taken for µs.
func TestCaseTimeoutOfScriptsInSeconds(t *testing.T) {
	config := file(t, "c.yaml", "timeout: 300\n")
	for _, x := range []struct {
		env  map[string]string
		args []string
		want string // the error
	}{
		{nil, small("--timeout", "300"), "--timeout: 300 has no unit: want 300s for seconds (as the public simulator has it) or 300us for microseconds"},
		{nil, small("--timeout", "1.5"), "--timeout: 1.5 has no unit: want 1.5s for seconds"},
		{nil, small("--config", config), config + ":1: timeout: 300 has no unit: want 300s"},
		{map[string]string{"BLIS_TIMEOUT": "30"}, small(), "BLIS_TIMEOUT: timeout: 30 has no unit: want 30s"},
		{nil, []string{"validate", "x", "--client-timeout", "300"}, "--client-timeout: 300 has no unit: want 300s"},
		{nil, small("--timeout", "soon"), `--timeout: "soon" is not a duration: want 50ms, 300s or 2m, or 0 for none`},
		{nil, small("--timeout", "Inf"), `--timeout: "Inf" is not a duration: want 50ms, 300s or 2m, or 0 for none`},
	} {
		if s := blis(t, x.env, x.args...); s.code != exitInput || !strings.Contains(s.err, x.want) {
			t.Errorf("%q: exit %d, %s\nwant %s", x.args, s.code, s.err, x.want)
		}
	}
	digest := func(args ...string) any {
		return resultOf(t, done(t, small(append(args, "--format", "json")...)...).out)["digest"]
	}
	never := digest()
	for _, none := range []string{"-1", "-300", "-5s", "0", "0s"} {
		if got := digest("--timeout=" + none); got != never {
			t.Errorf("--timeout=%s: digest %v, want that of no timeout %v", none, got, never)
		}
	}
	if digest("--timeout", "300s") != digest("--timeout", "300000000us") {
		t.Error("300s and 300000000us are two runs")
	}
	printed := done(t, small("--timeout", "7s", "--print-config")...).out
	if again := done(t, "run", "--config", file(t, "printed.yaml", printed), "--print-config").out; again != printed || !strings.Contains(printed, `timeout: "7s"`) {
		t.Errorf("printed and read back it is\n%s\nnot\n%s", again, printed)
	}
}

// A deadline within which no request can be answered is named.
func TestTimeoutShorterThanOneStepIsAWarning(t *testing.T) {
	spec := func(timeout string) string {
		return file(t, "impatient.yaml", "num_requests: 5\nclients: [{id: hasty, rate: 1, timeout: "+timeout+", input_distribution: {type: constant, params: {value: 9}}, output_distribution: {type: constant, params: {value: 9}}}]")
	}
	for _, x := range []struct {
		args []string
		want string // empty: no warning
	}{
		{small("--timeout", "300us"), "timeout 300µs is shorter than one step: the shortest answer takes "},
		{small("--timeout", "300s"), ""},
		{[]string{"run", "--workload-spec", spec("300")}, `client "hasty": timeout 300µs is shorter than one step: the shortest answer takes `},
		{[]string{"run", "--workload-spec", spec("300s")}, ""},
		{[]string{"run", "--workload-spec", spec("300s"), "--timeout", "1us"}, ""}, // of no client
	} {
		s := done(t, x.args...)
		if has := strings.Contains(strings.Join(strings.Fields(s.out), " "), cmp.Or(x.want, "is shorter than one step")); has != (x.want != "") {
			t.Errorf("%q: want %q in\n%s", x.args, x.want, s.out)
		}
	}
}

// Requests that name models which the cluster does not serve run on the one that
// it serves, and a note says so.
func TestModelsThatAreNotServedAreNoted(t *testing.T) {
	client := func(id, model string) string {
		return "  - {id: " + id + ", model: " + model + ", rate: 1, input_distribution: {type: constant, params: {value: 9}}, output_distribution: {type: constant, params: {value: 9}}}\n"
	}
	spec := func(clients ...string) []string {
		return []string{"run", "--workload-spec", file(t, "m.yaml", "num_requests: 9\nclients:\n"+strings.Join(clients, ""))}
	}
	trace := func(models ...string) []string {
		text := "arrival_us,input_tokens,output_tokens,model\n"
		for _, m := range models {
			text += "0,9,9," + m + "\n"
		}
		return []string{"run", "--trace", file(t, "m.csv", text)}
	}
	const runs = ": named by requests and not served; all requests run on meta-llama/Llama-3.1-8B-Instruct"
	for _, x := range []struct {
		args []string
		want string // empty: no note
	}{
		{spec(client("a", "mixtral"), client("b", "llama"), client("c", "Llama-3.1-8B-Instruct")), `models "llama", "mixtral"` + runs},
		{spec(client("a", "Meta-Llama/llama-3.1-8b-instruct"), client("b", `""`)), ""},
		{trace("gpt-4", "", "meta-llama/Llama-3.1-8B-Instruct"), `model "gpt-4"` + runs},
		{trace("e", "d", "c", "b", "a"), `models "a", "b", "c" and 2 more` + runs},
		{append(trace("Qwen2.5-7B-Instruct"), "--model", "Qwen2.5-7B-Instruct"), ""},
		{[]string{"run", "--num-requests", "9"}, ""},
	} {
		notes := fmt.Sprint(resultOf(t, done(t, append(x.args, "--format", "json")...).out)["setup"])
		if has := strings.Contains(notes, cmp.Or(x.want, "not served")); has != (x.want != "") {
			t.Errorf("%q: notes %s, want %q", x.args, notes, x.want)
		}
	}
}

// A policy bundle given as a specification is called what it is.
func TestCasePolicyFileAsWorkloadSpec(t *testing.T) {
	bundle := file(t, "policy.yaml", "admission:\n  type: always-admit\nrouting:\n  type: weighted\n")
	s := blis(t, nil, "run", "--workload-spec", bundle)
	want := bundle + ":1: admission: a field of a policy bundle, want a specification of a workload here; a bundle is given with --policy-config"
	if s.code != exitInput || !strings.Contains(s.err, want) {
		t.Errorf("exit %d, %s, want %s", s.code, s.err, want)
	}
}
