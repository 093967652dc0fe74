package policy

// runningRequests is (max − n)/(max − min) of the batch size over the candidates, 1 when
// all are equal: llm-d's running-requests-size-scorer.
var runningRequests = scorerRow{name: "running-requests", weight: "0", observes: BatchSize, count: func(s *Slot) int64 { return int64(s.Batch) },
	help: "1 at the smallest batch, 0 at the largest, linear between"}
