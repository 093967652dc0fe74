package metrics

// DataParallel is what the data-parallel ranks of an instance count that step together, as the ranks
// of an MoE model do.
type DataParallel struct {
	GroupSteps int64 `json:"group_steps"` // steps of all ranks together, those without a request included
	DummySteps int64 `json:"dummy_steps"` // Σ over them of the ranks that had nothing to execute
	WaitMicros int64 `json:"wait_us"`     // Σ time that each rank waited for the slowest one

	// Over the steps in which a rank had a request: tokens of the rank with the most, and of all
	// ranks. A rank that has nothing to execute counts as one token.
	MaxTokens int64 `json:"max_tokens"`
	Tokens    int64 `json:"tokens"`
}

// Merge adds the counts of another instance.
func (d *DataParallel) Merge(o *DataParallel) {
	d.GroupSteps += o.GroupSteps
	d.DummySteps += o.DummySteps
	d.WaitMicros += o.WaitMicros
	d.MaxTokens += o.MaxTokens
	d.Tokens += o.Tokens
}
