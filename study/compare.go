package study

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blis/actors"
	"blis/metrics"
	"blis/policy"
	"blis/workload"
)

// Comparison says what to compare: bundles of policies in one cluster under the
// same traffic. Start from NewComparison.
type Comparison struct {
	// Base is the cluster and its workload. Its Policies are replaced by each
	// bundle; its other fields for policies change every bundle, as they do in
	// a run. Seeds are those of the first replicate.
	Base    actors.Config
	Bundles []Bundle // at least 2; the first is the baseline

	// Source makes the requests of a replicate from its workload seed, in place
	// of what Base says. It is called once per run, by several goroutines, and
	// with one seed must always give the same requests. nil: Base says.
	Source func(seed uint64) workload.Source

	Replicates int      // at least 2: runs of each bundle, with seeds that follow each other
	Confidence float64  // of the intervals, from 0.5 to 0.9999
	Margin     float64  // relative differences below it do not matter; from 0, below 1
	Objectives []string // names of measures for the Pareto rank; nil: see objectives
	Pool       Pool
}

// Bundle is a bundle of policies with a name to print.
type Bundle struct {
	Name     string
	Policies policy.Bundle
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
}

// NewPlan checks everything that can be checked before the first run. The
// errors are those of actors.Check, with the name of the bundle where it is
// the bundle's fault.
func NewPlan(c Comparison) (*Plan, error) {
	p := &Plan{c, Result{Planned: c.Replicates, Confidence: c.Confidence, Margin: c.Margin, Measures: Measures()}}
	if err := p.check(); err != nil {
		return nil, err
	}
	for b := range c.Bundles {
		effective, setup, err := actors.Check(p.config(b, 0))
		if err != nil {
			return nil, p.blame(b, err)
		}
		if b == 0 { // the seed of the traffic may be that of a specification: replicates go on from there
			p.comparison.Base.WorkloadSeed = effective.WorkloadSeed
		}
		if c.Source != nil {
			effective.Custom.Source = nil // which was that of one run
		}
		p.result.Bundles = append(p.result.Bundles, Compared{Name: c.Bundles[b].Name, Config: effective, Setup: setup})
	}
	var err error
	if p.result.Objectives, err = p.objectives(); err != nil {
		return nil, err
	}
	p.result.Notes = p.alike()
	return p, nil
}

// Bundles are those of the plan with their effective configurations, without
// results.
func (p *Plan) Bundles() []Compared { return p.result.Bundles }

// check refuses what says nothing about a run.
func (p *Plan) check() error {
	c := &p.comparison
	bad := func(format string, args ...any) error { return &actors.InputError{Text: fmt.Sprintf(format, args...)} }
	switch {
	case len(c.Bundles) < 2:
		return bad("%d bundles to compare: want at least 2", len(c.Bundles))
	case c.Replicates < 2 || c.Replicates > 1<<20:
		return bad("--seeds is %d: want 2 to %d: intervals need two runs of each bundle", c.Replicates, 1<<20)
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

// blame says whose fault it is that a configuration cannot run. What is wrong
// without any bundle too is nobody's.
func (p *Plan) blame(b int, err error) error {
	base := p.config(b, 0)
	base.Policies = policy.Bundle{}
	if _, _, common := actors.Check(base); common != nil && common.Error() == err.Error() {
		return err
	}
	var input *actors.InputError
	if errors.As(err, &input) {
		return &actors.InputError{Text: "bundle " + p.comparison.Bundles[b].Name + ": " + input.Text}
	}
	return err
}

// seeds are those of a replicate. They follow those of the base.
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
	names := []string{"throughput", "p99_ttft", "mean_tpot"}
	base := &p.comparison.Base
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
	scales := false
	for i := range p.result.Bundles {
		scales = scales || p.result.Bundles[i].Config.Policies.Autoscale.Type != "none"
	}
	switch {
	case base.CostPerReplicaHour > 0:
		names = append(names, "cost")
	case scales:
		names = append(names, "replica_hours")
	}
	return names
}

// Run carries the plan out. All bundles of a replicate run before the next
// replicate does, so that an interrupted comparison has as many whole ones as
// could be.
//
// Errors: *RunError. When ctx is cancelled the error is ctx's and the result,
// marked Partial, has the replicates that ended for every bundle.
func (p *Plan) Run(ctx context.Context) (*Result, error) {
	bundles := len(p.comparison.Bundles)
	var jobs []Job
	for r := range p.comparison.Replicates {
		for b := range bundles {
			name := fmt.Sprintf("bundle %s, seed %d", p.comparison.Bundles[b].Name, p.seeds(r).Seed)
			jobs = append(jobs, Job{name, func() actors.Config { return p.config(b, r) }})
		}
	}
	values, err := Run(ctx, jobs, p.comparison.Pool)
	if err != nil && !interrupted(ctx, err) {
		return nil, err
	}
	result := p.result
	result.Bundles, result.Partial = slices.Clone(p.result.Bundles), err != nil
	byBundle := make([][]Values, bundles)
	for r := range p.comparison.Replicates {
		if whole := values[r*bundles : (r+1)*bundles]; complete(whole) {
			result.Replicates = append(result.Replicates, p.seeds(r))
			for b := range bundles {
				byBundle[b] = append(byBundle[b], whole[b])
			}
		}
	}
	result.evaluate(byBundle)
	if len(result.Replicates) > 0 {
		result.rank()
	}
	result.Notes = slices.Concat(p.result.Notes, result.warnings())
	return &result, err
}

// complete reports whether every one of the runs ended.
func complete(runs []Values) bool {
	for _, v := range runs {
		if v == nil {
			return false
		}
	}
	return true
}
