package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"blis/actors"
	"blis/report/plaintext"
)

// shows are calls of blis workload show of every kind.
var shows = map[string][]string{
	"default":     nil,
	"one request": {"--num-requests", "1"},
	"none":        {"--horizon", "1us"},
	"horizon":     {"--horizon", "2s"},
	"at once":     {"--trace", "../testdata/traces/blis.csv", "--trace-limit", "1"},
	"prefix":      {"--arrival", "gamma", "--cv", "4", "--prefix-tokens", "300", "--timeout", "5s"},
	"no output":   {"--output-tokens", "0", "--output-tokens-stdev", "0", "--output-tokens-min", "0"},
	"trace":       {"../testdata/traces/blis.csv"},
	"mooncake":    {"../testdata/traces/mooncake.jsonl.gz", "--block-size-in-tokens", "64"},
	"long": {"--prompt-tokens", "2e9", "--prompt-tokens-max", "2147483647", "--output-tokens", "1e9", "--output-tokens-max", "2147483647",
		"--prompt-tokens-stdev", "1e8", "--rate", "0.00001"},
}

func showOf(t *testing.T, args ...string) session {
	t.Helper()
	return done(t, append([]string{"workload", "show"}, args...)...)
}

func TestSurveysFitTheSchema(t *testing.T) {
	s := loadSchemaOf(t, "workload")
	for name, args := range shows {
		printed := showOf(t, append(args, "--format", "json")...).out
		for _, bad := range s.check(printed) {
			t.Errorf("%s: %s", name, bad)
		}
	}
	good := showOf(t, "--format", "json").out
	for _, c := range []struct{ old, new, want string }{
		{`"blis.workload/v1"`, `"blis.workload/v0"`, "$.schema"},
		{`"requests": 1000,`, ``, "requests is missing"},
		{`"named_share":0`, `"named_share":2`, "$.prefix_reuse.named_share"},
		{`"sessions": 0`, `"sessions": 0, "more": 1`, "more is unknown"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if bad := strings.Join(s.check(text), "\n"); text == good || !strings.Contains(bad, c.want) {
			t.Errorf("%s for %s: %q, want it to name %q", c.new, c.old, bad, c.want)
		}
	}
}

func TestSurveyTextFitsEightyColumns(t *testing.T) {
	for name, args := range shows {
		for line := range strings.Lines(showOf(t, args...).out) {
			text := strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(text); n > plaintext.Narrowest || strings.HasSuffix(text, " ") {
				t.Errorf("%s: %d columns: %q", name, n, text)
			}
			if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") || strings.Contains(line, "\x1b") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

func TestSurveyText(t *testing.T) {
	const trace = "arrival_us,input_tokens,output_tokens,tenant,slo_class,session,round,prefix_group,prefix_tokens,deadline_us\n" +
		"0,64,1,b\x1b[31m,standard,1,0,p,32,\n" +
		"2000000,64,3,a,standard,1,1,p,32,9000000\n" +
		"4000000,64,5,a,standard,,,,,\n"
	got := showOf(t, file(t, "w.csv", trace)).out
	want := `workload   3 requests of w.csv (blis)

requests   3, from 0 s to 4 s
rate       0.500 req/s, gaps with CV 0, peak 0.500 req/s in 2 s (1.00 times the
           mean)
tokens     192 in, 9 out; 32.0/s in, 1.50/s out

             mean       CV      p50      p90      p95      p99      min      max
input          64        0       64       64       64       64       64       64
output          3    0.544        3     4.60     4.80     4.96        1        5
rounds          2        –        2        2        2        2        2        2

tenants    a 66.7 % (67.7 % of the tokens), "b\x1b[31m" 33.3 % (32.3 % of the
           tokens)
sessions   1 with 66.7 % of the requests
limits     33.3 % have a deadline
prefix     33.3 % of the prompt tokens are content that others may share; an
           infinite cache would find 16.7 % (33.3 % of the requests, blocks of
           16 tokens)

     0.500 ███
           ███
           ███
     req/s ███
         0 ▔▔▔
           0 s to 4 s, a column is 2 s

tokens           input                            output
1                                                 █████████████████████ 33.3 %
2–3                                               █████████████████████ 33.3 %
4–7                                               █████████████████████ 33.3 %
64–127           █████████████████████ 100.0 %
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is shown is what a run with the same flags has, from wherever they come.
func TestShownWorkloadIsThatOfTheRun(t *testing.T) {
	config := file(t, "run.yaml", "num-requests: 70\narrival: constant\n")
	for name, args := range map[string][]string{
		"flags":  {"--num-requests", "80", "--num-instances", "2", "--model", "Qwen2.5-7B-Instruct"},
		"config": {"--config", config, "--workload-seed", "5"},
		"trace":  {"--trace", "../testdata/traces/mooncake.jsonl", "--trace-speedup", "2"},
	} {
		show := resultOf(t, showOf(t, append(args, "--format", "json")...).out)
		run := resultOf(t, done(t, append(append([]string{"run"}, args...), "--format", "json")...).out)
		for key, of := range map[string]string{
			"requests": "injected_requests", "total_input_tokens": "total_input_tokens", "requests_per_second": "offered_per_sec", "total_output_tokens": "total_output_tokens", "config": "config",
		} {
			if !reflect.DeepEqual(show[key], run[of]) {
				t.Errorf("%s: %s is %v, the run's %s %v", name, key, show[key], of, run[of])
			}
		}
	}
	env := map[string]string{"BLIS_NUM_REQUESTS": "33", "BLIS_TRACE": "absent.csv"}
	if s := blis(t, env, "workload", "show", "../testdata/traces/blis.csv"); !strings.Contains(s.out, "4 requests of blis.csv") {
		t.Errorf("an argument gives way to the environment: %d %s%s", s.code, s.out, s.err)
	}
	if s := showOf(t, "--print-config", "--rate", "7"); !strings.Contains(s.out, "\nrate: 7\n") {
		t.Errorf("prints %.300s", s.out)
	}
}

func TestBadCallsOfWorkload(t *testing.T) {
	bad := file(t, "bad.csv", "arrival_us,input_tokens,output_tokens\n5,0,1\n")
	for _, c := range []struct {
		args string
		want string
	}{
		{"workload show a.csv --trace b.csv", "a.csv and --trace b.csv are both workloads: want one of them"},
		{"workload show absent.csv", "--trace: absent.csv: no such file or directory"},
		{"workload show " + bad, bad + `:2: input_tokens: "0": want a whole number from 1 to 2147483647`},
		{"workload show --rate=-1", "--rate is -1: want a finite number above 0, 0 to derive it"},
		{"workload show --num-requets 5", "unknown flag --num-requets, did you mean \"--num-requests\"?"},
		{"workload show --block-size-in-tokens 0", "--block-size-in-tokens is 0: want 1 to 1048576"},
		{"workload export", "missing flags: --out=FILE"},
		{"workload export --out x.json", "--out: x.json: want a name that ends in .csv or .csv.gz"},
		{"workload export --out absent/x.csv", "--out: absent/x.csv: no such file or directory"},
		{"workload convert", `expected "<in> <out>"`},
		{"workload convert a.csv b.txt", "OUT: b.txt: want a name that ends in .csv or .csv.gz"},
		{"workload convert absent.csv b.csv", "--trace: absent.csv: no such file or directory"},
		{"workload convert ../testdata/traces/blis.csv absent/b.csv", "OUT: absent/b.csv: no such file or directory"},
		{"workload convert ../testdata/traces/blis.csv b.csv --trace-offset 9", "trace-offset: 9: want less than the 4 requests of ../testdata/traces/blis.csv"},
	} {
		s := blis(t, nil, strings.Fields(c.args)...)
		if s.code != exitInput || s.err != "blis: "+c.want+"\n" || s.out != "" {
			t.Errorf("%s: exit %d: %q, want %q", c.args, s.code, s.err, c.want)
		}
	}
}

func TestHelpOfWorkload(t *testing.T) {
	for _, command := range []string{"", "show", "export", "convert", "scenarios"} {
		s := done(t, append([]string{"workload"}, append(strings.Fields(command), "--help")...)...)
		if !strings.HasPrefix(s.out, strings.TrimSpace("Usage: blis workload "+command)) || command != "" && !strings.Contains(s.out, "\n  blis workload "+command) {
			t.Errorf("%s --help prints %.60q", command, s.out)
		}
	}
}

// An interrupted survey says what it saw, and that it is not all.
func TestInterruptedSurvey(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := blisUntil(t, ctx, nil, "workload", "show", "--format", "json")
	if r := resultOf(t, s.out); s.code != exitInterrupted || r["partial"] != true || r["requests"] != 0.0 || s.err != "blis: interrupted\n" {
		t.Errorf("exit %d: %q: %v", s.code, s.err, r["partial"])
	}
	if bad := loadSchemaOf(t, "workload").check(s.out); bad != nil {
		t.Error(bad)
	}
	if s := blisUntil(t, ctx, nil, "workload", "show"); !strings.Contains(s.out, "\nwarning    interrupted") {
		t.Errorf("text says %q", s.out)
	}
}

// The flags of convert are those of run.
func TestFlagsOfConvertAreThoseOfRun(t *testing.T) {
	flags, all := reflect.TypeFor[traceReading](), reflect.TypeFor[actors.Config]()
	for i := range flags.NumField() {
		f := flags.Field(i)
		if of, ok := all.FieldByName(f.Name); !ok || of.Type != f.Type || of.Tag != f.Tag {
			t.Errorf("%s: %s, that of run %s", f.Name, f.Tag, of.Tag)
		}
	}
	r := traceReading{TraceFormat: "x", TraceBlockSize: 1, TraceSpeedup: 2, TraceLimit: 3, TraceOffset: 4, SpreadTies: true, SkipBadRows: true, Timeout: 5, Rate: 6, Arrival: "gamma", CV: 7, Seed: 8}
	c := r.config("t")
	if got, _ := json.Marshal([]any{c.Trace, c.TraceFormat, c.TraceBlockSize, c.TraceSpeedup, c.TraceLimit, c.TraceOffset, c.SpreadTies, c.SkipBadRows, c.Timeout, c.Rate, c.Arrival, c.CV, c.Seed}); string(got) != `["t","x",1,2,3,4,true,true,"5µs",6,"gamma",7,8]` {
		t.Errorf("the configuration has %s", got)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func absentIn(t *testing.T, name string) string { return filepath.Join(t.TempDir(), name) }

// A file is a specification if it is YAML, but for the header of a trace.
func TestFilesAreToldApart(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	specification := at("w.yaml", "num_requests: 7\nclients:\n- {id: a, rate: 5, input_distribution: {type: constant, params: {value: 9}}, output_distribution: {type: constant, params: {value: 9}}}\n")
	header := at("t.yaml", "trace_version: 2\ntime_unit: microseconds\nmode: generated\n")
	at("t.csv", "request_id,arrival_time_us,input_tokens,output_tokens\n0,5,10,2\n")
	for path, want := range map[string]string{specification: "w.yaml: client a, up to 7 requests", header: "1 requests of t.yaml (inference-sim)"} {
		if s := done(t, "workload", "show", path); !strings.Contains(s.out, "workload   "+want+"\n") {
			t.Errorf("%s: %.200s", path, s.out)
		}
	}
	for _, flags := range [][]string{{"--trace", header}, {"--scenario", "sanity"}, {"--workload-spec", specification}, {"--concurrency", "3"}} {
		s := blis(t, nil, append([]string{"workload", "show", specification}, flags...)...)
		if s.code != exitInput || !strings.Contains(s.err, specification+" and "+flags[0]+" "+flags[1]+" are both workloads") {
			t.Errorf("%v: exit %d: %s", flags, s.code, s.err)
		}
	}
	// A file beats what a configuration says.
	config := at("c.yaml", "scenario: sanity\n")
	if s := done(t, "workload", "show", "--config", config, specification); !strings.Contains(s.out, "client a") {
		t.Errorf("%.200s", s.out)
	}
}

func TestScenariosAreListedAndPrinted(t *testing.T) {
	list := done(t, "workload", "scenarios").out
	if len(regexp.MustCompile(`(?m)^\S`).FindAllString(list, -1)) != 9 || !strings.Contains(list, "\nmixed-slo        Equal thirds") {
		t.Errorf("%s", list)
	}
	text := done(t, "workload", "scenarios", "sanity").out
	path := filepath.Join(t.TempDir(), "sanity.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	digest := func(flags ...string) any {
		return resultOf(t, done(t, append([]string{"run", "--format", "json", "--num-requests", "300"}, flags...)...).out)["digest"]
	}
	if a, b := digest("--scenario", "sanity"), digest("--workload-spec", path); a != b || a == nil {
		t.Errorf("digests %v and %v", a, b)
	}
	if s := blis(t, nil, "run", "--scenario", "sanitty"); s.code != exitInput || !strings.Contains(s.err, `--scenario: unknown scenario "sanitty", the nearest is "sanity"`) {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
	if s := blis(t, nil, "run", "--scenario", "sanity", "--trace", path); s.code != exitInput || !strings.Contains(s.err, "--scenario and --trace: each says what arrives") {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
}

// Every specification of the cookbook and every scenario runs, with the same
// result when its effective configuration is fed back.
func TestCookbookRuns(t *testing.T) {
	files, err := filepath.Glob("../examples/workloads/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	runs := [][]string{}
	for _, f := range files {
		runs = append(runs, []string{"--workload-spec", f})
	}
	for _, s := range strings.Split(strings.TrimSpace(done(t, "workload", "scenarios").out), "\n") {
		name, _, _ := strings.Cut(s, " ")
		runs = append(runs, []string{"--scenario", name})
	}
	for _, flags := range runs {
		args := append([]string{"run", "--format", "json", "--num-requests", "400"}, flags...)
		if strings.Contains(flags[1], "diurnal") {
			args = append(args, "--horizon", "20m")
		}
		first := done(t, args...)
		r := resultOf(t, first.out)
		if n := r["completed_requests"].(float64); n < 300 {
			t.Errorf("%v: %v requests completed: %s", flags, n, first.err)
		}
		if bad := loadSchema(t).check(first.out); bad != nil {
			t.Errorf("%v: %v", flags, bad)
		}
		config := done(t, append(args[:len(args):len(args)], "--print-config")...).out
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if again := resultOf(t, done(t, "run", "--format", "json", "--config", path).out); again["digest"] != r["digest"] || r["digest"] == nil {
			t.Errorf("%v: fed back the digest is %v, not %v", flags, again["digest"], r["digest"])
		}
	}
}
