package metrics

import "slices"

// PDReport is how one instance handed requests over to another (prefill/decode disaggregation).
type PDReport struct {
	Overall PDUse `json:"overall"`

	// Of completed requests that were handed over; null without any.
	Phases *HandOverPhases `json:"phases_us"`

	HandedOver   int64 `json:"handed_over_requests"` // measured ones
	RemoteTokens int64 `json:"remote_tokens"`        // prompt tokens of measured requests that need not be computed again since they were pulled

	PerInstance PDUsesByInstance `json:"per_instance"`
}

// PDUse is what some instances handed over and pulled, over their whole lives. Missing values are nil.
type PDUse struct {
	Disaggregated *int64 `json:"disaggregated_requests,omitempty"` // decisions that the prompt is computed elsewhere; overall and per deployment
	Direct        *int64 `json:"direct_requests,omitempty"`        // decisions against that

	// As the ones who compute prompts.
	HandOvers    int64    `json:"hand_overs"`            // that left KV to be pulled
	WithoutKV    int64    `json:"hand_overs_without_kv"` // that left none
	Pulled       int64    `json:"pulls_noticed"`         // pulls of their KV whose end they noticed
	ToldLeft     int64    `json:"left_noticed"`          // requests of which they noticed that they left before their pull
	Expired      int64    `json:"expired"`               // KV released because nobody pulled it in time
	StalePulls   int64    `json:"stale_pulls"`           // pulls of such KV after all
	Lost         int64    `json:"lost"`                  // KV that went with its instance
	Awaiting     int64    `json:"awaiting"`              // KV held at the end of the run: its pull was not noticed, or there was none yet
	PeakAwaiting int64    `json:"awaiting_peak"`         // the highest of any instance
	HeldMean     *float64 `json:"held_blocks_mean"`      // GPU blocks of requests that ended, of an instance

	// As the ones who pull.
	Pulls       int64    `json:"pulls"`
	Blocks      int64    `json:"pulled_blocks"`
	Bytes       int64    `json:"pulled_bytes"`
	PullMean    *float64 `json:"pull_mean_us"`        // from start to end
	Pulling     *float64 `json:"pulling_mean"`        // pulls under way, of an instance
	NoticeMean  *float64 `json:"pull_notice_mean_us"` // from end to notice, of those noticed
	FailedPulls int64    `json:"failed_pulls"`        // of requests that still waited
	Left        int64    `json:"left"`                // requests that left before their pull
	Tokens      int64    `json:"remote_tokens"`       // pulled for requests at their first admission
	LocalRate   *float64 `json:"local_hit_rate"`      // of the prompt tokens of requests that pulled, those that they found in the GPU's cache

	DeadlockBreaks int64 `json:"deadlock_breaks"`
}

// PDUsesByInstance is by instance, in the order of their indices.
type PDUsesByInstance struct {
	names []string
	uses  []*PDUse
}

// MarshalJSON prints an object from instance to use that keeps the order.
func (s PDUsesByInstance) MarshalJSON() ([]byte, error) {
	return Object(s.names, func(i int) any { return s.uses[i] })
}

// pd reports hand-overs and pulls of the run, given all of its requests; nil if no instance makes any.
func (c *collection) pd(all *cell) *PDReport {
	if c.Disaggregated == nil {
		return nil
	}
	instances := make([]int, len(c.Disaggregated))
	r := &PDReport{PerInstance: PDUsesByInstance{names: c.InstanceNames}, Phases: c.handOverPhases(all)}
	if h := all.handedOver; h != nil {
		r.HandedOver, r.RemoteTokens = h.requests, h.remote
	}
	for i := range instances {
		instances[i] = i
		r.PerInstance.uses = append(r.PerInstance.uses, c.pdUse(nil, instances[i:i+1]))
	}
	r.Overall = *c.pdUse(c.coordination(), instances)
	return r
}

// coordination is that of all deployments.
func (c *collection) coordination() *Coordination {
	sum := &Coordination{}
	for i := range c.Deployments {
		if k := c.Deployments[i].Coordination; k != nil {
			sum.Disaggregated += k.Disaggregated
			sum.Direct += k.Direct
			sum.Backpressure += k.Backpressure
		}
	}
	return sum
}

// backpressure is the number of hand-overs with it; nil if there are no hand-overs.
func (c *collection) backpressure() *int64 {
	if c.Disaggregated == nil {
		return nil
	}
	return &c.coordination().Backpressure
}

// pdUse reports some instances together; nil if no instance hands over or pulls.
func (c *collection) pdUse(k *Coordination, instances []int) *PDUse {
	if c.Disaggregated == nil {
		return nil
	}
	var d Disaggregation
	life, bytes := 0.0, int64(0)
	for _, i := range instances {
		x := &c.Disaggregated[i]
		d.Merge(x)
		life += float64(c.Counters[i].LifeMicros)
		bytes += x.PulledBlocks * c.blockBytesOf(i)
	}
	u := &PDUse{
		HandOvers: d.HandOvers, WithoutKV: d.WithoutKV, Pulled: d.NoticedEnds, ToldLeft: d.NoticedLeft, Expired: d.Expired, StalePulls: d.StalePulls, Lost: d.Lost,
		Awaiting: d.Awaiting(), PeakAwaiting: d.PeakAwaiting, HeldMean: ratio(float64(d.HeldMicros), life),
		Pulls: d.Pulls, Blocks: d.PulledBlocks, Bytes: bytes, PullMean: ratio(float64(d.PullMicros), float64(d.Pulls)), Pulling: ratio(float64(d.PullMicros), life),
		NoticeMean: ratio(float64(d.PullNotice), float64(d.NoticedPulls)), FailedPulls: d.FailedPulls, Left: d.Left, Tokens: d.RemoteTokens,
		LocalRate: ratio(float64(d.PulledCached), float64(d.PulledPrompts)), DeadlockBreaks: d.DeadlockBreak,
	}
	if k != nil {
		u.Disaggregated, u.Direct = &k.Disaggregated, &k.Direct
	}
	return u
}

// lookUpOnce takes what requests found on the instances that pulled their KV out of the counters: their
// prompts were looked up where they were computed. It does not change those of the run.
func (c *collection) lookUpOnce() {
	if c.Disaggregated == nil {
		return
	}
	c.Counters = append([]Counters(nil), c.Counters...)
	for i := range c.Disaggregated {
		c.Counters[i].LookUpOnce(&c.Disaggregated[i])
	}
}

// LookUpOnce takes out what requests found on the instance, which counted c and d, for their prompts were
// looked up where they were computed.
func (c *Counters) LookUpOnce(d *Disaggregation) {
	c.CachedTokens -= d.RemoteTokens + d.PulledCached
	c.LookedUpTokens -= d.PulledPrompts
}

// blockBytesOf is the size of a KV block of an instance.
func (c *collection) blockBytesOf(instance int) int64 {
	for i := range c.Deployments {
		for k := range c.Deployments[i].Pools {
			p := &c.Deployments[i].Pools[k]
			if _, found := slices.BinarySearch(p.Instances, instance); found {
				return p.BlockBytes
			}
		}
	}
	return c.BlockBytes
}
