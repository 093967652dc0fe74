package study

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blis/actors"
	"blis/bundle"
	"blis/metrics"
	"blis/setup"
	"blis/workload"
)

// Comparison says what to compare: bundles of policies in one cluster under the
// same traffic. Start from NewComparison.
type Comparison struct {
	// Base is the cluster and its workload. Its Policies are replaced by each
	// bundle; its other fields for policies change every bundle, as they do in
	// a run. Seeds are the seeds of the first replicate.
	Base    actors.Config
	Bundles []Bundle // at least 2; the first is the baseline

	// Source makes the requests of a replicate from its workload seed, in place of
	// the workload of Base; nil: that of Base. It is called once per run, by several
	// goroutines, and must give the same requests for the same seed.
	Source func(seed uint64) workload.Source

	// Intervals is where confidence intervals come from; empty: from seeds where
	// they make the traffic, else, of a trace, from the bootstrap.
	Intervals  Method
	Replicates int      // at least 2: runs of each bundle, with seeds that follow each other; the bootstrap takes one
	Confidence float64  // of the intervals, from 0.5 to 0.9999
	Margin     float64  // relative differences below it do not matter; from 0, below 1
	Objectives []string // names of measures for the Pareto rank; nil: see objectives
	Pool       Pool
}

// Bundle is a bundle of policies with a name to print.
type Bundle struct {
	Name     string
	Policies bundle.Bundle
	Err      error // why there are none: the bundle is not run, and the others are
}

// Defaults of a comparison.
const (
	DefaultReplicates = 10
	DefaultConfidence = 0.95
	DefaultMargin     = 0.01
)

// NewComparison is a comparison with the defaults.
func NewComparison(base actors.Config, bundles ...Bundle) Comparison {
	return Comparison{Base: base, Bundles: bundles, Replicates: DefaultReplicates, Confidence: DefaultConfidence, Margin: DefaultMargin}
}

// Compare carries a comparison out: NewPlan and Plan.Run.
func Compare(ctx context.Context, c Comparison) (*Result, error) {
	p, err := NewPlan(c)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx)
}

// Plan is a comparison that was checked.
type Plan struct {
	comparison Comparison
	result     Result // as far as it is known before the runs
	first      []int  // of each bundle: the first one whose policies are the same in effect
	runs       []int  // of each bundle: how many there will be
}

// NewPlan checks everything that can be checked before the first run. The
// errors are the errors of actors.Check, with the name of the bundle if the
// bundle causes them. A bundle that cannot run is an error only if it is the
// baseline, or if nothing is left to compare; else the others run, and its
// Compared has the error.
func NewPlan(c Comparison) (*Plan, error) {
	p := &Plan{comparison: c, result: Result{Confidence: c.Confidence, Margin: c.Margin, Measures: Measures()}}
	if err := p.check(); err != nil {
		return nil, err
	}
	for b := range c.Bundles {
		one, err := p.checkBundle(b)
		if err != nil {
			return nil, err
		}
		p.result.Bundles = append(p.result.Bundles, one)
	}
	if err := p.nothingLeft(); err != nil {
		return nil, err
	}
	if err := p.chooseIntervals(); err != nil {
		return nil, err
	}
	var err error
	if p.result.Objectives, err = p.objectives(); err != nil {
		return nil, err
	}
	p.result.fitness = p.fitness()
	p.findAlike()
	p.countRuns()
	p.result.Notes = append(p.alike(), p.intervalNotes()...)
	return p, nil
}

// checkBundle checks a bundle before its runs. A fault of the bundle is in its Err;
// the error returned ends the comparison.
func (p *Plan) checkBundle(b int) (Compared, error) {
	c := &p.comparison
	one := Compared{Name: c.Bundles[b].Name, Err: c.Bundles[b].Err}
	if one.Err == nil {
		effective, setup, err := actors.Check(p.config(b, 0))
		one.Config, one.Setup = effective, setup
		if err != nil {
			var common bool
			if one.Err, common = p.nameBundle(b, err); common {
				return one, err
			}
		}
	}
	if c.Source != nil {
		one.Config.Custom.Source = nil // it serves one run
	}
	if b > 0 {
		return one, nil
	}
	// The seed of the traffic may come from a specification: replicates go on from there.
	c.Base.WorkloadSeed = one.Config.WorkloadSeed
	return one, one.Err
}

// nothingLeft is the error of the first bundle that cannot run if there are not
// two that can.
func (p *Plan) nothingLeft() error {
	var first error
	good := 0
	for i := range p.result.Bundles {
		if err := p.result.Bundles[i].Err; err == nil {
			good++
		} else if first == nil {
			first = err
		}
	}
	if good < 2 {
		return first
	}
	return nil
}

// Bundles are the bundles of the plan with their effective configurations, without
// results.
func (p *Plan) Bundles() []Compared { return p.result.Bundles }

