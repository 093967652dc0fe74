package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blis/latency"
	"blis/setup"
	"blis/study/pointlog"
)

// SweepPlan is a sweep that was checked: its points in their order. A plan holds less
// than 100 bytes for a point, and makes configurations when they are asked for.
type SweepPlan struct {
	Sweep   Sweep
	Latency LatencyChoice // of all points, unless Sweep.LatencyPerPoint

	combinations *combinations
	kept         []uint32 // combinations that Where keeps, in order
	points       []planned
	order        []uint32         // points by their estimated work, most first
	refusals     map[uint32]error // of kept combinations, by place in kept
	inputs       *inputFiles
}

// planned is what a plan keeps of a point.
type planned struct {
	key  pointlog.Key
	work int64
}

// NewSweepPlan checks everything that can be checked before the first run. Its errors
// are a *SweepError, or those of setup.Resolve. A point that a run would refuse is no
// error; if all are, the error is that of the first. Pool.Progress is called with the
// combinations that were looked at.
func NewSweepPlan(ctx context.Context, s Sweep, pool Pool) (*SweepPlan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	p := &SweepPlan{Sweep: s, refusals: map[uint32]error{}, inputs: &inputFiles{next: s.Base.Custom.Open}}
	p.Sweep.Base.Custom.Open = p.inputs.open
	var err error
	if p.combinations, err = newCombinations(&p.Sweep); err != nil {
		return nil, err
	}
	if err := p.keep(ctx); err != nil {
		return nil, err
	}
	if err := p.chooseLatency(); err != nil {
		return nil, err
	}
	if err := p.resolvePoints(ctx, pool); err != nil {
		return nil, err
	}
	p.sortByWork()
	return p, p.allRefused()
}

// Len is the number of points, replicates included.
func (p *SweepPlan) Len() int64 { return int64(len(p.points)) }

// Combinations are how many there were before Where.
func (p *SweepPlan) Combinations() int64 { return p.combinations.count }

// Key is the key of point i.
func (p *SweepPlan) Key(i int64) pointlog.Key { return p.points[i].key }

// Order yields the points in the order in which they are run: most work first.
func (p *SweepPlan) Order() []uint32 { return p.order }

// Inputs are the files that the points read, with hashes.
func (p *SweepPlan) Inputs() []InputFile { return p.inputs.list() }

// Refusal is why a run would refuse point i, nil if it would not.
func (p *SweepPlan) Refusal(i int64) error { return p.refusals[uint32(i/int64(p.Sweep.Replicates))] }

// Refused is the number of points that a run would refuse.
func (p *SweepPlan) Refused() int64 { return int64(len(p.refusals)) * int64(p.Sweep.Replicates) }

// Values are the values of point i on each axis.
func (p *SweepPlan) Values(i int64) []AxisValue {
	return p.combinations.values(nil, int64(p.kept[i/int64(p.Sweep.Replicates)]))
}

// Coordinates are the values of point i as its row has them.
func (p *SweepPlan) Coordinates(i int64) []pointlog.Coordinate {
	var list []pointlog.Coordinate
	for k, v := range p.Values(i) {
		list = append(list, pointlog.Coordinate{Axis: p.Sweep.Axes[k].Name, Value: v.Value})
	}
	return list
}

// Config is the configuration of point i, as a run takes it. Beside an error it has the
// seeds of the point.
func (p *SweepPlan) Config(i int64) (setup.Config, error) {
	c, err := p.combination(p.Values(i))
	if err == nil && c.WorkloadSeed == nil && (c.WorkloadSpec != "" || c.Scenario != "") {
		// The seed of the traffic may be that of the specification: replicates go on from there.
		var effective setup.Config
		if effective, err = setup.Effective(c); err == nil {
			c.WorkloadSeed = effective.WorkloadSeed
		}
	}
	seeds := p.seeds(&c, int(i%int64(p.Sweep.Replicates)))
	c.Seed = seeds.Seed
	if c.WorkloadSeed != nil {
		c.WorkloadSeed = &seeds.Workload
	}
	return c, err
}

