package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/setup"
	"blis/study/pointlog"
)

// smallBase is a run of few requests.
func smallBase() setup.Config {
	c := setup.DefaultConfig()
	c.NumRequests, c.LatencyModel, c.Rate = 20, "roofline", 10
	return c
}

// numbers is an axis of numbers.
func numbers(name string, values ...string) Axis {
	a := Axis{Name: name}
	for _, v := range values {
		a.Values = append(a.Values, AxisValue{Value: json.RawMessage(v), Assign: []setup.Assignment{{Name: name, Text: v}}})
	}
	return a
}

// labels is an axis of labels, each with settings like "tp=2 rate=3".
func labels(name string, values ...string) Axis {
	a := Axis{Name: name, Labels: true}
	for i := 0; i < len(values); i += 2 {
		v := AxisValue{Value: json.RawMessage(`"` + values[i] + `"`)}
		for _, one := range strings.Fields(values[i+1]) {
			setting, text, _ := strings.Cut(one, "=")
			v.Assign = append(v.Assign, setup.Assignment{Name: setting, Text: text})
		}
		a.Values = append(a.Values, v)
	}
	return a
}

func mustPlan(t *testing.T, s Sweep) *SweepPlan {
	t.Helper()
	p, err := NewSweepPlan(context.Background(), s, Pool{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The order of points: axes in order, the last fastest, Where, then replicates.
func TestPointsStandInTheOrderOfTheFile(t *testing.T) {
	s := NewSweep(smallBase(), numbers("rate", "5", "10", "20"), labels("machine", "small", "tp=1 num-instances=2", "large", "tp=2 num-instances=4"))
	s.Where, s.Replicates = "gpus * rate <= 80 and machine != 'none'", 2
	p := mustPlan(t, s)
	var got []string
	for i := range p.Len() {
		c, err := p.Config(i)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s: %v/s, %d GPUs, seed %d", p.label(p.Values(i)), c.Rate, c.NumInstances*c.TP, c.Seed))
	}
	want := []string{
		"rate=5, machine=small: 5/s, 2 GPUs, seed 42", "rate=5, machine=small: 5/s, 2 GPUs, seed 43",
		"rate=5, machine=large: 5/s, 8 GPUs, seed 42", "rate=5, machine=large: 5/s, 8 GPUs, seed 43",
		"rate=10, machine=small: 10/s, 2 GPUs, seed 42", "rate=10, machine=small: 10/s, 2 GPUs, seed 43",
		"rate=10, machine=large: 10/s, 8 GPUs, seed 42", "rate=10, machine=large: 10/s, 8 GPUs, seed 43",
		"rate=20, machine=small: 20/s, 2 GPUs, seed 42", "rate=20, machine=small: 20/s, 2 GPUs, seed 43",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A key is of what runs, however it is spelled: settings at their defaults, axes and
// labels do not matter; all else does.
func TestKeysAreOfWhatRuns(t *testing.T) {
	key := func(change func(*setup.Config), axes ...Axis) pointlog.Key {
		t.Helper()
		base := smallBase()
		change(&base)
		return mustPlan(t, NewSweep(base, axes...)).Key(0)
	}
	same := func(*setup.Config) {}
	one := key(same, numbers("rate", "10"))
	for name, other := range map[string]pointlog.Key{
		"another axis":        key(same, numbers("tp", "1")),
		"a label":             key(same, labels("machine", "a", "hardware=H100 rate=10")),
		"a default, given":    key(func(c *setup.Config) { c.MaxNumSeqs = 1024 }, numbers("rate", "10")),
		"a flag of a bundle":  key(same, numbers("routing.type", "round-robin")),
		"10 as 1e1":           key(same, numbers("rate", "1e1")),
		"a derived number":    key(func(c *setup.Config) { c.MaxNumBatchedTokens = 8192 }, numbers("rate", "10")),
		"another max of none": key(func(c *setup.Config) { c.SeedGiven = true }, numbers("rate", "10")),
	} {
		if other != one {
			t.Errorf("%s: another key", name)
		}
	}
	for name, other := range map[string]pointlog.Key{
		"another rate":   key(same, numbers("rate", "11")),
		"another seed":   key(func(c *setup.Config) { c.Seed = 1 }, numbers("rate", "10")),
		"another policy": key(same, numbers("routing.type", "least-loaded")),
		"targets":        key(func(c *setup.Config) { c.SLOTargets = "ttft=1s" }, numbers("rate", "10")),
	} {
		if other == one {
			t.Errorf("%s: the same key", name)
		}
	}
}

// Rows are the same on any number of workers, and a point gives what a run of it gives.
func TestRowsDoNotDependOnWorkers(t *testing.T) {
	s := NewSweep(smallBase(), numbers("rate", "10", "40"), numbers("tp", "1", "3"), numbers("num-instances", "1", "2"))
	s.Replicates = 2
	p := mustPlan(t, s)
	if p.Refused() != 8 { // TP 3 divides no heads
		t.Errorf("%d refused, want 8", p.Refused())
	}
	rows := func(workers int) []pointlog.Row {
		list := make([]pointlog.Row, p.Len())
		err := p.Run(context.Background(), p.Order(), Pool{Workers: workers}, func(r *pointlog.Row) error {
			r.WallS = 0
			list[r.Index] = *r
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	want, err := json.Marshal(rows(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{2, 3, 40} {
		if got, _ := json.Marshal(rows(workers)); string(got) != string(want) {
			t.Errorf("%d workers:\n%s\nwant\n%s", workers, got, want)
		}
	}
}

// A failed point is a row; the sweep goes on.
func TestFailedPointsAreRows(t *testing.T) {
	s := NewSweep(smallBase(), numbers("num-requests", "10", "100000"))
	s.Limits.Events = 5000
	p := mustPlan(t, s)
	status := map[int64]string{}
	err := p.Run(context.Background(), p.Order(), Pool{}, func(r *pointlog.Row) error {
		status[r.Index] = string(r.Status) + " " + string(r.Cause)
		return nil
	})
	if err != nil || status[0] != "ok " || status[1] != "failed events" {
		t.Errorf("%v, %v", status, err)
	}
	s.Limits.Events, s.Limits.Wall = 0, 1
	p = mustPlan(t, s)
	if r := p.RunPoint(context.Background(), 1, 1); r.Cause != pointlog.Wall {
		t.Errorf("%+v", r)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if r := p.RunPoint(ctx, 1, 1); r != nil {
		t.Errorf("a row of a run that was cancelled: %+v", r)
	}
}

func TestSweepErrors(t *testing.T) {
	grid := func(axes ...Axis) Sweep { return NewSweep(smallBase(), axes...) }
	with := func(change func(*Sweep)) Sweep {
		s := grid(numbers("rate", "1", "2"))
		change(&s)
		return s
	}
	for name, bad := range map[string]struct {
		sweep Sweep
		want  string
	}{
		"no axes":               {grid(), "axes: there is none"},
		"unknown":               {grid(numbers("rat", "1")), `axes.rat: unknown setting "rat", the nearest is "rate"`},
		"label like a setting":  {grid(labels("rate", "a", "rate=1")), "axes.rate: is a setting"},
		"label reads like one":  {grid(labels("num.instances", "a", "rate=1")), "axes.num.instances: reads as num_instances in where, as a setting does"},
		"twice":                 {grid(numbers("rate", "1", "1")), "axes.rate[1]: 1 is given twice"},
		"on two axes":           {grid(numbers("rate", "1"), labels("m", "a", "rate=2")), "axes.m: rate is on the axis rate too"},
		"empty":                 {grid(Axis{Name: "rate"}), "axes.rate: has no values"},
		"a text":                {grid(numbers("rate", `"fast"`)), "axes.rate[0]: --rate"},
		"where":                 {with(func(s *Sweep) { s.Where = "rate <" }), "where: "},
		"unknown name in where": {with(func(s *Sweep) { s.Where = "rte < 2" }), `where: unknown name "rte", the nearest is "rate"`},
		"no truth value":        {with(func(s *Sweep) { s.Where = "rate" }), "where: is 1, of type int: want true or false (at rate=1)"},
		"fails":                 {with(func(s *Sweep) { s.Where = "rate < 'a'" }), "where: "},
		"nothing left":          {with(func(s *Sweep) { s.Where = "rate > 5" }), "where: is true for none of 2"},
		"points":                {with(func(s *Sweep) { s.Limits.Points, s.Replicates = 3, 2 }), "limits.points: 3: the sweep has more"},
		"replicates":            {with(func(s *Sweep) { s.Replicates = 0 }), "replicates: 0"},
		"sample":                {with(func(s *Sweep) { s.Sample.Method = "sobol" }), `sample.method: "sobol"`},
		"points of a grid":      {with(func(s *Sweep) { s.Sample.Points = 3 }), "sample.points: 3: a grid"},
		"a range in a grid":     {grid(Axis{Name: "rate", Range: &Range{From: 1, To: 2}}), "axes.rate: from and to alone"},
		"all refused":           {grid(numbers("tp", "3", "5")), "all 2 points are refused, the first: "},
		"several models":        {Sweep{}, ""},
	} {
		if name == "several models" {
			continue
		}
		_, err := NewSweepPlan(context.Background(), bad.sweep, Pool{})
		if err == nil || !strings.HasPrefix(err.Error(), bad.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", name, err, bad.want)
		}
	}
}

// A Latin hypercube has one point in each slice of every axis.
func TestLatinHypercube(t *testing.T) {
	s := NewSweep(smallBase(), Axis{Name: "rate", Range: &Range{From: 10, To: 1000, Log: true}}, Axis{Name: "num-instances", Range: &Range{From: 1, To: 10, Whole: true}}, numbers("tp", "1", "2"))
	s.Sample = Sample{LHS, 20, 1}
	p := mustPlan(t, s)
	var rates, slots []int
	counts := map[string]int{}
	for i := range p.Len() {
		c, err := p.Config(i)
		if err != nil {
			t.Fatal(err)
		}
		slot := 0
		for edge := 10.0; edge*1.2589254 <= c.Rate; edge *= 1.2589254 {
			slot++
		}
		rates, slots = append(rates, slot), append(slots, c.NumInstances)
		counts[fmt.Sprint("tp ", c.TP)]++
		counts[fmt.Sprint("n ", c.NumInstances)]++
	}
	slices.Sort(rates)
	for i, slot := range rates {
		if slot != i {
			t.Errorf("slices of the rate %v", rates)
			break
		}
	}
	for n := 1; n <= 10; n++ {
		if counts[fmt.Sprint("n ", n)] != 2 {
			t.Errorf("instances %v", slots)
		}
	}
	if counts["tp 1"] != 10 {
		t.Errorf("%v", counts)
	}
}

func TestCancelledPlan(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := NewSweepPlan(ctx, NewSweep(smallBase(), numbers("rate", "1")), Pool{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A specification counts with the files that it names: another content is another key.
func TestKeysKnowTheFilesOfASpecification(t *testing.T) {
	dir := t.TempDir()
	data, err := filepath.Abs("../testdata/servegen")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "w.yaml")
	if err := os.WriteFile(file, []byte("version: \"1\"\nservegen_data: {path: data}\nnum_requests: 20\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := func() pointlog.Key {
		base := smallBase()
		base.WorkloadSpec, base.Rate = file, 0
		p := mustPlan(t, NewSweep(base, numbers("num-instances", "1")))
		if p.Refused() > 0 {
			t.Fatal(p.Refusal(0))
		}
		return p.Key(0)
	}
	before := key()
	if key() != before {
		t.Fatal("the same files, another key")
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "another.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key() == before {
		t.Error("another folder, the same key")
	}

	values := filepath.Join(dir, "lengths.txt")
	for _, text := range []string{"100\n200\n", "100\n300\n"} {
		if err := os.WriteFile(values, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("num_requests: 20\naggregate_rate: 10\nclients: [{rate_fraction: 1, input_distribution: {type: empirical, file: lengths.txt}, output_distribution: {type: constant, params: {value: 5}}}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if again := key(); again == before {
			t.Errorf("lengths %q, the same key", text)
		} else {
			before = again
		}
	}
}

// Replicates of a specification with a seed of its own are other traffic each, from that
// seed on, as those of a comparison.
func TestReplicatesGoOnFromTheSeedOfASpecification(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.yaml")
	text := "version: \"1\"\nseed: 7\naggregate_rate: 20\nnum_requests: 20\nclients:\n  - {id: a, rate_fraction: 1, input_distribution: {type: constant, params: {value: 100}}, output_distribution: {type: exponential, params: {mean: 50}}, arrival: {process: poisson}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	base := smallBase()
	base.WorkloadSpec, base.Rate, base.NumRequests = file, 0, 0
	s := NewSweep(base, numbers("num-instances", "1"))
	s.Replicates = 2
	p := mustPlan(t, s)
	if why := p.Refusal(0); why != nil {
		t.Fatal(why)
	}
	first, second := p.RunPoint(t.Context(), 0, 1), p.RunPoint(t.Context(), 1, 1)
	if first.WorkloadSeed == nil || second.WorkloadSeed == nil || *first.WorkloadSeed != 7 || *second.WorkloadSeed != 8 {
		t.Errorf("workload seeds %v and %v, want 7 and 8", first.WorkloadSeed, second.WorkloadSeed)
	}
	if *first.Value("mean_e2e") == *second.Value("mean_e2e") {
		t.Error("both replicates have the same traffic")
	}
}

// The ratio of prefill to decode instances, and settings of one pool, are axes.
func TestPoolsAreAxes(t *testing.T) {
	base := smallBase()
	base.Architecture = setup.PD
	s := NewSweep(base, labels("ratio", "1:3", "prefill-replicas=1 decode-replicas=3", "2:2", "prefill-replicas=2 decode-replicas=2"), numbers("decode-tp", "1", "2"))
	s.Where = "gpus <= 6"
	p := mustPlan(t, s)
	var got []string
	for i := range p.Len() {
		c, err := p.Config(i)
		if err != nil {
			t.Fatal(err)
		}
		effective, err := setup.Effective(c)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d:%d %d", c.PrefillReplicas, c.DecodeReplicas, setup.GPUs(&effective)))
	}
	if want := []string{"1:3 4", "2:2 4", "2:2 6"}; !slices.Equal(got, want) {
		t.Errorf("points %q, want %q", got, want)
	}
	for name, want := range map[string]string{"decode-tensor-parallel-size": "want that", "decode-model": "a pool has no model of its own", "prefill-hardwear": `the nearest is "hardware"`} {
		s.Axes[1] = numbers(name, "1")
		if _, err := NewSweepPlan(context.Background(), s, Pool{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("axis %s: %v, want %s", name, err, want)
		}
	}
}
