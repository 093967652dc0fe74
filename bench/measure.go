package bench

import (
	"context"
	"os"
	"runtime"
	"slices"
)

// defaultRuns is of how many runs a figure is the median.
const defaultRuns = 5

// measurement is Options with everything looked up.
type measurement struct {
	Options
	scenarios []Scenario
	earlier   *Report
}

func newMeasurement(o *Options) (*measurement, error) {
	m := &measurement{Options: *o}
	var err error
	if m.scenarios, err = choose(o.Scenarios); err != nil {
		return nil, err
	}
	if len(m.CPUs) == 0 {
		m.CPUs = []int{1}
	}
	for _, n := range m.CPUs {
		if n < 1 || n > 4096 {
			return nil, inputErrorf("%d cores: want 1 to 4096", n)
		}
	}
	if m.Runs == 0 {
		m.Runs = defaultRuns
	}
	if m.Runs < 0 {
		return nil, inputErrorf("%d runs: want at least 1", m.Runs)
	}
	if m.FailAbove > 0 && m.Compare == "" && m.Against == "" {
		return nil, inputErrorf("a limit for slower figures needs an earlier report or another binary to compare with")
	}
	if m.Compare != "" && m.Against != "" {
		return nil, inputErrorf("an earlier report and another binary to compare with: want one of them")
	}
	if m.Compare != "" {
		if m.earlier, err = readReport(m.Compare); err != nil {
			return nil, err
		}
	}
	if m.Binary == "" {
		if m.Binary, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// run measures all scenarios. Allocations come last: they are measured in
// this process, whose memory should be small while it starts others.
func (m *measurement) run(ctx context.Context) (*Report, error) {
	r := &Report{
		Schema: Schema, ReferenceNS: ReferenceNS,
		Machine:   Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(), Model: processorModel()},
		Scenarios: []ScenarioTimes{}, Comparison: []Change{},
	}
	dir, err := os.MkdirTemp("", "blis-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for i := range m.scenarios {
		if err := m.scenarios[i].prepare(dir); err != nil {
			return nil, err
		}
		if m.Progress != nil {
			m.Progress(i, len(m.scenarios), m.scenarios[i].Name)
		}
		t, other, err := m.measure(ctx, &m.scenarios[i])
		if err != nil {
			return nil, err
		}
		r.Scenarios = append(r.Scenarios, t)
		r.Comparison = append(r.Comparison, changes(&other, &t, m.FailAbove, (*ScenarioTimes).plain)...)
	}
	if r.Growth, err = m.growth(ctx); err != nil {
		return nil, err
	}
	for i := range m.scenarios {
		var err error
		t := &r.Scenarios[i]
		if t.AllocationsPerRequest, t.InProcessDigest, err = allocationsPerRequest(ctx, &m.scenarios[i]); err != nil {
			return nil, err
		}
	}
	if m.earlier != nil {
		r.Comparison = append(r.Comparison, compare(m.earlier, r, m.FailAbove)...)
	}
	if m.FailAbove > 0 {
		limit := float64(m.FailAbove)
		r.FailAbove = &limit
	}
	return r, nil
}

// measure takes the figures of one scenario between two calibrations, and those
// of the other binary if there is one.
func (m *measurement) measure(ctx context.Context, s *Scenario) (t, other ScenarioTimes, err error) {
	t = ScenarioTimes{Name: s.Name, Title: s.Title, Requests: s.requests(), Instances: s.Config.NumInstances, BudgetS: s.Budget.Seconds()}
	flags, err := s.Arguments()
	if err != nil {
		return t, other, err
	}
	before, err := calibrate(ctx, m.Binary)
	if err != nil {
		return t, other, err
	}
	samples, others, err := m.sample(ctx, flags)
	if err != nil {
		return t, other, err
	}
	after, err := calibrate(ctx, m.Binary)
	if err != nil {
		return t, other, err
	}
	t.LatencyModel, t.CoefficientSet = samples[0][0].ruler.LatencyModel, samples[0][0].ruler.CoefficientSet
	t.Calibration = [2]Calibration{before, after}
	t.WallScale = (before.WallNS + after.WallNS) / 2 / ReferenceNS
	t.CPUScale = (before.CPUNS + after.CPUNS) / 2 / ReferenceNS
	for i, cpus := range m.CPUs {
		t.Cores = append(t.Cores, t.summarize(cpus, samples[i]))
		if m.Against != "" {
			other.Cores = append(other.Cores, other.summarize(cpus, others[i]))
		}
	}
	return t, other, nil
}

// sample runs a scenario several times, by number of cores. The numbers of cores
// take turns, so that a busy moment hits them alike, and so do the binaries,
// which of them is first too.
func (m *measurement) sample(ctx context.Context, flags []string) (samples, others [][]sample, err error) {
	samples, others = make([][]sample, len(m.CPUs)), make([][]sample, len(m.CPUs))
	for run := range m.Runs {
		for i, cpus := range m.CPUs {
			turns := []struct {
				binary string
				into   *[]sample
			}{{m.Binary, &samples[i]}, {m.Against, &others[i]}}
			if m.Against == "" {
				turns = turns[:1]
			} else if run%2 == 1 {
				slices.Reverse(turns)
			}
			for _, turn := range turns {
				one, err := runScenario(ctx, turn.binary, cpus, flags)
				if err != nil {
					return nil, nil, err
				}
				*turn.into = append(*turn.into, one)
			}
		}
	}
	return samples, others, nil
}

// summarize takes medians.
func (t *ScenarioTimes) summarize(cpus int, samples []sample) Times {
	sorted := func(f func(sample) float64) []float64 {
		list := make([]float64, len(samples))
		for i, s := range samples {
			list[i] = f(s)
		}
		slices.Sort(list)
		return list
	}
	wall := sorted(func(s sample) float64 { return s.wall.Seconds() })
	r := Times{
		CPUs: cpus, Runs: len(samples), Digest: samples[0].digest,
		WallS: median(wall), WallMinS: wall[0], WallMaxS: wall[len(wall)-1],
		UserS:   median(sorted(func(s sample) float64 { return s.user.Seconds() })),
		SystemS: median(sorted(func(s sample) float64 { return s.system.Seconds() })),
		CPUS:    median(sorted(func(s sample) float64 { return (s.user + s.system).Seconds() })),
	}
	for _, s := range samples {
		r.PeakBytes = max(r.PeakBytes, s.peak)
		if s.digest != r.Digest {
			r.Digest = differs
		}
	}
	if t.BudgetS > 0 && cpus == 1 {
		wall, cpu := r.WallS <= t.BudgetS*t.WallScale, r.CPUS <= t.BudgetS*t.CPUScale
		r.Met, r.MetCPU = &wall, &cpu
	}
	r.Speedup, r.Efficiency = 1, 1
	if len(t.Cores) > 0 {
		r.Speedup = t.Cores[0].WallS / r.WallS
		r.Efficiency = r.Speedup * float64(t.Cores[0].CPUs) / float64(cpus)
	}
	return r
}
