package sweepfile_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"blis/actors"
	"blis/cli"
	"blis/study"
	"blis/study/pointlog"
	"blis/study/sweepfile"
)

// featureFiles are sweep files that together use all that there is.
var featureFiles = map[string]string{
	"plain":              badHead + "axes: {rate: [5, 10.5, 1e1], num-instances: [1, 2]}\n",
	"labels":             badHead + "axes:\n  machine:\n    small one: {hardware: H100, tp: 1}\n    \"large, ü\": {hardware: H200, tp: 2}\n  rate: [5]\nwhere: machine != 'none' and gpus <= 8\n",
	"bundles":            badHead + "axes:\n  policies: [round-robin, mine.yaml, mine]\n",
	"bundles, labelled":  badHead + "axes:\n  router:\n    a: {policies: {routing: {type: least-loaded}}}\n    b: {policies: mine.yaml, rate: 3}\n",
	"bundle fields":      badHead + "axes:\n  routing.type: [weighted]\n  routing.params.queue-depth: {from: 0.1, to: 10, points: 3, scale: log}\n",
	"spans":              badHead + "axes:\n  rate: {from: 0.1, to: 0.7, step: 0.1}\n  num-instances: {from: 1, to: 3, step: 1}\n  tp: {from: 1, to: 4, points: 2, scale: log}\n",
	"latin hypercube":    badHead + "axes:\n  rate: {from: 0.1, to: 10, scale: log}\n  num-instances: {from: 1, to: 9}\n  tp: [1, 2]\nsample: {method: lhs, points: 12, seed: 18446744073709551615}\n",
	"random":             badHead + "axes:\n  rate: {from: 1e-7, to: 1e6}\nsample: {method: random, points: 5}\n",
	"limits":             badHead + "axes: {rate: [1]}\nreplicates: 3\nlimits: {points: 1e6, wall: 1m30.5s, events: 2e9}\nlatency_per_point: true\n",
	"where":              badHead + "axes: {rate: [1, 2]}\nwhere: \"rate < 2 or \\\"x\\\" == 'y'\"\n",
	"truth":              badHead + "axes: {async-scheduling: [true, false], enable-expert-parallel: [false]}\n",
	"base in a file":     "schema: blis.sweep/v1\nbase: base.yaml\naxes: {rate: [1, 2]}\n",
	"base with a trace":  "schema: blis.sweep/v1\nbase: {trace: trace.csv, trace-limit: 5}\naxes: {num-instances: [1, 2]}\n",
	"traces":             "schema: blis.sweep/v1\nbase: {trace-limit: 5}\naxes: {trace: [trace.csv, ./trace.csv]}\n",
	"workload":           "schema: blis.sweep/v1\nbase: {workload-spec: work.yaml}\naxes: {num-instances: [1, 2]}\nreplicates: 2\n",
	"workload, seed":     "schema: blis.sweep/v1\nbase: {workload-spec: work.yaml, seed: 42}\naxes: {num-instances: [1, 2]}\nreplicates: 2\n",
	"workload, seeds":    "schema: blis.sweep/v1\nbase: {workload-spec: work.yaml, seed: 7, workload-seed: 9}\naxes: {num-instances: [1, 2]}\nreplicates: 2\n",
	"seeds":              badHead + "axes: {seed: [1, 18446744073709551615], workload-seed: [3, 4]}\n",
	"base of all kinds":  "schema: blis.sweep/v1\nbase:\n  num-requests: 20\n  activation-memory: 2GB\n  timeout: 30s\n  slo-targets: \"ttft=500ms,tpot=50ms\"\n  alpha-coeffs: [1, 2.5, 3]\n  beta-coeffs: [10, 2, 3]\n  policies: {routing: {type: weighted, params: {queue-depth: 2}}, metadata: {name: mine}}\naxes: {rate: [1]}\n",
	"base with policies": "schema: blis.sweep/v1\nbase: {num-requests: 20, admission-policy: token-bucket, token-bucket-capacity: 500, routing-policy: weighted, routing-scorers: \"queue-depth:3\", snapshot-refresh-interval: 5ms, min-replicas: 2, autoscale-policy: queue-depth}\naxes: {rate: [1], routing.params.queue-depth: [1, 2]}\n",
	"refused ones":       badHead + "axes: {tp: [1, 3]}\n",
}

