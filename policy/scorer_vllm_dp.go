package policy

// vllmDP is (max − x)/(max − min) of x = 4·waiting + running over the candidates, 1 when
// all are equal: how vLLM's coordinator weighs data-parallel ranks, which sends a request
// to the smallest x.
var vllmDP = scorerRow{name: "vllm-dp", weight: "0", observes: QueueDepth | BatchSize,
	count: func(s *Slot) int64 { return 4*int64(s.Queue) + int64(s.Batch) },
	help:  "1 at the smallest 4·waiting + running, 0 at the largest, linear between: vLLM's choice among data-parallel ranks"}
