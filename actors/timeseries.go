package actors

import (
	"blis/metrics"
	"blis/vtime"
)

// InstanceSeries are the time series of one instance, or of one data-parallel rank.
type InstanceSeries struct {
	Name        string     // as in Names.Instances
	Pool        string     // chat, or chat/decode; empty: there is one pool
	Model       string     // that it serves
	Ready, Gone vtime.Time // when it was in service; what the time series have besides is zero
	TotalBlocks int64      // of its KV cache
	Entries     int64      // of its CPU tier; 0: none

	// Series are in the order of Execution.TimeSeries.
	Series []*metrics.TimeSeries
}

// StorageSeries is one place of a storage tier over time: the tier of one instance, or of those that share it.
type StorageSeries struct {
	Tier, Pool  string // Pool is empty where there is one
	Scope       string // local, or who shares it
	Place       int    // number among the places of the tier; of scope local that of the rank in its pool
	Ready, Gone vtime.Time
	Entries     int64            // its capacity
	Used        []*metrics.Gauge // in the order of Execution.TimeSeries
}

// StorageSeries is each storage tier over time; nil without Execution.TimeSeries.
func (r *Result) StorageSeries() []StorageSeries { return r.rest.storage }

// TimeSeries is what each instance did over time, in the order of Names.Instances; nil without
// Execution.TimeSeries.
func (r *Result) TimeSeries() []InstanceSeries { return r.rest.series }

// newSeries returns the time series that were asked for of an instance.
func newSeries(asked []metrics.TimeSeriesOptions) []*metrics.TimeSeries {
	var list []*metrics.TimeSeries
	for _, o := range asked {
		list = append(list, metrics.NewTimeSeries(o))
	}
	return list
}

// addSeries adds the time series of a rank of that name, in service from ready to gone, to the result of
// a run that has ended.
func (r *Result) addSeries(n *rank, name string, ready, gone vtime.Time) {
	if len(n.series) == 0 {
		return
	}
	e := n.instance.engines.of(n.index)
	c := e.Counters
	c.LookUpOnce(&e.Disaggregated)
	for _, s := range n.series {
		s.Finish(r.End, &c)
	}
	r.rest.series = append(r.rest.series, InstanceSeries{
		Name: name, Pool: n.at.pool.name, Model: n.at.pool.plan.Model.Name, Ready: ready, Gone: gone, TotalBlocks: e.Counters.TotalBlocks, Entries: e.Tier.Capacity, Series: n.series,
	})
}
