package calibrate

import (
	"slices"

	"blis/latency"
)

// Set is a coefficient file of a fit to steps: β alone, α a constant front end.
// Deployments are the deployments of the data, in its order.
func (f *StepFit) Set(deployments []*latency.Deployment, o TrainOptions, engine string, async bool) *latency.PhysicsSet {
	t := latency.Training{
		TPMin: deployments[0].TP, TPMax: deployments[0].TP, Engine: engine, AsyncScheduling: async, ChunkedPrefill: true,
		Dates: o.Dates, Data: o.Data, Samples: int64(f.Rows), Lambda: f.Lambda, Gamma: f.Gamma, Method: "ridge",
	}
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for _, d := range deployments {
		add(&t.Models, d.Model.Name)
		add(&t.Kinds, d.Model.Kind())
		add(&t.GPUs, d.GPU.Name)
		t.TPMin, t.TPMax = min(t.TPMin, d.TP), max(t.TPMax, d.TP)
	}
	set := &latency.PhysicsSet{Name: o.Name, TrainedOn: t, Notes: append([]string{frontEndNote}, o.Notes...), Beta: f.Beta}
	set.Alpha[3] = latency.DefaultRoofline().FrontEnd / 1e6
	var within, across []float64
	for _, c := range f.Configurations {
		if c.HeldOut.Steps > 0 {
			within = append(within, 100*c.HeldOut.MAPE)
		}
		if c.LeftOut.Steps > 0 {
			across = append(across, 100*c.LeftOut.MAPE)
		}
	}
	for _, e := range []struct {
		heldOut string
		values  []float64
	}{{latency.HeldOutTail, within}, {"leave-one-configuration-out", across}} {
		if len(e.values) > 0 {
			slices.Sort(e.values)
			set.Errors = append(set.Errors, latency.HeldOutError{HeldOut: e.heldOut, Metric: "step", Statistic: "mean", MedianAPEPercent: round(percentile(e.values, 50), 2), Runs: len(e.values)})
		}
	}
	return set
}

const frontEndNote = "steps say nothing of the way to the queue: its constant is that of roofline"
