package actors

import (
	"blis/metrics"
	"blis/vtime"
)

// ReplicaHours is the hours of instances that were paid for, from the first
// arrival to the end of the run: of those that there were, when their number
// could not change.
func (r *Result) ReplicaHours() float64 {
	if s := r.Scaling; s != nil {
		return s.Hours()
	}
	return float64(int64(r.Config.NumInstances)*int64(span(r.Began, r.End))) / float64(vtime.Hour)
}

// Cost is that of ReplicaHours; nil when no price is known.
func (r *Result) Cost() *float64 {
	price := r.Config.CostPerReplicaHour
	if price == 0 {
		return nil
	}
	cost := float64(r.ReplicaHours() * price)
	return &cost
}

// Judged is the run as measures see it.
func (r *Result) Judged() *metrics.Judged {
	return &metrics.Judged{Report: r.Report, ReplicaHours: r.ReplicaHours(), Cost: r.Cost()}
}
