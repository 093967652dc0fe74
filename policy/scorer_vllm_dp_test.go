package policy

import (
	"math"
	"testing"
)

func init() {
	naiveScorers["vllm-dp"] = func(view *View) []float64 {
		return naiveShares(view, func(s Slot) float64 { return 4*float64(s.Queue) + float64(s.Batch) })
	}
}

func TestVLLMDP(t *testing.T) {
	scoresOf(t, "vllm-dp", QueueDepth|BatchSize, []scored{
		{"a waiting request counts as four running ones", viewOf(Slot{Queue: 1, Routable: true}, Slot{Batch: 4, Routable: true}, Slot{Batch: 2, InFlight: 9, Routable: true}), []float64{0, 0, 1}},
		{"linear between the extremes", viewOf(Slot{Queue: 2, Batch: 2, Routable: true}, Slot{Routable: true}, Slot{Queue: 1, Batch: 1, Routable: true}), []float64{0, 1, 0.5}},
		{"extremes are those of the candidates", loads(9, 1, 2, 0).close(0, 3), []float64{-1, 1, 0, -1}},
		{"all equal", loads(3, 3), []float64{1, 1}},
		{"counts near the end of int32 do not wrap", viewOf(Slot{Queue: math.MaxInt32, Batch: math.MaxInt32, Routable: true}, Slot{Queue: 5, Routable: true}), []float64{0, 1}},
	})
}
