package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blis/actors"
	"blis/setup"
	"blis/vtime"
)

func TestArgumentsGiveTheScenarioBack(t *testing.T) {
	for _, s := range Scenarios() {
		args, err := s.Arguments()
		if err != nil {
			t.Fatal(err)
		}
		got := actors.DefaultConfig()
		for _, a := range args {
			name, value, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
			if err := got.Set(name, value); err != nil {
				t.Fatalf("%s: %s: %v", s.Name, a, err)
			}
		}
		if d := cmp.Diff(s.Config, got, cmp.FilterPath(func(p cmp.Path) bool {
			return p.Last().String() == ".Execution" || p.Last().String() == ".Custom"
		}, cmp.Ignore())); d != "" {
			t.Errorf("%s: %v\n%s", s.Name, args, d)
		}
	}
}

// The size of each scenario is part of its budget: a smaller one would be met
// by less work.
func TestScenariosAreThoseOfTheBudget(t *testing.T) {
	want := map[string]struct {
		requests  int64
		instances int
		budgetMS  int64
	}{
		"line1": {1_000, 1, 20}, "line2": {10_000, 4, 50},
		"line3/round-robin": {100_000, 16, 200}, "line3/least-loaded": {100_000, 16, 250}, "line3/weighted": {100_000, 16, 300},
		"line4/round-robin": {1_000_000, 256, 2_000}, "line4/least-loaded": {1_000_000, 256, 4_000},
		"line5/least-loaded": {10_000_000, 1_000, 30_000}, "line5/weighted": {10_000_000, 1_000, 30_000},
	}
	for _, s := range budgeted() {
		c := &s.Config
		w, ok := want[s.Name]
		if !ok || c.NumRequests != w.requests || c.NumInstances != w.instances || s.Budget.Milliseconds() != w.budgetMS || c.Rate != float64(44*w.instances) {
			t.Errorf("%s: %d requests, %d instances, rate %v, budget %v", s.Name, c.NumRequests, c.NumInstances, c.Rate, s.Budget)
		}
		stale := strings.HasPrefix(s.Name, "line5")
		if stale != (c.SnapshotRefreshInterval == 50*vtime.Millisecond) || stale != (c.InFlight == "periodic") {
			t.Errorf("%s: refresh %v, in-flight %s", s.Name, c.SnapshotRefreshInterval, c.InFlight)
		}
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestChooseTakesNamesGroupsAndAll(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  int
	}{{nil, 5}, {[]string{"line3"}, 3}, {[]string{"line3/weighted", "line1"}, 2}, {[]string{"growth"}, 6}, {[]string{"content"}, 7}, {[]string{"all"}, 22}} {
		list, err := choose(test.names)
		if err != nil || len(list) != test.want {
			t.Errorf("%v: %d scenarios, error %v: want %d", test.names, len(list), err, test.want)
		}
	}
}

func TestWrongOptionsAreInputErrors(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"schema":"blis.run/v1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"unknown scenario": {Scenarios: []string{"line9"}},
		"no cores":         {CPUs: []int{0}},
		"negative runs":    {Runs: -1},
		"missing file":     {Compare: filepath.Join(t.TempDir(), "none.json")},
		"not a report":     {Compare: other},
		"limit alone":      {FailAbove: 0.2},
		"two comparisons":  {Compare: other, Against: other},
	} {
		var input *setup.InputError
		if _, err := Run(context.Background(), o); !errors.As(err, &input) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v: want one line of input error", name, err)
		}
	}
}

func TestShareReadsPercentAndFraction(t *testing.T) {
	for text, want := range map[string]Share{"20%": 0.2, "0.2": 0.2, " 5 %": -1, "x": -1, "-1%": -1, "NaN": -1, "": -1} {
		var s Share
		if err := s.UnmarshalText([]byte(text)); (err != nil) != (want < 0) || err == nil && s != want {
			t.Errorf("%q: %v, error %v", text, s, err)
		}
	}
}