// combination is the configuration of the first replicate.
func (p *SweepPlan) combination(values []AxisValue) (setup.Config, error) {
	c := p.Sweep.Base
	var all []setup.Assignment
	for _, v := range values {
		all = append(all, v.Assign...)
	}
	if err := c.Assign(all); err != nil {
		return c, err
	}
	if !p.Sweep.LatencyPerPoint {
		p.Latency.Apply(&c)
	}
	return c, nil
}

// seeds are the seeds of a replicate of a configuration: those of the first one plus its
// number.
func (p *SweepPlan) seeds(c *setup.Config, replicate int) Seeds {
	s := Seeds{c.Seed, c.Seed}
	if c.WorkloadSeed != nil {
		s.Workload = *c.WorkloadSeed
	}
	return Seeds{s.Seed + uint64(replicate), s.Workload + uint64(replicate)}
}

// keep finds the combinations that Where keeps. What cannot be told of a combination
// that a run would refuse keeps it: its row says why.
func (p *SweepPlan) keep(ctx context.Context) error {
	where, err := p.Sweep.compileWhere()
	if err != nil {
		return err
	}
	most := p.Sweep.Limits.Points / int64(p.Sweep.Replicates)
	var values []AxisValue
	for k := range p.combinations.count {
		if k%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if where != nil {
			values = p.combinations.values(values[:0], k)
			kept, err := p.keeps(where, values)
			if err != nil {
				return err
			}
			if !kept {
				continue
			}
		}
		if int64(len(p.kept)) == most {
			return sweepFault("limits.points", "%d: the sweep has more points: want more here, or fewer points", p.Sweep.Limits.Points)
		}
		p.kept = append(p.kept, uint32(k))
	}
	if len(p.kept) == 0 {
		return sweepFault("where", "is true for none of %d combinations: want at least one", p.combinations.count)
	}
	return nil
}

func (p *SweepPlan) keeps(where *condition, values []AxisValue) (bool, error) {
	c, err := p.combination(values)
	if err != nil {
		return true, nil // refused
	}
	kept, err := where.keeps(&c, values)
	var fit *latency.DoesNotFit
	var input *setup.InputError
	switch {
	case errors.As(err, &fit):
		return true, nil
	case errors.As(err, &input) && strings.HasPrefix(input.Text, "where: "):
		return false, sweepFault("where", "%s (at %s)", strings.TrimPrefix(input.Text, "where: "), p.label(values))
	case errors.As(err, &input):
		return true, nil
	}
	return kept, err
}

// Label names point i, without its replicate: rate=20, machine=h100.
func (p *SweepPlan) Label(i int64) string { return p.label(p.Values(i)) }

// label names a combination: rate=20, machine=h100.
func (p *SweepPlan) label(values []AxisValue) string {
	var parts []string
	for i, v := range values {
		parts = append(parts, p.Sweep.Axes[i].Name+"="+strings.Trim(string(v.Value), `"`))
	}
	return strings.Join(parts, ", ")
}

