package metrics

// Disaggregation is what an instance counts of the KV that it hands over to other instances for
// their decoding, and of what it pulls from others for its own, over its whole life.
type Disaggregation struct {
	// Prefills for others.
	HandOvers    int64 // that left KV to be pulled
	WithoutKV    int64 // that left none: the request ended by itself, or as a victim
	PeakAwaiting int64 // most that awaited their pull at once
	NoticedEnds  int64 // pulls whose end was noticed
	NoticedLeft  int64 // requests of which it was noticed that they left before their pull
	Expired      int64 // released because nobody pulled in time
	StalePulls   int64 // … of which it was heard later that somebody did
	Lost         int64 // gone with the instance

	// Pulls.
	Pulls        int64
	PulledBlocks int64
	PullMicros   int64 // Σ time of pulls, which run side by side
	NoticedPulls int64
	PullNotice   int64 // µs from end to notice, summed
	FailedPulls  int64 // whose request still waited
	Left         int64 // requests that left before their pull, and of which the other side was told

	// Requests at their first admission, after their pull; tokens. The last two are 0 without prefix caching.
	RemoteTokens  int64 // pulled; Counters.CachedTokens has them too
	PulledPrompts int64 // of their prompts, pulled or not; Counters.LookedUpTokens has them too
	PulledCached  int64 // of their prompts, found in the GPU's cache; Counters.CachedTokens has them too

	HeldMicros    int64 // ∫ GPU blocks of requests that ended, held for pulls and stores, dt
	DeadlockBreak int64
}

// fields are all but the peak. They merge by addition.
func (d *Disaggregation) fields() [19]*int64 {
	return [...]*int64{
		&d.HandOvers, &d.WithoutKV, &d.NoticedEnds, &d.NoticedLeft, &d.Expired, &d.StalePulls, &d.Lost,
		&d.Pulls, &d.PulledBlocks, &d.PullMicros, &d.NoticedPulls, &d.PullNotice, &d.FailedPulls, &d.Left,
		&d.RemoteTokens, &d.PulledPrompts, &d.PulledCached, &d.HeldMicros, &d.DeadlockBreak,
	}
}

// Merge adds the counters of another instance. The peak becomes the larger of the two.
func (d *Disaggregation) Merge(o *Disaggregation) {
	mine, other := d.fields(), o.fields()
	for i := range mine {
		*mine[i] += *other[i]
	}
	d.PeakAwaiting = max(d.PeakAwaiting, o.PeakAwaiting)
}

// Fold is a hash of all counters.
func (d *Disaggregation) Fold() uint64 {
	values := []uint64{uint64(d.PeakAwaiting)}
	for _, p := range d.fields() {
		values = append(values, uint64(*p))
	}
	return foldInts(values...)
}

// Awaiting is the number of prefills whose KV awaits its pull.
func (d *Disaggregation) Awaiting() int64 {
	return d.HandOvers - d.NoticedEnds - d.NoticedLeft - d.Expired - d.Lost
}