func TestRunMeasuresChildProcesses(t *testing.T) {
	r, err := Run(context.Background(), Options{Scenarios: []string{line1, line2}, CPUs: []int{1, 2}, Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Scenarios) != 2 || len(r.Scenarios[0].Cores) != 2 {
		t.Fatalf("%d scenarios", len(r.Scenarios))
	}
	for _, s := range r.Scenarios {
		if s.WallScale != 2 || s.CPUScale != 1 {
			t.Errorf("%s: scales %v and %v: want 2 and 1", s.Name, s.WallScale, s.CPUScale)
		}
		if s.LatencyModel != "blackbox" || s.CoefficientSet == nil || *s.CoefficientSet != "given" {
			t.Errorf("%s: measured by %q, %v: want the blackbox that the scenario gives", s.Name, s.LatencyModel, s.CoefficientSet)
		}
		for _, c := range s.Cores {
			if !(c.WallS > 0) || !(c.CPUS > 0) || len(c.Digest) != 16 || (c.Met == nil) != (c.CPUs > 1) {
				t.Errorf("%s: %+v", s.Name, c)
			}
			if c.Met != nil && (*c.Met != (c.WallS <= 2*s.BudgetS) || *c.MetCPU != (c.CPUS <= s.BudgetS)) {
				t.Errorf("%s: met %v and %v with %+v", s.Name, *c.Met, *c.MetCPU, c)
			}
		}
	}
	if f := r.Failures(); len(f) > 0 {
		t.Errorf("failures: %v", f)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "line2") {
		t.Errorf("error %v, text:\n%s", err, text.String())
	}
}

// Four cores that take a third of what two took are 3 times as fast and use
// the added cores to 150 %.
func TestSpeedupAndEfficiencyAreOfTheFirst(t *testing.T) {
	s := ScenarioTimes{}
	for _, c := range []struct {
		cpus              int
		wall              time.Duration
		speed, efficiency float64
	}{{2, 6 * time.Second, 1, 1}, {4, 2 * time.Second, 3, 1.5}, {8, 3 * time.Second, 2, 0.5}} {
		r := s.summarize(c.cpus, []sample{{wall: c.wall}})
		if r.Speedup != c.speed || r.Efficiency != c.efficiency {
			t.Errorf("%d cores: %v and %v, want %v and %v", c.cpus, r.Speedup, r.Efficiency, c.speed, c.efficiency)
		}
		s.Cores = append(s.Cores, r)
	}
}

func TestDigestsThatDependOnTheCoresFail(t *testing.T) {
	t.Setenv("BENCH_TEST_FICKLE", "1")
	r, err := Run(context.Background(), Options{Scenarios: []string{line1}, CPUs: []int{1, 2}, Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Failures(); len(f) != 1 || !strings.Contains(f[0], "digest") {
		t.Errorf("failures: %q: want one about digests", f)
	}
}

// The other binary runs in turn and is compared as it is; one that takes a third
// of the time is a failure.
func TestAgainstAnotherBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), Options{Scenarios: []string{line1}, CPUs: []int{1, 2}, Runs: 3, Against: self})
	if err != nil || len(r.Comparison) != 2 || !r.Comparison[0].SameDigest || r.Comparison[0].BeforeS <= 0 || r.FailAbove != nil {
		t.Fatalf("%+v, error %v", r, err)
	}
	slow, quick := ScenarioTimes{}, ScenarioTimes{}
	slow.Cores, quick.Cores = []Times{{CPUs: 1, CPUS: 3, WallS: 1}}, []Times{{CPUs: 1, CPUS: 1, WallS: 3}}
	list := changes(&quick, &slow, 0.2, (*ScenarioTimes).plain)
	if len(list) != 1 || list[0].WithinLimit || list[0].Factor != 3 || !changes(&slow, &quick, 0.2, (*ScenarioTimes).plain)[0].WithinLimit {
		t.Errorf("%+v: want 1 → 3 as a failure", list)
	}
}

func TestRunsThatDifferFail(t *testing.T) {
	s := ScenarioTimes{Name: line1}
	s.Cores = append(s.Cores, s.summarize(1, []sample{{wall: 1, digest: "a"}, {wall: 3, digest: "b"}, {wall: 2, digest: "a"}}))
	r := Report{Scenarios: []ScenarioTimes{s}}
	if f := r.Failures(); len(f) != 1 || s.Cores[0].WallS != 2e-9 {
		t.Errorf("%q, %+v: want one failure and the median", f, s.Cores[0])
	}
}

