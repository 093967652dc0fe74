package metrics

// Disaggregation is what an instance counts of the KV that it hands over to other instances for
// their decoding, and of what it pulls from others for its own.
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
	RemoteTokens int64 // pulled for requests at their first admission
}
