package engine

// backlog is what an instance knows of how long a prompt will have to wait: the
// tokens that wait to be prefilled, and the recent prefill rate. Instances keep
// it with Config.KeepBacklog alone.
type backlog struct {
	waiting int64 // Σ known tokens of the requests in phase waiting

	// Sums over the last RecentPrefills steps that prefilled something.
	ring           [RecentPrefills]prefill
	next           int
	tokens, micros int64
}

// RecentPrefills is the number of steps that the prefill rate looks back. Steps
// that prefilled nothing do not count.
const RecentPrefills = 32

// prefill is one step that prefilled something: its prefill tokens and its length.
type prefill struct{ tokens, micros int64 }

// add takes in a step that ended.
func (k *backlog) add(b *batch) {
	if b.sums.PrefillTokens == 0 {
		return
	}
	out := &k.ring[k.next]
	in := prefill{b.sums.PrefillTokens, int64(b.duration)}
	k.tokens += in.tokens - out.tokens
	k.micros += in.micros - out.micros
	*out = in
	k.next = (k.next + 1) % RecentPrefills
}
