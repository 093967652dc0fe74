package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"blis/bundle"
	"blis/report"
	"blis/report/plaintext"
	"blis/study"
)

// quick is a comparison that takes milliseconds.
func quick(more ...string) []string {
	return append([]string{"compare", "round-robin", "least-loaded", "--num-requests", "60", "--num-instances", "2", "--seeds", "3"}, more...)
}

func TestComparisonsFitTheSchema(t *testing.T) {
	s := loadSchemaOf(t, "compare")
	for name, args := range map[string][]string{
		"plain":        quick(),
		"targets":      quick("--slo-targets", "standard:ttft=20ms"),
		"all rejected": quick("--admission-policy", "reject-all"),
		"some missing": quick("--horizon", "30ms", "--rate", "30"),
		"scaling":      quick("--autoscale-policy", "threshold", "--autoscale-interval", "100ms", "--cost-per-replica-hour", "2"),
		"trace":        {"compare", "round-robin", "least-loaded", "--trace", "../testdata/traces/blis.csv", "--seeds", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "result.json")
			printed := done(t, append(args, "--format", "json", "--results-path", path)...).out
			for _, bad := range s.check(printed) {
				t.Error(bad)
			}
			if read(t, path) != printed {
				t.Error("--results-path writes something else than --format json prints")
			}
		})
	}
}

// measureOf is an estimate in a JSON result.
func measureOf(t *testing.T, result map[string]any, bundle int, name string) map[string]any {
	t.Helper()
	m, ok := result["bundles"].([]any)[bundle].(map[string]any)["measures"].(map[string]any)[name].(map[string]any)
	if !ok {
		t.Fatalf("no %s of bundle %d", name, bundle)
	}
	return m
}

// A column of the table is what run gives with --policy-config and the same
// flags, from wherever they come.
func TestComparedColumnsAreRuns(t *testing.T) {
	bundle := file(t, "mine.yaml", "routing: {type: weighted, params: {queue-depth: 2, kv-utilization: 1}}\nscheduler: {type: sjf}\n")
	config := file(t, "run.yaml", "num-requests: 80\nnum-instances: 3\nrouting-policy: always-busiest\npolicies:\n  priority:\n    type: slo-based\n")
	env := map[string]string{"BLIS_SNAPSHOT_REFRESH_INTERVAL": "50ms"}
	flags := []string{"--config", config, "--set", "routing.params.tie=random", "--max-num-seqs", "8", "--format", "json"}
	s := blis(t, env, append([]string{"compare", bundle, "least-loaded", "--seeds", "3", "--seed", "7"}, flags...)...)
	if s.code != exitDone {
		t.Fatal(s.err)
	}
	compared := resultOf(t, s.out)
	for r, seed := range []string{"7", "8", "9"} {
		run := blis(t, env, append([]string{"run", "--policy-config", bundle, "--seed", seed}, flags...)...)
		if run.code != exitDone {
			t.Fatal(run.err)
		}
		single := resultOf(t, run.out)
		for measure, key := range map[string]string{"p99_ttft": "ttft_p99_ms", "mean_e2e": "e2e_mean_ms", "throughput": "responses_per_sec"} {
			got := measureOf(t, compared, 0, measure)["values"].([]any)[r]
			if got != single[key] {
				t.Errorf("%s of seed %s is %v, run says %v", measure, seed, got, single[key])
			}
		}
		first := compared["bundles"].([]any)[0].(map[string]any)
		if d := cmp.Diff(single["policies"], first["policies"]); d != "" || first["key"] != single["key"].(map[string]any)["policies"] {
			t.Errorf("policies: %s", d)
		}
	}
	if name := compared["baseline"]; name != "mine" {
		t.Errorf("the baseline is called %v", name)
	}
}

func TestComparisonsDoNotDependOnWorkers(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		first := done(t, quick("--workers", "1", "--format", format)...).out
		for _, workers := range []string{"2", "3", "8"} {
			if got := done(t, quick("--workers", workers, "--format", format)...).out; got != first {
				t.Errorf("%s workers, %s: %s", workers, format, cmp.Diff(first, got))
			}
		}
	}
}