// chooseLatency chooses the latency model of all points. Only axes with settings of the
// model and the engine make a difference to it.
func (p *SweepPlan) chooseLatency() error {
	if p.Sweep.LatencyPerPoint {
		return nil
	}
	relevant := map[string]bool{}
	defaults := setup.DefaultConfig()
	for s := range defaults.Settings() {
		if group := s.Tag.Get("group"); group == "Model" || group == "Instances" {
			relevant[s.Name] = true
		}
	}
	var axes []int
	for i := range p.Sweep.Axes {
		if slices.ContainsFunc(p.Sweep.Axes[i].settings(), func(name string) bool { return relevant[name] }) {
			axes = append(axes, i)
		}
	}
	seen := map[string]bool{}
	var configs []setup.Config
	var labels []string
	var values []AxisValue
	for _, k := range p.kept {
		values = p.combinations.values(values[:0], int64(k))
		var key []byte
		for _, i := range axes {
			key = append(append(key, values[i].Value...), 0)
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		c, err := p.combination(values)
		if err != nil {
			continue // refused
		}
		configs, labels = append(configs, c), append(labels, "("+p.label(values)+")")
	}
	choice, err := ChooseLatency(configs, func(i int) string { return labels[i] })
	var fit *latency.DoesNotFit
	var input *setup.InputError
	var none *notCovered
	switch {
	case errors.As(err, &none):
		return sweepFault("axes", "%v in base, or let each point have its own with --latency-per-point", none)
	case errors.As(err, &fit), errors.As(err, &input):
		return nil // all are refused, and say why
	}
	p.Latency = choice
	return err
}

// resolvePoints finds out of each combination whether it would run, its keys and its
// work.
func (p *SweepPlan) resolvePoints(ctx context.Context, pool Pool) error {
	p.points = make([]planned, len(p.kept)*p.Sweep.Replicates)
	const block = 256
	refused := make([]map[uint32]error, (len(p.kept)+block-1)/block)
	workloads := &workloadChecks{}
	pool.Progress = scaled(pool.Progress, block, len(p.kept))
	_, err := pool.Each(ctx, len(refused), func(ctx context.Context, b int) error {
		keys := &keyWriter{inputs: p.inputs}
		for at := b * block; at < min((b+1)*block, len(p.kept)); at++ {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			refusal, err := p.resolvePoint(at, workloads, keys)
			if err != nil {
				return err
			}
			if refusal == nil {
				continue
			}
			if refused[b] == nil {
				refused[b] = map[uint32]error{}
			}
			refused[b][uint32(at)] = refusal
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, some := range refused {
		for at, refusal := range some { // any order: into a map
			p.refusals[at] = refusal
		}
	}
	return nil
}

// scaled is a progress that counts in blocks, as one that counts in items.
func scaled(progress func(done, all int), block, items int) func(done, all int) {
	if progress == nil {
		return nil
	}
	return func(done, _ int) { progress(min(done*block, items), items) }
}

// resolvePoint fills in the replicates of the combination at a place in kept.
func (p *SweepPlan) resolvePoint(at int, workloads *workloadChecks, keys *keyWriter) (refusal, err error) {
	values := p.combinations.values(nil, int64(p.kept[at]))
	raw, refusal := p.combination(values)
	effective := raw
	if refusal == nil {
		effective, refusal = setup.Effective(raw)
	}
	if refusal == nil {
		refusal = workloads.check(&raw)
	}
	if refusal != nil {
		effective = raw // its key is of what was given
	}
	prefix, err := keys.prefix(&effective)
	if err != nil { // a file is missing
		return nil, sweepFault("axes", "%v (at %s)", cmp.Or(refusal, err), p.label(values))
	}
	work := workOf(&effective)
	for r := range p.Sweep.Replicates {
		p.points[at*p.Sweep.Replicates+r] = planned{keyOf(prefix, p.seeds(&effective, r)), work}
	}
	return refusal, nil
}

// workOf estimates the work of a run in tokens: the same number on every machine.
func workOf(c *setup.Config) int64 {
	requests := c.NumRequests
	if c.TraceLimit > 0 {
		requests = c.TraceLimit
	}
	if requests == 0 {
		requests = 10_000
	}
	return requests * (100 + int64(c.OutputTokens))
}

// sortByWork puts the points in the order in which they are run.
func (p *SweepPlan) sortByWork() {
	p.order = make([]uint32, len(p.points))
	for i := range p.order {
		p.order[i] = uint32(i)
	}
	slices.SortStableFunc(p.order, func(a, b uint32) int {
		switch x, y := p.points[a].work, p.points[b].work; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}

// allRefused is the first refusal if there is nothing to run. One that says that the
// model does not fit comes last: another GPU might help.
func (p *SweepPlan) allRefused() error {
	if len(p.refusals) < len(p.kept) {
		return nil
	}
	var fit *latency.DoesNotFit
	var first error
	for at := range p.kept {
		err := p.refusals[uint32(at)]
		if !errors.As(err, &fit) {
			return &setup.InputError{Text: fmt.Sprintf("all %d points are refused, the first: %v", p.Len(), err)}
		}
		if first == nil {
			first = err
		}
	}
	return first
}
