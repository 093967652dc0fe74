package study

import (
	"context"

	"blis/actors"
	"blis/setup"
)

// Cluster is one configuration of several whose capacities are compared.
type Cluster struct {
	Name   string
	Config setup.Config
}

// FrontierPoint is the capacity of one cluster, and what it costs.
type FrontierPoint struct {
	Name   string
	Result *CapacityResult // nil: Err says why
	Err    error

	Capacity    float64  // of the axis; 0: no load of the range holds
	CostPerHour *float64 // nil: no price
	GPUs        int
	Front       bool // no other cluster serves as much for less, or more for as little
}

// Frontier finds the capacity of every cluster, as c asks for it, and which of them are on the
// front of capacity against cost per hour, or against GPUs where a price is missing. The
// axis of c is a load: rate or concurrency. All clusters have one latency model, unless they
// name their own. Each claim has the confidence of c by itself.
//
// A cluster that cannot run has an error in place of a result. When ctx is cancelled the error
// is ctx's, and the points are those that were done. started is called before each; nil: it
// is not.
func Frontier(ctx context.Context, c Capacity, clusters []Cluster, started func(cluster int)) ([]FrontierPoint, LatencyChoice, error) {
	if c.Over.Supply() {
		return nil, LatencyChoice{}, &actors.InputError{Text: "--frontier: want a load in --over, rate or concurrency: " + c.Over.Name + " is what serves"}
	}
	var configs []setup.Config
	for _, k := range clusters {
		configs = append(configs, k.Config)
	}
	latency, err := ChooseLatency(configs, func(i int) string { return clusters[i].Name })
	if err != nil {
		return nil, latency, err
	}
	var points []FrontierPoint
	for i, k := range clusters {
		if started != nil {
			started(i)
		}
		one := c
		one.Base.Config = k.Config
		latency.Apply(&one.Base.Config)
		p := FrontierPoint{Name: k.Name}
		p.Result, p.Err = one.Find(ctx)
		if ctx.Err() != nil {
			break
		}
		p.describe()
		points = append(points, p)
	}
	markFront(points)
	return points, latency, ctx.Err()
}

// describe takes the figures of the result.
func (p *FrontierPoint) describe() {
	if p.Result == nil {
		return
	}
	end := p.Result.Holds
	if end != nil && (end.Certified || p.Result.Exact) {
		p.Capacity = end.Value
	} else if end == nil {
		end = p.Result.Fails
	}
	if end == nil {
		return
	}
	p.GPUs = end.GPUs
	if price := hourlyPrice(&end.Config); price > 0 {
		p.CostPerHour = &price
	}
}

// markFront marks the points that no other dominates.
func markFront(points []FrontierPoint) {
	priced := true
	for i := range points {
		priced = priced && (points[i].Capacity == 0 || points[i].CostPerHour != nil)
	}
	cost := func(p *FrontierPoint) float64 {
		if priced && p.CostPerHour != nil {
			return *p.CostPerHour
		}
		return float64(p.GPUs)
	}
	for i := range points {
		p := &points[i]
		p.Front = p.Capacity > 0
		for j := range points {
			o := &points[j]
			noWorse := o.Capacity >= p.Capacity && cost(o) <= cost(p)
			if o.Capacity > 0 && noWorse && (o.Capacity > p.Capacity || cost(o) < cost(p)) {
				p.Front = false
			}
		}
	}
}