func TestBadComparisonsAreOneLine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": "routing: {type: least-loaded}\n", "b.yaml": "routing:\n  type: weigted\n",
		"zero.yaml": "routing:\n  type: weighted\n  params: {queue-depth: 0}\n", "scaled.yaml": "autoscale: {type: threshold, min: 5, max: 4}\n",
		"broken.yaml": "routing: {type: [\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct {
		name, args, want string
		env              map[string]string
	}{
		{"one bundle", "a.yaml", "1 bundle to compare: want at least 2", nil},
		{"no bundle", "", "want an argument, <bundle>", nil},
		{"empty", "round-robin ''", "bundle 2 is empty, want a file or the name of a routing policy", nil},
		{"twice", "a.yaml round-robin a.yaml", "a.yaml is given twice", nil},
		{"no such file", "a.yaml nowhere.yaml", "nowhere.yaml: no such file", nil},
		{"no such file elsewhere", "a.yaml no/least-loaded", "no/least-loaded: no such file", nil},
		{"no such policy", "a.yaml least-load", `least-load: no such file, and no routing policy, the nearest is "least-loaded"`, nil},
		{"a folder", "a.yaml .", ".: is a directory", nil},
		{"bad field", "a.yaml b.yaml", `b.yaml:2: routing.type: unknown routing policy "weigted", the nearest is "weighted"`, nil},
		{"bad YAML", "a.yaml broken.yaml", "broken.yaml:", nil},
		{"all weights 0", "a.yaml zero.yaml", "bundle zero: zero.yaml:3: routing.params: the weight of every scorer is 0", nil},
		{"bounds", "a.yaml scaled.yaml", "bundle scaled: scaled.yaml:1: autoscale.min: 5 is not allowed, want from 1 to --max-replicas 4", nil},
		{"cluster", "a.yaml round-robin --num-instances 0", "blis: --num-instances is 0: want 1 to 1048576", nil},
		{"one seed", "a.yaml round-robin --seeds 1", "--seeds is 1: want 2 to", nil},
		{"margin", "a.yaml round-robin --margin 2", "--margin is 2: want a share", nil},
		{"margin NaN", "a.yaml round-robin --margin NaN", "--margin is NaN", nil},
		{"workers", "a.yaml round-robin --workers=-1", "--workers is -1", nil},
		{"objective", "a.yaml round-robin --objectives p99_ttft,goodpu", `--objectives: unknown measure "goodpu", the nearest is "goodput"`, nil},
		{"measure", "a.yaml round-robin --measures p99", `--measures: unknown measure "p99", the nearest is "p99_ttft"`, nil},
		{"policy config", "a.yaml round-robin --policy-config a.yaml", "--policy-config: compare takes bundles as arguments", nil},
		{"policies", "a.yaml round-robin --policies {}", "--policies: compare takes bundles as arguments", nil},
		{"policies of the environment", "a.yaml round-robin", "BLIS_POLICIES: compare takes bundles as arguments", map[string]string{"BLIS_POLICIES": "{}"}},
		{"a flag that one bundle cannot take", "a.yaml round-robin --routing-scorers queue-depth:1", "bundle a: --routing-scorers: ", nil},
		{"a field that one bundle cannot take", "round-robin a.yaml --set routing.params.tie=random", "bundle round-robin: --set routing.params.tie: ", nil},
		{"trace", "a.yaml round-robin --trace none.csv", "blis: --trace: none.csv: no such file", nil},
		{"output", "a.yaml round-robin --results-path no/such.json", "no/such.json: no such file", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			arguments := strings.Fields(c.args)
			for i := range arguments {
				arguments[i] = strings.Trim(arguments[i], "'")
			}
			s := blis(t, c.env, append([]string{"compare"}, arguments...)...)
			if s.code != exitInput || !strings.Contains(s.err, c.want) || strings.Count(s.err, "\n") != 1 || s.out != "" {
				t.Errorf("exit %d: %s%s\nwant %s", s.code, s.err, s.out, c.want)
			}
		})
	}
}

func TestBundleNames(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{"a/x.yaml b/y.yml z.json least-loaded", "x y z least-loaded"},
		{"a/x.yaml b/x.yaml y.yaml", "a/x.yaml b/x.yaml y"},
		{"least-loaded ./least-loaded.yaml", "least-loaded ./least-loaded.yaml"},
		{"v1.2 v1.3", "v1.2 v1.3"},
	} {
		names, err := bundleNames(strings.Fields(c.arguments))
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.arguments, got, err, c.want)
		}
	}
}

