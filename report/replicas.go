package report

import (
	"blis/actors"
)

// replicas is what the instances cost and yielded, also when their number
// could not change.
type replicas struct {
	Mean                    float64  `json:"mean"`
	Seconds                 float64  `json:"replica_seconds"`
	Cost                    *float64 `json:"cost"`
	ScaleEfficiency         *float64 `json:"scale_efficiency"`
	BusyShare               *float64 `json:"busy_share"`
	CompletedPerReplicaHour *float64 `json:"completed_per_replica_hour"`
	PerMillionInput         *float64 `json:"cost_per_mtok_input"`
	PerMillionOutput        *float64 `json:"cost_per_mtok_output"`
	PerMillion              *float64 `json:"cost_per_mtok"`
}

func newReplicas(r *actors.Result) replicas {
	run := r.Figures()
	all := &r.Report.Overall
	return replicas{
		run.MeanReplicas, r.ReplicaSeconds(), run.Cost, run.ScaleEfficiency(), run.BusyShare, run.CompletedPerReplicaHour(),
		run.CostPerMillion(all.CompletedInput), run.CostPerMillion(all.OutputTokens), run.CostPerMillion(all.CompletedInput + all.OutputTokens),
	}
}
