package cli

import (
	"fmt"
	"io"
	"strings"

	"blis/latency"
)

// modelSetsCmd is blis models sets.
type modelSetsCmd struct{ form }

// setItem is one shipped coefficient set of the physics model.
type setItem struct {
	Name    string                 `json:"name"`
	Trained latency.Training       `json:"trained_on"`
	Errors  []latency.HeldOutError `json:"errors"`
	Notes   []string               `json:"notes"`
	Alpha   latency.AlphaVector    `json:"alpha"`
	Beta    latency.BetaVector     `json:"beta"`
}

// Run carries the command out.
func (m *modelSetsCmd) Run(c *console) error {
	items := []setItem{}
	for _, s := range latency.PhysicsSets() {
		items = append(items, setItem{s.Name, s.TrainedOn, s.Errors, s.Notes, s.Alpha, s.Beta})
	}
	return m.list(c, items, func(w io.Writer) {
		fmt.Fprintln(w, "SET\tGPU\tTP\tENGINE\tE2E\tTPOT\tTTFT\tBY\tMODELS")
		for _, s := range latency.PhysicsSets() {
			t := &s.TrainedOn
			var models []string
			for _, id := range t.Models {
				models = append(models, id[strings.LastIndexByte(id, '/')+1:])
			}
			tp := fmt.Sprint(t.TPMin)
			if t.TPMax > t.TPMin {
				tp = fmt.Sprintf("%d–%d", t.TPMin, t.TPMax)
			}
			e := s.StatedError(nil)
			if e == nil {
				e = &latency.Stated{HeldOut: "not stated"}
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.1f %%\t%.1f %%\t%.1f %%\t%s\t%s\n", s.Name, strings.Join(t.GPUs, ", "), tp, t.Engine, e.E2E, e.TPOT, e.TTFT, e.HeldOut, strings.Join(models, ", "))
		}
		roofline := latency.RooflineStated()
		fmt.Fprintf(w, "\nErrors are medians over runs of those of means. Other models of the same kind are covered where a set states its leave-one-model-out error; elsewhere roofline serves (%s).\nOthers: blis train, and --coefficients with its file. All of it: --format json.\n", roofline.String())
	}, "ENGINE", "BY", "GPU", "TP")
}
