package metrics

// RanksOf is what the data-parallel ranks of an instance did that step together.
type RanksOf struct {
	Name   string // of the instance
	Ranks  int    // from 2
	Counts DataParallel
}

// DataParallelReport is how data-parallel ranks stepped together, over the whole run.
type DataParallelReport struct {
	Overall     DataParallelUse    `json:"overall"`
	PerInstance DataParallelByName `json:"per_instance"`
}

// DataParallelUse is how the ranks of some instances stepped together. Missing values are nil.
type DataParallelUse struct {
	Ranks int64 `json:"ranks"`
	DataParallel
	DummyShare *float64 `json:"dummy_share"`     // dummies / steps of ranks
	WaitMean   *float64 `json:"wait_mean_us"`    // that a rank waited for the slowest in a step
	Imbalance  *float64 `json:"token_imbalance"` // tokens of the fullest rank relative to the mean; from 1, equal shares, to the number of ranks
}

// DataParallelByName is by instance, in their order.
type DataParallelByName struct {
	names []string
	uses  []*DataParallelUse
}

// MarshalJSON prints an object from instance to use that keeps the order.
func (s DataParallelByName) MarshalJSON() ([]byte, error) {
	return Object(s.names, func(i int) any { return s.uses[i] })
}

// dataParallelUse reports instances together.
func dataParallelUse(list []RanksOf) *DataParallelUse {
	var u DataParallelUse
	steps, fullest := 0.0, 0.0
	for i := range list {
		x := &list[i]
		u.Ranks += int64(x.Ranks)
		u.Merge(&x.Counts)
		steps += float64(x.Counts.GroupSteps * int64(x.Ranks))
		fullest += float64(float64(x.Counts.MaxTokens) * float64(x.Ranks))
	}
	u.DummyShare, u.WaitMean = ratio(float64(u.DummySteps), steps), ratio(float64(u.WaitMicros), steps)
	u.Imbalance = ratio(fullest, float64(u.Tokens))
	return &u
}

// dataParallel reports the ranks of the run that step together; nil if there are none.
func (c *collection) dataParallel() *DataParallelReport {
	if len(c.DataParallel) == 0 {
		return nil
	}
	r := &DataParallelReport{Overall: *dataParallelUse(c.DataParallel)}
	for i := range c.DataParallel {
		r.PerInstance.names = append(r.PerInstance.names, c.DataParallel[i].Name)
		r.PerInstance.uses = append(r.PerInstance.uses, dataParallelUse(c.DataParallel[i:i+1]))
	}
	return r
}
