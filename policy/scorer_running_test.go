package policy

import "testing"

func init() {
	naiveScorers["running-requests"] = func(view *View) []float64 {
		return naiveShares(view, func(s Slot) float64 { return float64(s.Batch) })
	}
}

func TestRunningRequests(t *testing.T) {
	batches := func(counts ...int32) *View {
		view := &View{}
		for _, n := range counts {
			view.Add(Slot{Batch: n, Queue: 9 - n, InFlight: 9 - n, Routable: true})
		}
		return view
	}
	scoresOf(t, "running-requests", BatchSize, []scored{
		{"linear between the extremes", batches(6, 2, 4), []float64{0, 1, 0.5}},
		{"extremes are those of the candidates", batches(9, 6, 2, 4, 0).close(0, 4), []float64{-1, 0, 1, 0.5, -1}},
		{"all equal", batches(3, 3), []float64{1, 1}},
		{"alone", batches(7), []float64{1}},
	})
}
