package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"blis/study/pointlog"
)

// sweepHead is what sweep files of tests begin with.
const sweepHead = "schema: blis.sweep/v1\nbase: {num-requests: 50, gpu-hour-price: 2}\n"

// sweepFolder makes the current folder one with a sweep file.
func sweepFolder(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte(sweepHead+text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSweepExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		code int
		want string // on standard error
	}{
		"all ran":     {"axes: {rate: [1, 2]}\n", exitDone, "^$"},
		"some refuse": {"axes: {tp: [1, 3]}\n", exitDone, "^$"},
		"one failed":  {"axes: {num-requests: [10, 5000]}\nlimits: {events: 2000}\n", exitCheck, `^blis: 1 point failed; --retry-failed runs such points again\n$`},
		"a bad file":  {"axes: {rat: [1, 2]}\n", exitInput, `^blis: .*s\.yaml:3:8: axes\.rat: unknown setting "rat", the nearest is "rate"\n$`},
		"all refused": {"axes: {tp: [3, 5]}\n", exitInput, `^blis: .*s\.yaml: all 2 points are refused, the first: .*TP.*\n$`},
		"no fit":      {"axes: {model: [Llama-3.1-405B-Instruct, DeepSeek-V3.1], latency-model: [roofline]}\n", exitFit, `^blis: .*does not fit.*\n$`},
		"none kept":   {"axes: {rate: [1, 2]}\nwhere: rate > 2\n", exitInput, `^blis: .*s\.yaml: where: is true for none of 2 combinations: want at least one\n$`},
		"too many":    {"axes: {rate: [1, 2]}\nlimits: {points: 1}\n", exitInput, `^blis: .*s\.yaml: limits\.points: 1: the sweep has more points: want more here, or fewer points\n$`},
		"no base":     {"axes: {trace: [none.csv]}\n", exitInput, `^blis: .*s\.yaml: axes: --trace: none\.csv: no such file or directory \(at trace=none\.csv\)\n$`},
	} {
		t.Run(name, func(t *testing.T) {
			sweepFolder(t, c.text)
			s := blis(t, nil, "sweep", "s.yaml")
			if s.code != c.code || !regexp.MustCompile(c.want).MatchString(s.err) {
				t.Errorf("exit %d: %s", s.code, s.err)
			}
			if (c.code == exitInput || c.code == exitFit) && exists("s.sweep") {
				t.Error("there is a folder")
			}
		})
	}
}

// Failed points keep their rows, and run again when asked to.
func TestRetryFailed(t *testing.T) {
	sweepFolder(t, "axes: {num-requests: [10, 5000]}\nlimits: {events: 2000}\n")
	for _, again := range []struct {
		flag []string
		rows int
	}{{nil, 2}, {nil, 2}, {[]string{"--retry-failed"}, 3}} {
		if s := blis(t, nil, append([]string{"sweep", "s.yaml"}, again.flag...)...); s.code != exitCheck {
			t.Errorf("exit %d: %s", s.code, s.err)
		}
		if n, err := lines("s.sweep/points.jsonl"); n != again.rows || err != nil {
			t.Errorf("%v: %d rows, %v", again.flag, n, err)
		}
	}
	var causes []string
	for r, err := range pointlog.Rows("s.sweep/points.sorted.jsonl") {
		if err != nil {
			t.Fatal(err)
		}
		causes = append(causes, string(r.Status)+" "+string(r.Cause))
	}
	if !slices.Equal(causes, []string{"ok ", "failed events"}) {
		t.Errorf("%q", causes)
	}
}