// A file counts before a policy of its name.
func TestFilesComeBeforeNames(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("least-loaded", []byte("routing: {type: power-of-two}"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := resultOf(t, done(t, quick("--format", "json")...).out)
	text, err := json.Marshal(r["bundles"].([]any)[1].(map[string]any)["policies"])
	if err != nil {
		t.Fatal(err)
	}
	if b, err := bundle.Parse("", text); err != nil || b.Routing.Type != "power-of-two" {
		t.Errorf("%s, %v", text, err)
	}
}

// The configuration of each bundle repeats its run.
func TestComparePrintsConfigs(t *testing.T) {
	printed := done(t, quick("--print-config")...).out
	compared := resultOf(t, done(t, quick("--format", "json")...).out)
	documents := strings.Split(printed, "---\n")
	if len(documents) != 2 || !strings.HasPrefix(documents[1], "# least-loaded\n") {
		t.Fatalf("prints %s", printed)
	}
	for b, text := range documents {
		run := resultOf(t, done(t, "run", "--format", "json", "--config", file(t, "run.yaml", text)).out)
		if got := measureOf(t, compared, b, "p99_ttft")["values"].([]any)[0]; got != run["ttft_p99_ms"] {
			t.Errorf("bundle %d: %v, its configuration gives %v", b, got, run["ttft_p99_ms"])
		}
	}
}

func TestInterruptedComparisonSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "result.json")
	s := blisUntil(t, ctx, nil, quick("--results-path", path)...)
	if s.code != exitInterrupted || !strings.HasPrefix(s.out, "PARTIAL    interrupted: what follows is of 0 of 3 seeds\n") || s.err != "blis: not whole, so under a name of its own: "+path+".partial\nblis: interrupted\n" {
		t.Errorf("exit %d: %s\n%s", s.code, s.err, s.out)
	}
	if strings.Contains(s.out, "Pareto") || strings.Contains(s.out, "verdict") {
		t.Errorf("a verdict about nothing:\n%s", s.out)
	}
	written := read(t, path+".partial")
	for _, bad := range loadSchemaOf(t, "compare").check(written) {
		t.Error(bad)
	}
	if resultOf(t, written)["partial"] != true {
		t.Error("not marked partial")
	}
}

// interruptedAfter is a comparison of three bundles whose plan ends with so
// many runs.
func interruptedAfter(t *testing.T, runs int) *study.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var bundles []study.Bundle
	for _, name := range []string{"round-robin", "least-loaded", "power-of-two"} {
		b, err := argumentBundle(name)
		if err != nil {
			t.Fatal(err)
		}
		bundles = append(bundles, study.Bundle{Name: name, Policies: b})
	}
	c := study.NewComparison(smallConfig(), bundles...)
	c.Pool = study.Pool{Workers: 1, Progress: func(done, _ int) {
		if done == runs {
			cancel()
		}
	}}
	r, err := study.Compare(ctx, c)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return r
}

// Whatever there is fits the page and the schema, and says nothing that is not
// known.
func TestPartialComparisonsPrint(t *testing.T) {
	for _, c := range []struct {
		runs      int
		has, lack []string
	}{
		{2, []string{"of 0 of 10 seeds"}, []string{"mean ±", "Pareto", "better", "seeds  "}},
		{4, []string{"of 1 of 10 seeds", "mean ±", "42: one run of each", "? undecided with one seed", "undecided in all 11 measures", "rank 1"}, []string{"better in"}},
		{8, []string{"of 2 of 10 seeds", "42 to 43: 2 runs", "rank 1"}, []string{"undecided"}},
	} {
		r := interruptedAfter(t, c.runs)
		var text, object strings.Builder
		compared := report.Comparison{Result: r}
		if err := errors.Join(compared.Text(&text, plaintext.Style{}), compared.JSON(&object)); err != nil {
			t.Fatal(err)
		}
		flat := strings.Join(strings.Fields(text.String()), " ")
		for _, want := range c.has {
			if !strings.Contains(flat, want) {
				t.Errorf("after %d runs no %q:\n%s", c.runs, want, &text)
			}
		}
		for _, not := range c.lack {
			if strings.Contains(text.String(), not) {
				t.Errorf("after %d runs %q:\n%s", c.runs, not, &text)
			}
		}
		for _, bad := range loadSchemaOf(t, "compare").check(object.String()) {
			t.Error(bad)
		}
	}
}

// Lines of text results are at most as wide as the page, however many bundles
// there are; each bundle stands beside the baseline.
func TestComparisonsFitThePage(t *testing.T) {
	names := routings()[:6] // of more there are details of the best three alone
	for n := 2; n <= len(names); n++ {
		args := append([]string{"compare", "--num-requests", "200", "--num-instances", "2", "--seeds", "2", "--slo-targets", "standard:ttft=1s", "--measures", "all"}, names[:n]...)
		out := done(t, args...).out
		for _, line := range strings.Split(out, "\n") {
			if utf8.RuneCountInString(line) > plaintext.Narrowest {
				t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
			}
		}
		for _, name := range names[1:n] {
			if !strings.Contains(out, name+" against "+names[0]+": ") {
				t.Errorf("no verdict on %s:\n%s", name, out)
			}
		}
	}
}
