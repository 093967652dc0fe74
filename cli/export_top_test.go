package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// topFile writes a comparison of five bundles as JSON, and returns its path.
func topFile(t *testing.T, more ...string) string {
	t.Helper()
	args := append([]string{"compare", "round-robin", "least-loaded", "weighted", "power-of-two", "always-busiest", "--seeds", "2", "--num-requests", "120", "--rate", "60", "--format", "json"}, more...)
	return file(t, "compared.json", done(t, args...).out)
}

// policiesOf are the policies of blis export top, by name, and their order.
func policiesOf(t *testing.T, text string) (names []string, all map[string]map[string]any) {
	t.Helper()
	all = map[string]map[string]any{}
	for _, p := range resultOf(t, text)["policies"].([]any) {
		p := p.(map[string]any)
		names = append(names, p["name"].(string))
		all[p["name"].(string)] = p
	}
	return names, all
}

// TestTopOfAComparison is its ranking, each policy with what compare says of it and what
// export llm-d writes.
func TestTopOfAComparison(t *testing.T) {
	path := topFile(t, "--fitness-weights", "p99_ttft:1,throughput:1")
	s := done(t, "export", "top", path, "-n", "9")
	for _, bad := range loadSchemaOf(t, "export-top").check(s.out) {
		t.Error(bad)
	}
	names, all := policiesOf(t, s.out)
	compared := resultOf(t, read(t, path))
	if want := compared["ranking"].([]any); len(want) != len(names) {
		t.Fatalf("%v, want %v", names, want)
	}
	for i, want := range compared["ranking"].([]any) {
		if names[i] != want {
			t.Fatalf("%v, want %v", names, compared["ranking"])
		}
	}
	for _, b := range compared["bundles"].([]any) {
		b := b.(map[string]any)
		p, measures := all[b["name"].(string)], b["measures"].(map[string]any)
		if got, want := p["sim_fitness"], measures["fitness"].(map[string]any)["mean"]; got != want {
			t.Errorf("%s: fitness %v, want %v", b["name"], got, want)
		}
		if got, want := p["sim_metrics"].(map[string]any)["p99_ttft"], measures["p99_ttft"].(map[string]any)["mean"]; got != want || got == nil {
			t.Errorf("%s: p99_ttft %v, want %v", b["name"], got, want)
		}
		if b["name"] == "always-busiest" {
			if p["config_for_deployment"] != nil || !strings.Contains(p["error"].(string), "no counterpart") || !strings.Contains(s.err, "always-busiest: ") {
				t.Errorf("%v\n%s", p, s.err)
			}
			continue
		}
		alone := resultOf(t, done(t, "export", "llm-d", b["name"].(string), "--format", "json", "--num-requests", "120", "--rate", "60").out)
		for _, key := range []string{"policy_id", "config_for_deployment", "differences"} {
			got, _ := json.Marshal(p[key])
			want, _ := json.Marshal(alone[key])
			if string(got) != string(want) {
				t.Errorf("%s: %s %s, want %s", b["name"], key, got, want)
			}
		}
	}
}

// TestTopByAMeasure goes by its direction, whatever the ranking is.
func TestTopByAMeasure(t *testing.T) {
	path := topFile(t)
	for _, c := range []struct {
		by     string
		higher bool
	}{{"mean_ttft", false}, {"throughput", true}} {
		_, all := policiesOf(t, done(t, "export", "top", path, "-n", "9").out)
		names, _ := policiesOf(t, done(t, "export", "top", path, "-n", "9", "--by", c.by).out)
		value := func(name string) float64 { return all[name]["sim_metrics"].(map[string]any)[c.by].(float64) }
		if !slices.IsSortedFunc(names, func(a, b string) int {
			if d := value(a) - value(b); d != 0 && (d > 0) == c.higher {
				return -1
			} else if d == 0 {
				return 0
			}
			return 1
		}) {
			t.Errorf("%s: %v", c.by, names)
		}
		if first, _ := policiesOf(t, done(t, "export", "top", path, "-n", "2", "--by", c.by).out); !slices.Equal(first, names[:2]) {
			t.Errorf("the first two are %v, want %v", first, names[:2])
		}
	}
}