func TestBadFlagsOfSweep(t *testing.T) {
	sweepFolder(t, "axes: {rate: [1, 2]}\n")
	done(t, "sweep", "s.yaml")
	for args, want := range map[string]string{
		"sweep":                                                                   "want an argument",
		"sweep none.yaml":                                                         "none.yaml: no such file or directory",
		"sweep s.yaml --workers -1":                                               "--workers is -1: want 0 or more",
		"sweep s.yaml --shard 4/4":                                                "--shard 4/4: want I/N, from 0/N to N-1/N, or auto",
		"sweep s.yaml --shard x":                                                  "--shard x: want I/N",
		"sweep s.yaml --shard auto":                                               "--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set: want I/N",
		"sweep s.yaml --pareto cost":                                              "--pareto cost: want at least two measures",
		"sweep s.yaml --pareto cost,p99_tftt":                                     `p99_tftt`,
		"sweep s.yaml --measures p99_tftt":                                        `p99_tftt`,
		"sweep show none":                                                         "none: has no sweep.lock.yaml: it is not the folder of a sweep",
		"sweep show s.sweep --where rte==1":                                       `--where: unknown name "rte", the nearest is "rate"`,
		"sweep show s.sweep --where rate":                                         "--where: is 1, of type int: want true or false (at point 0)",
		"sweep merge none":                                                        "none: has no sweep.lock.yaml: it is not the folder of a sweep",
		"sweep race s.sweep --best p99_ttft":                                      "--within",
		"sweep race s.sweep --best p99_tftt --within 1%":                          "p99_tftt",
		"sweep race s.sweep --best p99_ttft --within 1":                           "--within 1: want a share like 1%, or a number above 0 in the unit of p99_ttft, like 5ms for a latency",
		"sweep race s.sweep --best p99_ttft --within 0%":                          "--within 0%: want a share",
		"sweep race s.sweep --best p99_ttft --within -5ms":                        "--within",
		"sweep race s.sweep --best p99_ttft --within 1% --confidence 1":           "--confidence is 1: want above 0.5, at most 0.9999",
		"sweep race s.sweep --best p99_ttft --within 1% --max-replicates 2":       "--max-replicates is 2: want at least 10",
		"sweep race s.sweep --best p99_ttft --within 1% --max-replicates 1000000": "--max-replicates is 1000000: want at most 9999",
		"sweep race none --best p99_ttft --within 1%":                             "none: has no sweep.lock.yaml",
	} {
		s := blis(t, nil, strings.Fields(args)...)
		if s.code != exitInput || !strings.Contains(s.err, want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", args, s.code, s.err)
		}
	}
}

func TestShardsOfArrayJobs(t *testing.T) {
	slurm := func(id, least, count string) map[string]string {
		return map[string]string{"SLURM_ARRAY_TASK_ID": id, "SLURM_ARRAY_TASK_MIN": least, "SLURM_ARRAY_TASK_COUNT": count}
	}
	for _, c := range []struct {
		environment map[string]string
		want        string
	}{
		{slurm("3", "0", "16"), "3 of 16"},
		{slurm("5", "1", "5"), "4 of 5"},
		{slurm("8", "0", "5"), "--shard auto: part 8 of 5 by SLURM_ARRAY_TASK_ID: want an array without gaps, like --array=0-15"},
		{slurm("x", "0", "5"), `--shard auto: SLURM_ARRAY_TASK_ID is "x": want a whole number`},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "1"}, `--shard auto: SLURM_ARRAY_TASK_MIN is "": want a whole number`},
		{map[string]string{"JOB_COMPLETION_INDEX": "2", "BLIS_SHARDS": "3"}, "2 of 3"},
		{map[string]string{"JOB_COMPLETION_INDEX": "2"}, `--shard auto: BLIS_SHARDS is "": want a whole number`},
		{map[string]string{"JOB_COMPLETION_INDEX": "3", "BLIS_SHARDS": "3"}, "--shard auto: part 3 of 3 by JOB_COMPLETION_INDEX: want one below BLIS_SHARDS, which is the job's completions"},
	} {
		shard, err := shardOf("auto", func(name string) (string, bool) { v, ok := c.environment[name]; return v, ok })
		got := ""
		if err == nil {
			got = strings.ReplaceAll(shard.String(), "/", " of ")
		} else {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.environment, got, c.want)
		}
	}
}