// Runs is how many runs there will be.
func (p *Plan) Runs() int {
	sum := 0
	for _, n := range p.runs {
		sum += n
	}
	return sum
}

// check refuses settings of a comparison that are out of range.
func (p *Plan) check() error {
	c := &p.comparison
	bad := func(format string, args ...any) error { return &actors.InputError{Text: fmt.Sprintf(format, args...)} }
	switch {
	case len(c.Bundles) < 2:
		return bad("%d bundles to compare: want at least 2", len(c.Bundles))
	case c.Intervals != "" && !slices.Contains(methods(), c.Intervals):
		return bad("--intervals is %q: want seeds or bootstrap", c.Intervals)
	case !(c.Confidence >= 0.5 && c.Confidence <= 0.9999):
		return bad("confidence is %v: want from 0.5 to 0.9999", c.Confidence)
	case !(c.Margin >= 0 && c.Margin < 1):
		return bad("--margin is %v: want a share from 0 to below 1, like 0.01", c.Margin)
	case c.Pool.Workers < 0 || c.Pool.Workers > 4096:
		return bad("--workers is %d: want 1 to 4096, 0 for one per core", c.Pool.Workers)
	case c.Base.Custom.Source != nil:
		return bad("a custom source cannot be run more than once: want Comparison.Source, which makes one for each run")
	}
	for i, b := range c.Bundles {
		if b.Name == "" {
			return bad("bundle %d has no name", i+1)
		}
		for _, earlier := range c.Bundles[:i] {
			if earlier.Name == b.Name {
				return bad("two bundles are called %s: want different names", b.Name)
			}
		}
	}
	return nil
}

// nameBundle adds the name of bundle b to an error of its configuration. It
// returns common if the error is independent of the bundle: the configuration
// has the same error without a bundle.
func (p *Plan) nameBundle(b int, err error) (blamed error, common bool) {
	base := p.config(b, 0)
	base.Policies = bundle.Bundle{}
	if _, _, common := actors.Check(base); common != nil && common.Error() == err.Error() {
		return err, true
	}
	var input *actors.InputError
	if errors.As(err, &input) {
		return &actors.InputError{Text: "bundle " + p.comparison.Bundles[b].Name + ": " + input.Text}, false
	}
	return err, false
}

// seeds returns the seeds of a replicate: the seeds of the base plus its
// number.
func (p *Plan) seeds(replicate int) Seeds {
	base := &p.comparison.Base
	s := Seeds{base.Seed, base.Seed}
	if base.WorkloadSeed != nil {
		s.Workload = *base.WorkloadSeed
	}
	return Seeds{s.Seed + uint64(replicate), s.Workload + uint64(replicate)}
}

// config is the configuration of one run. All bundles have the same seeds in
// a replicate, so the same requests arrive.
func (p *Plan) config(bundle, replicate int) actors.Config {
	c := &p.comparison
	cfg := c.Base
	cfg.Execution = actors.Execution{Workers: 1}
	seeds := p.seeds(replicate)
	cfg.Policies, cfg.Seed = c.Bundles[bundle].Policies, seeds.Seed
	if cfg.WorkloadSeed != nil { // else it is the seed
		cfg.WorkloadSeed = &seeds.Workload
	}
	if c.Source != nil {
		cfg.Custom.Source = c.Source(seeds.Workload)
	}
	return cfg
}

// objectives are those named. Else they are the measures of the fitness, if there
// are weights. Else they are what most clusters are sized by:
// goodput where there are targets, throughput where there are none, the wait for
// the first token, the pace of the others; and what is paid: cost where there
// is a price, else replica hours where an autoscaler makes them differ.
func (p *Plan) objectives() ([]Measure, error) {
	names := p.comparison.Objectives
	if names == nil {
		names = p.usualObjectives()
	}
	return SelectMeasures("--objectives", names)
}

func (p *Plan) usualObjectives() []string {
	scales := false
	for i := range p.result.Bundles {
		scales = scales || p.result.Bundles[i].Scales()
	}
	return usualMeasures(&p.comparison.Base.Config, scales)
}

// usualMeasures are the measures by which runs of a configuration are judged if nobody
// says by which.
func usualMeasures(base *setup.Config, scales bool) []string {
	names := []string{"throughput", "p99_ttft", "mean_tpot"}
	if weights, err := metrics.ParseFitness(base.FitnessWeights); err == nil && len(weights.Terms) > 0 { // an error is one of the runs
		names = nil
		for _, t := range weights.Terms {
			names = append(names, t.Measure.Name)
		}
		return names
	}
	if base.SLOTargets != "" {
		names[0] = "goodput"
	}
	switch {
	case base.CostPerReplicaHour > 0 || base.GPUHourPrice > 0 || base.NodePools.Prices():
		names = append(names, "cost")
	case scales:
		names = append(names, "replica_hours")
	}
	return names
}
