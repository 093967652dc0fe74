package study

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"blis/actors"
	"blis/setup"
)

// SizedDeployments is the fewest instances of each pool of the deployments of a Sizing.
type SizedDeployments struct {
	Partial bool // interrupted: the pools are those that were done

	// Factor is by how much the numbers of the file were multiplied until a run kept the SLOs; 0:
	// not even the most GPUs do.
	Factor int

	// Pools are in the order in which they were sized: those with the most GPUs per instance first.
	// With these numbers the SLOs hold, and with one instance less of any of them they do not.
	Pools []SizedPool
	GPUs  int      // of all pools; 0: no numbers are known that hold
	Price *float64 // of these per hour; nil: none is given

	Last  *CapacityResult // of the last pool, with all others at their numbers; nil: there is none
	Asked Capacity        // of Last
}

// SizedPool is a pool of a deployment with its fewest instances.
type SizedPool struct {
	Name      string // chat/replicas, chat/prefill-replicas
	Instances int
	GPUs      int // of these
	// Answer is that of a Capacity over the pool, with the pools before it at their numbers, and
	// those after it at their first ones: what one instance less does not hold, fewer of those after
	// it do not either.
	Answer *CapacityResult
}

// Certified reports whether both ends of all answers are certified or exact.
func (d *SizedDeployments) Certified() bool {
	return d.Factor > 0 && !d.Partial && !slices.ContainsFunc(d.Pools, func(p SizedPool) bool { return p.Answer.Outcome != CapacityFound })
}

// FindDeployments sizes the deployments of Base: one pool after the other. The chance that any of
// the claims is wrong is that of one Capacity. Errors and interruption are as with Find.
func (s Sizing) FindDeployments(ctx context.Context) (*SizedDeployments, error) {
	z := deploymentSizer{Sizing: &s}
	if err := z.prepare(); err != nil {
		return nil, err
	}
	err := z.start(ctx)
	for i := 0; i < len(z.names) && z.result.Factor > 0 && err == nil; i++ {
		z.observe(i)
		err = z.size(ctx, z.names[i])
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	z.observe(len(z.result.Pools))
	if z.result.Partial = err != nil; z.result.Factor > 0 {
		z.result.GPUs = setup.GPUs(&z.Search.Base.Config)
		if price := hourlyPrice(&z.Search.Base); price > 0 {
			z.result.Price = &price
		}
	}
	return &z.result, err
}

// deploymentSizer is the state of FindDeployments. Base has the numbers that are known so far.
type deploymentSizer struct {
	*Sizing
	names  []string // of the numbers of instances, in the order in which they are sized
	result SizedDeployments
}

func (z *deploymentSizer) observe(done int) {
	if z.Observe != nil {
		z.Observe(done, len(z.names))
	}
}

// prepare reads the deployments and orders their pools.
func (z *deploymentSizer) prepare() error {
	if err := z.checkMaxGPUs(); err != nil {
		return err
	}
	if len(z.Prices) > 0 {
		return &actors.InputError{Text: "--prices: want gpu-hour-price in the pools of --deployments, or cost_per_gpu_hour of node pools"}
	}
	if c := z.Search.Confidence; !(c >= 0.5 && c <= 0.9999) {
		return &actors.InputError{Text: fmt.Sprintf("--confidence is %v: want from 0.5 to 0.9999", c)}
	}
	if len(z.Hardware)+len(z.TP)+len(z.Budgets)+len(z.Ratios) > 0 {
		return &actors.InputError{Text: "size: pools of deployments have their hardware, tp and max-num-batched-tokens: want no lists of them with --deployments"}
	}
	base := &z.Search.Base.Config
	if err := setup.OpenDeployments(base); err != nil {
		return err
	}
	z.names = setup.ReplicaSettings(base)
	slices.SortStableFunc(z.names, func(a, b string) int { return cmp.Compare(z.perInstance(b), z.perInstance(a)) })
	each := 1 - (1-z.Search.Confidence)/float64(len(z.names)) // that all claims are right
	if each > 0.9999 {
		return &actors.InputError{Text: fmt.Sprintf("--confidence is %v: want at most %.4g, for there are %d pools", z.Search.Confidence, 1-float64(1e-4*float64(len(z.names))), len(z.names))}
	}
	z.Search.Confidence = each
	return nil
}

// replicas returns the number of instances of that name.
func (z *deploymentSizer) replicas(name string) int {
	id, setting, _ := strings.Cut(name, "/")
	return setup.ReplicasOf(&z.Search.Base.Config, id, setting)
}

// with returns the configuration with another number of instances.
func (z *deploymentSizer) with(name string, n int) actors.Config {
	c, axis := z.Search.Base, SearchAxis{Name: name}
	axis.apply(&c.Config, float64(n))
	return c
}

// perInstance is the number of GPUs of an instance of a pool.
func (z *deploymentSizer) perInstance(name string) int {
	more := z.with(name, z.replicas(name)+1)
	return setup.GPUs(&more.Config) - setup.GPUs(&z.Search.Base.Config)
}

// start multiplies the numbers of the file until one window keeps the SLOs.
func (z *deploymentSizer) start(ctx context.Context) error {
	first := z.Search.Base
	for factor := 1; ; factor *= 2 {
		z.Search.Base = first
		for _, name := range z.names {
			z.Search.Base = z.with(name, z.replicas(name)*factor)
		}
		if gpus := setup.GPUs(&z.Search.Base.Config); gpus > z.MaxGPUs {
			if factor == 1 {
				return &actors.InputError{Text: fmt.Sprintf("--deployments have %d GPUs: want at most --max-gpus %d", gpus, z.MaxGPUs)}
			}
			return nil
		}
		holds, err := z.holds(ctx)
		if err != nil {
			return err
		}
		if holds {
			z.result.Factor = factor
			return nil
		}
	}
}

// holds reports whether one window keeps the SLOs with the numbers of Base.
func (z *deploymentSizer) holds(ctx context.Context) (bool, error) {
	search := z.Search
	search.Over = SearchAxis{Name: z.names[0], Values: []float64{float64(z.replicas(z.names[0]))}}
	search.Observe = nil
	s, err := newCapacitySearch(&search)
	if err == nil {
		err = s.settleExact(ctx)
	}
	if err != nil {
		return false, err
	}
	if s.result.Exact {
		r, err := s.exact(ctx)
		return r != nil && r.Holds != nil, err
	}
	_, holds, err := s.onePerRung(ctx)
	return holds, err
}

// size finds the fewest instances of a pool.
func (z *deploymentSizer) size(ctx context.Context, name string) error {
	search := z.Search
	most := z.replicas(name)
	search.Over = SearchAxis{Name: name}
	for n := most; n >= 1; n-- {
		search.Over.Values = append(search.Over.Values, float64(n))
	}
	r, err := search.Find(ctx)
	if err != nil {
		return err
	}
	n := most
	if r.Holds != nil {
		n = int(r.Holds.Value)
	}
	z.result.Pools = append(z.result.Pools, SizedPool{name, n, n * z.perInstance(name), r})
	z.Search.Base = z.with(name, n)
	if r.Length > 0 { // the windows of all pools are of one length
		z.Search.Length, z.Search.Warmup = WindowLength{Time: r.Length}, r.Warmup
	}
	z.result.Last, z.result.Asked = r, search
	return nil
}