func TestCompareDividesEachByItsScale(t *testing.T) {
	report := func(cpuScale, wallScale float64) *Report {
		return &Report{Scenarios: []ScenarioTimes{{Name: line1, WallScale: wallScale, CPUScale: cpuScale,
			Cores: []Times{{CPUs: 1, CPUS: 6, WallS: 60}, {CPUs: 2, CPUS: 600, WallS: 6}}}}}
	}
	list := compare(report(1, 1), report(2, 3), 0)
	if len(list) != 2 || list[0].NowS != 3 || list[1].NowS != 2 || list[0].BeforeS != 6 || list[1].BeforeS != 6 {
		t.Errorf("%+v: want 6 → 3 and 6 → 2", list)
	}
}

func TestCompareFailsAboveItsLimit(t *testing.T) {
	report := func(cpu, wall float64) *Report {
		return &Report{Schema: Schema, Scenarios: []ScenarioTimes{{Name: line1, WallScale: 2, CPUScale: 1,
			Cores: []Times{{CPUs: 1, CPUS: cpu, WallS: 9, Digest: "a"}, {CPUs: 2, CPUS: 9, WallS: wall, Digest: "a"}}}}}
	}
	file := filepath.Join(t.TempDir(), "earlier.json")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(report(1, 1).WriteJSON(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	earlier, err := readReport(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		cpu, wall float64
		limit     Share
		failures  int
	}{{1.1, 1.1, 0.2, 0}, {1.3, 1, 0.2, 1}, {1, 1.3, 0.2, 1}, {5, 5, 0, 0}} {
		now := report(test.cpu, test.wall)
		now.Comparison = compare(earlier, now, test.limit)
		if got := now.Failures(); len(now.Comparison) != 2 || len(got) != test.failures {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// Growth is of runs that take turns: a slow minute that hits both runs of a pair changes
// nothing.
func TestGrowthIsTheMedianOfPairs(t *testing.T) {
	s := &Scenario{Name: "b", Against: "a", AtMost: 3}
	if g := growthOf(s, [][2]float64{{4, 1}, {40, 10}, {1, 1}, {5, 0}}); g != (Growth{Name: "b", Against: "a", Factor: 4, AtMost: 3}) {
		t.Errorf("%+v: want factor 4, above 3", g)
	}
	if g := growthOf(s, [][2]float64{{2, 1}, {6, 2}}); g.Factor != 2.5 || !g.Met {
		t.Errorf("%+v: want factor 2.5", g)
	}
	if g := growthOf(s, [][2]float64{{2, 0}}); g.Factor != 0 || g.Met {
		t.Errorf("%+v: want no factor, not met", g)
	}
}

func TestGrowthIsMeasuredWhereBothScenariosAre(t *testing.T) {
	for _, c := range []struct{ scenarios, want []string }{
		{[]string{"growth/10K", "growth/100K", "growth/output-x8"}, []string{"growth/100K against growth/10K", "growth/output-x8 against growth/100K"}},
		{[]string{"growth/100K"}, []string{}},
	} {
		m, err := newMeasurement(&Options{Scenarios: c.scenarios, Runs: 2})
		if err != nil {
			t.Fatal(err)
		}
		list, err := m.growth(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, g := range list {
			names = append(names, g.Name+" against "+g.Against)
			if !(g.Factor > 0) {
				t.Errorf("%+v", g)
			}
		}
		if !slices.Equal(names, c.want) || list == nil {
			t.Errorf("%v: %q, want %q", c.scenarios, names, c.want)
		}
	}
}

func TestCalibrationReadsEveryLine(t *testing.T) {
	p := newProbe(1 << 16)
	seen := map[uint32]bool{}
	for range (1 << 16) / lineBytes {
		p.round(1)
		seen[p.at] = true
	}
	if len(seen) != 1<<16/lineBytes || p.at != 0 {
		t.Errorf("%d lines of %d in one cycle", len(seen), 1<<16/lineBytes)
	}
}

func TestAllocationsPerRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("300,000 requests")
	}
	for _, s := range budgeted() {
		if s.Name != line3+"/round-robin" {
			continue
		}
		got, digest, err := allocationsPerRequest(context.Background(), &s)
		if err != nil || got == nil || digest == "" {
			t.Fatalf("%v, digest %q, error %v", got, digest, err)
		}
		if *got >= 0.01 {
			t.Errorf("%v allocations per request: want below 0.01", *got)
		}
	}
}
