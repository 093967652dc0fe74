package policy

import (
	"math"
	"testing"
)

func init() {
	naiveScorers["load-aware"] = func(view *View) []float64 {
		var scores []float64
		for _, s := range view.slots {
			scores = append(scores, 0.5*(1-math.Min(float64(s.Queue), 128)/128))
		}
		return scores
	}
}

func TestLoadAware(t *testing.T) {
	scoresOf(t, "load-aware", QueueDepth, []scored{
		{"empty, half full, full", loads(0, 64, 128), []float64{0.5, 0.25, 0}},
		{"beyond the threshold all are the same", loads(129, math.MaxInt32, 127), []float64{0, 0, 0.00390625}},
		{"others do not matter", loads(32, 0, 500).close(1, 2), []float64{0.375, -1, -1}},
		{"running requests and those in flight do not count", viewOf(Slot{Batch: 9, InFlight: 9, Routable: true}), []float64{0.5}},
	})
}