func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files { // any order
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// inFolder makes a folder with the files that the sweeps read the current one.
func inFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, map[string]string{
		"base.yaml":  "num-requests: 20\nrate: 3\n",
		"mine.yaml":  "routing: {type: least-loaded}\n",
		"mine":       "routing: {type: weighted, params: {queue-depth: 3}}\n",
		"work.yaml":  "version: \"2\"\nseed: 3\naggregate_rate: 5\nnum_requests: 20\nclients:\n- id: a\n  rate_fraction: 1\n  arrival: {process: poisson}\n  input_distribution: {type: constant, params: {value: 20}}\n  output_distribution: {type: constant, params: {value: 5}}\n",
		"trace.csv":  "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n",
		"sweep.yaml": badHead + "axes: {rate: [1, 2]}\n",
	})
}

func planOf(t *testing.T, name, text string) (*study.SweepPlan, string) {
	t.Helper()
	s, err := cli.ParseSweep(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewSweepPlan(context.Background(), s, study.Pool{})
	if err != nil {
		t.Fatal(err)
	}
	lock, err := sweepfile.Lock(p)
	if err != nil {
		t.Fatal(err)
	}
	return p, string(lock)
}

// A lock is a sweep file of the same points, and has itself as its lock.
func TestLockIsTheSameSweep(t *testing.T) {
	inFolder(t)
	for name, text := range featureFiles {
		t.Run(name, func(t *testing.T) {
			p, lock := planOf(t, "sweep.yaml", text)
			q, again := planOf(t, "results/sweep.lock.yaml", lock)
			if lock != again {
				t.Errorf("another lock: %s", firstDifference(again, lock))
			}
			if p.Len() != q.Len() {
				t.Fatalf("%d points, want %d", q.Len(), p.Len())
			}
			for i := range p.Len() {
				a, b := pointlog.Row{Axes: p.Coordinates(i)}, pointlog.Row{Axes: q.Coordinates(i)}
				x, err := a.AppendJSON(nil)
				y, err2 := b.AppendJSON(nil)
				if p.Key(i) != q.Key(i) || string(x) != string(y) || (err == nil) != (err2 == nil) {
					t.Errorf("point %d: %v of %v, want %v of %v", i, q.Key(i), q.Coordinates(i), p.Key(i), p.Coordinates(i))
				}
				c, err := p.Config(i)
				d, err2 := q.Config(i)
				if c.Seed != d.Seed || (c.WorkloadSeed == nil) != (d.WorkloadSeed == nil) || c.WorkloadSeed != nil && *c.WorkloadSeed != *d.WorkloadSeed || (err == nil) != (err2 == nil) {
					t.Errorf("point %d: seeds %v %v, want %v %v", i, d.Seed, d.WorkloadSeed, c.Seed, c.WorkloadSeed)
				}
			}
			if p.Latency.Model != q.Latency.Model || p.Latency.Coefficients != q.Latency.Coefficients {
				t.Errorf("latency model %v, want %v", q.Latency, p.Latency)
			}
		})
	}
}

// The same values on every machine, without the noise of binary fractions.
func TestSpans(t *testing.T) {
	for span, want := range map[string]string{
		"rate: {from: 0.1, to: 0.7, step: 0.1}":                   "0.1 0.2 0.3 0.4 0.5 0.6 0.7",
		"rate: {from: 0, to: 1, step: 0.25}":                      "0 0.25 0.5 0.75 1",
		"rate: {from: 1e6, to: 3e6, step: 1e6}":                   "1000000 2000000 3000000",
		"rate: {from: 1, to: 2, points: 4}":                       "1 1.33333 1.66667 2",
		"rate: {from: 1, to: 2, points: 2, scale: linear}":        "1 2",
		"rate: {from: 0.1, to: 10, points: 5, scale: log}":        "0.1 0.316228 1 3.16228 10",
		"rate: {from: 0.123456789, to: 1, points: 2}":             "0.123456789 1",
		"num-instances: {from: 2, to: 16, step: 7}":               "2 9 16",
		"num-instances: {from: 1, to: 64, points: 4, scale: log}": "1 4 16 64",
		"num-requests: {from: 1000000, to: 3e6, step: 1e6}":       "1000000 2000000 3000000",
	} {
		s, err := cli.ParseSweep("s.yaml", []byte(badHead+"axes:\n  "+span+"\n"))
		if err != nil {
			t.Errorf("%s: %v", span, err)
			continue
		}
		var got []string
		for _, v := range s.Axes[0].Values {
			got = append(got, string(v.Value))
			if v.Assign[0].Text != string(v.Value) {
				t.Errorf("%s: %s is %s", span, v.Value, v.Assign[0].Text)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", span, got, want)
		}
	}
}

// Limits and counts are whole numbers however they are spelled.
func TestWholeNumbersWithExponents(t *testing.T) {
	s, err := cli.ParseSweep("s.yaml", []byte(badHead+"axes: {rate: [1]}\nreplicates: 1e1\nlimits: {points: 1e6, events: 2e9}\n"))
	if err != nil || s.Limits.Points != 1_000_000 || s.Limits.Events != 2_000_000_000 || s.Replicates != 10 {
		t.Errorf("%+v, %v", s.Limits, err)
	}
}

// A folder is of one sweep, of the content of its files, and of one version.
func TestFolderIsOfOneSweep(t *testing.T) {
	inFolder(t)
	text := featureFiles["base with a trace"]
	open := func(text string) error {
		p, _ := planOf(t, "s.yaml", text)
		f, err := sweepfile.Open("results", p, pointlog.Options{})
		if err == nil {
			err = f.Close()
		}
		return err
	}
	refused := func(what, text string, wants ...string) {
		t.Helper()
		err := open(text)
		if err == nil {
			t.Errorf("%s: accepted", what)
			return
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
	}
	for range 2 {
		if err := open(text); err != nil {
			t.Fatal(err)
		}
	}
	refused("another sweep", text+"replicates: 2\n", "results/sweep.lock.yaml:", "the folder is of another sweep", "points: 2", "points: 4")
	before, err := os.ReadFile("trace.csv")
	if err != nil {
		t.Fatal(err)
	}
	write(t, map[string]string{"trace.csv": strings.Replace(string(before), ",44", ",45", 1)})
	refused("a file that changed", text, "trace.csv: another content than when the sweep of results began: want the file as it was, or another folder")
	write(t, map[string]string{"trace.csv": string(before)})
	if err := open(text); err != nil {
		t.Error(err)
	}
	lock, err := os.ReadFile("results/sweep.lock.yaml")
	if err != nil {
		t.Fatal(err)
	}
	now := fmt.Sprint(actors.SemanticsVersion)
	write(t, map[string]string{"results/sweep.lock.yaml": strings.Replace(string(lock), "semantics: "+now, "semantics: 77", 1)})
	refused("another version", text, "semantics", "77", now)
	if _, err := cli.ReadSweep("results/sweep.lock.yaml"); err == nil || !strings.Contains(err.Error(), "lock.semantics: 77: the sweep is of another version of blis, this one has "+now) {
		t.Error(err)
	}
}

// FuzzRead: no text of a sweep file ends in a panic, an error is one line, and a sweep that
// is read passes its own check.
func FuzzRead(f *testing.F) {
	for _, bad := range badFiles {
		f.Add(bad.text)
	}
	for _, text := range featureFiles {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "/") && !strings.HasPrefix(text, "schema: blis.sweep/v1") || strings.Count(text, "/") > 1 {
			t.Skip("may name files")
		}
		s, err := cli.ParseSweep("s.yaml", []byte(text))
		if err == nil {
			err = s.Check()
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "s.yaml:") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// firstDifference is the first line in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "\nwant " + b[i]
		}
	}
	return "one is longer"
}
