package actors

import (
	"cmp"

	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// ReplicaHours is the hours that instances were paid for, from the first arrival to
// the end of the run: all of them where their number is fixed.
func (r *Result) ReplicaHours() float64 { return r.paid() / float64(vtime.Hour) }

// ReplicaSeconds is the same in seconds.
func (r *Result) ReplicaSeconds() float64 { return r.paid() / float64(vtime.Second) }

// paid is the same in instance·µs; see Scaling.ReplicaMicros.
func (r *Result) paid() float64 {
	if micros, several := r.paidInPools(); several {
		return micros
	}
	if s := r.Scaling; s != nil {
		return s.ReplicaMicros
	}
	return float64(float64(r.fixed()) * float64(span(r.Began, r.End)))
}

// fixed is the number of instances of a run with one pool in which it does not change. The settings of a
// run of deployments have none.
func (r *Result) fixed() int {
	if d := r.rest.deployments; len(d) == 1 && d[0].PD == nil {
		return d[0].Serving.Instances
	}
	return r.Config.NumInstances
}

// paidRanks is paid, with an instance counted once for each of its data-parallel ranks.
func (r *Result) paidRanks() (micros float64) {
	pools := r.Report.PerPool
	if len(pools) == 0 {
		return float64(r.paid() * float64(max(1, r.Config.DataParallelSize)))
	}
	for i := range pools {
		micros += float64(float64(pools[i].ReplicaHours*float64(vtime.Hour)) * float64(pools[i].RanksEach()))
	}
	return micros
}

// MeanReplicas is the time-weighted mean number of instances paid for from the
// first arrival to the end of the run; 0 when that took no time.
func (r *Result) MeanReplicas() float64 {
	length := span(r.Began, r.End)
	if length == 0 {
		return 0
	}
	return r.paid() / float64(length)
}

// BusyShare is the share of the time paid for in which a step was executing; nil
// when nothing was paid for. Unlike the utilisation it counts machines that have
// not loaded the model yet.
func (r *Result) BusyShare() *float64 {
	paid := r.paidRanks()
	if paid == 0 {
		return nil
	}
	busy := r.Report.Overall.Resources.Counters.BusyMicros
	// With async scheduling a draining instance may be gone before the last batch
	// formed for it ends; that time is busy and not paid for.
	share := min(1, float64(busy)/paid)
	return &share
}

// Cost is the price of ReplicaHours; nil when no price is given.
func (r *Result) Cost() *float64 {
	if list := r.Report.PerPool; len(list) > 0 {
		var sum *float64
		for i := range list {
			sum = plus(sum, list[i].Cost)
		}
		return sum
	}
	if len(r.rest.nodePools) > 0 {
		var sum *float64
		for i := range r.rest.nodePools {
			sum = plus(sum, r.rest.nodePools[i].Cost)
		}
		return sum
	}
	price := r.Config.replicaPrice()
	if price == 0 {
		return nil
	}
	cost := float64(r.ReplicaHours() * price)
	return &cost
}

// plus is the sum of two costs; nil: no price is known.
func plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a + *b
	return &sum
}

// replicaPrice is the price of an instance per hour, 0 when none is given.
func (c *Config) replicaPrice() float64 {
	if c.GPUHourPrice > 0 {
		return float64(c.GPUHourPrice * float64(setup.InstanceGPUs(&c.Config)))
	}
	return c.CostPerReplicaHour
}

// instancePrice is the price of an instance of a pool per hour, apart from those of node pools.
func (c *cluster) instancePrice(s *pool) float64 {
	list := c.plan.Summary.Pools
	for i := range list {
		if list[i].Name == s.name {
			return list[i].Price
		}
	}
	run := Config{Config: c.plan.Config}
	return run.replicaPrice()
}

// Figures are the figures from which the measures of the run are computed.
func (r *Result) Figures() *metrics.RunFigures {
	return &metrics.RunFigures{Report: r.Report, ReplicaHours: r.ReplicaHours(), MeanReplicas: r.MeanReplicas(), Cost: r.Cost(), BusyShare: r.BusyShare()}
}

// score computes fitness and objectives of the run.
func (r *Result) score(f *metrics.Fitness) {
	run := r.Figures()
	r.Fitness, r.Objectives = f.Of(run), f.Objectives(run)
}