// Shards by the environment, in one folder, give what one sweep gives; merge says what is
// missing.
func TestMergeOfShards(t *testing.T) {
	sweepFolder(t, "axes: {rate: [1, 2, 3], tp: [1, 3]}\nreplicates: 2\n")
	done(t, "sweep", "s.yaml")
	for _, i := range []string{"0", "2"} {
		s := blis(t, map[string]string{"JOB_COMPLETION_INDEX": i, "BLIS_SHARDS": "3"}, "sweep", "s.yaml", "-o", "shards", "--shard", "auto")
		if s.code != exitDone || s.out != "" || !strings.Contains(s.err, "blis: shard "+i+"/3 of shards is done; 8 points are left to other shards; ") {
			t.Errorf("exit %d: %s%s", s.code, s.err, s.out)
		}
	}
	s := blis(t, nil, "sweep", "merge", "shards")
	if s.code != exitCheck || !regexp.MustCompile(`^blis: .*\b4 .*\n$`).MatchString(s.err) || s.out != "" {
		t.Errorf("exit %d: %s%s", s.code, s.err, s.out)
	}
	t.Log(s.err)
	if s := done(t, "sweep", "show", "shards"); !strings.Contains(s.out, "4 not run yet or not shown") {
		t.Error(s.out)
	}
	done(t, "sweep", "s.yaml", "-o", "shards", "--shard", "1/3")
	whole := done(t, "sweep", "merge", "shards")
	if read(t, "shards/points.sorted.jsonl") != read(t, "s.sweep/points.sorted.jsonl") {
		t.Error("other bytes")
	}
	if strings.TrimPrefix(whole.out, "shards") != strings.TrimPrefix(done(t, "sweep", "show", "s.sweep").out, "s.sweep") {
		t.Error(whole.out)
	}
	if err := os.WriteFile("t.yaml", []byte(sweepHead+"axes: {rate: [1, 2]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done(t, "sweep", "t.yaml")
	if s := blis(t, nil, "sweep", "merge", "shards", "t.sweep"); s.code != exitInput || !strings.Contains(s.err, "shards and t.sweep are folders of different sweeps") {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
}

func TestShowOfASweep(t *testing.T) {
	result, rows := loadSchemaOf(t, "sweep"), loadSchemaOf(t, "point")
	sweepFolder(t, "axes:\n  rate: [5, 50]\n  machine: {one: {num-instances: 1}, \"two, \\\"big\\\"\": {num-instances: 2}}\n  tp: [1, 3]\nreplicates: 3\n")
	first := done(t, "sweep", "s.yaml", "--pareto", "cost,p99_ttft")
	if again := done(t, "sweep", "show", "s.sweep", "--pareto", "cost,p99_ttft"); again.out != first.out || again.err != "" {
		t.Errorf("%s%s\nwant\n%s", again.err, again.out, first.out)
	}
	if !strings.Contains(first.out, "12 points ok, 12 refused") || !strings.Contains(first.out, "●") || !strings.Contains(first.out, "12 points without a result, like point 3: ") {
		t.Error(first.out)
	}
	list, err := csv.NewReader(strings.NewReader(done(t, "sweep", "show", "s.sweep", "--format", "csv").out)).ReadAll()
	if err != nil || len(list) != 9 || list[3][1] != `two, "big"` || list[0][0] != "rate" {
		t.Errorf("%v, %q", err, list)
	}
	one := done(t, "sweep", "show", "s.sweep", "--format", "json", "--where", "rate == 5 and machine == 'one' and status == 'ok'", "--measures", "p99_ttft,cost")
	shown := resultOf(t, one.out)
	if groups := shown["combinations"].([]any); len(groups) != 1 || len(shown["measures"].([]any)) != 2 {
		t.Error(one.out)
	}
	for _, text := range []string{one.out, done(t, "sweep", "show", "s.sweep", "--format", "json", "--pareto", "cost,p99_ttft").out} {
		for _, bad := range result.check(text) {
			t.Error(bad)
		}
	}
	// Without prices there is no cost.
	if err := os.WriteFile("free.yaml", []byte("schema: blis.sweep/v1\nbase: {num-requests: 50}\naxes: {rate: [1, 2]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if free := done(t, "sweep", "free.yaml", "--pareto", "cost,p99_ttft"); !strings.Contains(free.out, "No combination has both cost and p99_ttft: there is nothing to draw.\n") {
		t.Error(free.out)
	}
	none := done(t, "sweep", "show", "s.sweep", "--where", "p99_ttft != None and p99_ttft < 0")
	if !strings.Contains(none.out, "There is no combination to show.\n") {
		t.Error(none.out)
	}
	for _, name := range []string{"points.jsonl", "points.sorted.jsonl"} {
		for line := range strings.Lines(read(t, filepath.Join("s.sweep", name))) {
			for _, bad := range rows.check(line) {
				t.Errorf("%s: %s", name, bad)
			}
		}
	}
}

// A race selects the same point by the same runs on any number of workers, and goes on
// where it ended.
func TestRaceOfASweep(t *testing.T) {
	result := loadSchemaOf(t, "race")
	sweepFolder(t, "")
	if err := os.WriteFile("s.yaml", []byte(strings.Replace(sweepHead, "num-requests: 50", "num-requests: 50, rate: 20", 1)+"axes: {num-instances: [1, 2, 3]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done(t, "sweep", "s.yaml", "-o", "race-one")
	done(t, "sweep", "s.yaml", "-o", "race-two")
	race := func(dir, workers string) string {
		t.Helper()
		return strings.ReplaceAll(done(t, "sweep", "race", dir, "--best", "mean_tpot", "--within", "1%", "--workers", workers).out, dir, "DIR")
	}
	want := race("race-one", "1")
	if got := race("race-two", "2"); got != want || !strings.HasPrefix(want, "best by mean_tpot: num-instances=3\n") {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	log := read(t, "race-one/race-mean_tpot.jsonl")
	if got := race("race-one", "2"); got != want || read(t, "race-one/race-mean_tpot.jsonl") != log {
		t.Errorf("again:\n%s\nwant\n%s", got, want)
	}
	half := log[:len(log)/2] // a row is cut
	if err := os.WriteFile("race-one/race-mean_tpot.jsonl", []byte(half), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := race("race-one", "2"); got != want {
		t.Errorf("resumed:\n%s\nwant\n%s", got, want)
	}
	if n, _ := lines("race-one/race-mean_tpot.jsonl"); n != strings.Count(log, "\n") {
		t.Errorf("%d rows, want %d", n, strings.Count(log, "\n"))
	}
	if n, _ := lines("race-one/points.jsonl"); n != 3 {
		t.Errorf("points.jsonl has %d rows", n)
	}
	for _, bad := range result.check(done(t, "sweep", "race", "race-one", "--best", "mean_tpot", "--within", "1%", "--format", "json").out) {
		t.Error(bad)
	}
}

// What would run is said without a folder.
func TestDryRunOfASweep(t *testing.T) {
	result := loadSchemaOf(t, "sweep-preview")
	sweepFolder(t, "axes: {rate: [1, 2, 3], tp: [1, 3]}\nreplicates: 2\n")
	s := done(t, "sweep", "s.yaml", "--dry-run")
	for _, want := range []string{": 12 points of 6 combinations, 2 replicates each\n", "6 points will not run, like point 2 (rate=1, tp=3, replicate 1):\n", "\nless than a second on ", "0   rate=1, tp=1, replicate 1\n", "11  rate=3, tp=3, replicate 2\n"} {
		if !strings.Contains(s.out, want) {
			t.Errorf("%s\nwant %q", s.out, want)
		}
	}
	if exists("s.sweep") {
		t.Error("there is a folder")
	}
	for _, bad := range result.check(done(t, "sweep", "s.yaml", "--dry-run", "--format", "json").out) {
		t.Error(bad)
	}
}