// TestTopOfASweep has combinations that --where keeps, each with its own configuration.
func TestTopOfASweep(t *testing.T) {
	dir := t.TempDir()
	sweep := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(sweep, []byte("schema: blis.sweep/v1\nbase: {num-instances: 2, num-requests: 60, rate: 40, fitness-weights: \"mean_ttft:1\"}\n"+
		"axes:\n  policies: [round-robin, least-loaded]\n  rate: [20, 60]\nreplicates: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done(t, "sweep", sweep, "-o", filepath.Join(dir, "out"))
	s := done(t, "export", "top", filepath.Join(dir, "out"), "--where", "rate == 60", "--by", "mean_ttft")
	for _, bad := range loadSchemaOf(t, "export-top").check(s.out) {
		t.Error(bad)
	}
	names, all := policiesOf(t, s.out)
	slices.Sort(names)
	if !slices.Equal(names, []string{"policies=least-loaded rate=60", "policies=round-robin rate=60"}) {
		t.Fatalf("%v", names)
	}
	for name, picker := range map[string]string{"policies=least-loaded rate=60": "max-score-picker", "policies=round-robin rate=60": "random-picker"} {
		if text, _ := json.Marshal(all[name]["config_for_deployment"]); !strings.Contains(string(text), picker) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if names, _ := policiesOf(t, done(t, "export", "top", filepath.Join(dir, "out"), "-n", "9").out); len(names) != 4 {
		t.Errorf("by fitness: %v", names)
	}
}

// TestTopRefuses what is no result, in one line.
func TestTopRefuses(t *testing.T) {
	run := file(t, "run.json", done(t, small("--format", "json")...).out)
	for _, c := range []struct{ args, text string }{
		{"no.json", "no.json: no such file"},
		{run, "want blis.compare/v1"},
		{file(t, "x.json", "{"), "no result of blis compare"},
		{t.TempDir(), "it is not the folder of a sweep"},
		{run + " --by nonsense", "--by: unknown measure"},
		{run + " -n 0", "--count is 0"},
		{topFile(t) + " --by slo_attainment", "none of its policies has a value of slo_attainment"},
		{run + " --where rate==4", "is no folder of a sweep"},
	} {
		s := blis(t, nil, append([]string{"export", "top"}, strings.Fields(c.args)...)...)
		if s.code != exitInput || s.out != "" || !strings.Contains(s.err, c.text) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %s%s", c.args, s.code, s.out, s.err)
		}
	}
}

// TestRankingOfPolicies: the same policies whatever file says what they gave.
func TestRankingOfPolicies(t *testing.T) {
	compared := topFile(t)
	top := file(t, "top.json", done(t, "export", "top", compared, "-n", "9").out)
	_, all := policiesOf(t, read(t, top))
	id := all["weighted"]["policy_id"].(string)
	measured := file(t, "measured.csv", "policy,policy_id,p99_ttft,note_ms\nround-robin,,50,1\nleast-loaded,,40,2\nby-hand,"+id+",45,\nother,,1,5\n")
	form := loadSchemaOf(t, "ranking")
	var first string
	for _, predicted := range []string{compared, top} {
		s := done(t, "ranking", predicted, measured, "--format", "json")
		for _, bad := range form.check(s.out) {
			t.Error(bad)
		}
		if first == "" {
			first = s.out
		}
		got := resultOf(t, s.out)
		if got["policies"] != 3.0 || got["pairs"] != 3.0 || got["measure"] != "p99_ttft" || got["better"] != "lower" {
			t.Errorf("%s", s.out)
		}
		if left, _ := json.Marshal(got["only_predicted"]); string(left) != `["always-busiest","power-of-two"]` && string(left) != `["power-of-two","always-busiest"]` {
			t.Errorf("%s", left)
		}
		if left, _ := json.Marshal(got["only_measured"]); string(left) != `["other"]` {
			t.Errorf("%s", left)
		}
	}
	if self := resultOf(t, done(t, "ranking", top, compared, "--by", "mean_ttft", "--format", "json").out); self["ordered"] != self["pairs"] || self["mean_absolute_gap"] != 0.0 {
		t.Errorf("%v", self)
	}
	if s := done(t, "ranking", compared, measured); !strings.Contains(s.out, "order      Spearman ") || !strings.Contains(s.out, "other was not simulated") {
		t.Error(s.out)
	}
}

// TestChoiceOfARanking is the best as simulated, by the direction of the measure, and what
// it loses.
func TestChoiceOfARanking(t *testing.T) {
	for measure, want := range map[string]string{
		"throughput": "c is best as simulated, b as measured: 50.0 % worse", "p99_ttft": "a is best as simulated, c as measured: 20.0 % worse",
	} { // any order
		s := done(t, "ranking", file(t, "p.csv", "policy,"+measure+"\na,1\nb,2\nc,3\n"), file(t, "m.csv", "policy,"+measure+"\na,12\nb,20\nc,10\n"))
		if got := strings.Join(strings.Fields(s.out), " "); !strings.Contains(got, want) {
			t.Errorf("%s: want %s\n%s", measure, want, s.out)
		}
	}
	unknown := file(t, "u.csv", "policy,watts\na,1\nb,2\n")
	if s := done(t, "ranking", unknown, unknown, "--format", "json"); resultOf(t, s.out)["chosen"] != nil {
		t.Error(s.out)
	}
}

// TestRankingOfAShortTop: what a list of policies leaves out, or has as null, is not measured.
func TestRankingOfAShortTop(t *testing.T) {
	top := file(t, "top.json", `{"schema": "blis.export-top/v1", "policies": [{"name": "a", "sim_fitness": 1}, {"name": "b", "sim_fitness": 2}, {"name": "c", "sim_metrics": {"fitness": null}}]}`)
	got := resultOf(t, done(t, "ranking", top, file(t, "m.csv", "policy,fitness\na,1\nb,2\nc,3\n"), "--format", "json").out)
	if left, _ := json.Marshal(got["only_measured"]); got["policies"] != 2.0 || string(left) != `["c"]` {
		t.Errorf("%v", got)
	}
}

// TestRankingRefuses what it cannot compare.
func TestRankingRefuses(t *testing.T) {
	good := file(t, "good.csv", "policy,p99_ttft,throughput\na,1,2\nb,2,3\n")
	for _, c := range []struct{ text, args, want string }{
		{"policy,p99_ttft\na,1\nb,x\n", "", "bad.csv:3: p99_ttft: \"x\": want a number"},
		{"policy,p99_ttft\na,1\nb,NaN\n", "", "want a number"},
		{"policy,p99_ttft\na,1\na,2\n", "", "stands there twice"},
		{"policy,p99_ttft\na,1,2\n", "", "wrong number of fields"},
		{"name,p99_ttft\na,1\n", "", "want a column policy"},
		{"policy,p99_ttft\na,1\n", "", "1 policies with p99_ttft in common"},
		{"policy,latency\na,1\nb,2\n", "", "no measure in common"},
		{"policy,p99_ttft,throughput\na,1,2\nb,2,3\n", "", "--by: which of p99_ttft, throughput?"},
		{"policy,p99_ttft\na,1\nb,2\n", "--by p99_tft", "the nearest is"},
		{"policy,policy_id,p99_ttft\na,f,1\nb,f,2\n", "", "the same policies with other results"},
		{"", "", "no CSV"},
		{`{"schema": "blis.export-top/v1", "policies": [{"sim_metrics": {"x": "1"}}]}`, "", "no result of blis export top"},
	} {
		args := append([]string{"ranking", good, file(t, "bad.csv", c.text)}, strings.Fields(c.args)...)
		if s := blis(t, nil, args...); s.code != exitInput || !strings.Contains(s.err, c.want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%q: exit %d, %s", c.text, s.code, s.err)
		}
	}
}
