package engine

import (
	"cmp"
	"slices"

	"blis/vtime"
)

// Observer sees what happens inside an instance, at the time of the event that
// does it. Its arguments are valid during the call, and it must not change them.
type Observer interface {
	// Formed takes a formation at now that scheduled or preempted something.
	Formed(now vtime.Time, f *Formation)
	// Preempted takes a request that is about to lose its blocks.
	Preempted(now vtime.Time, p Preemption)
	// Transferred takes a transfer to or from the CPU tier that the pass formed at now notices,
	// also one between it and a storage tier, and a pull.
	Transferred(now vtime.Time, t Transfer)
	// Expired takes KV of so many blocks that was held for a pull and is given up in the pass formed at
	// now, as its time-out is over.
	Expired(now vtime.Time, request int64, blocks int32)
	// Anomaly takes an anomaly just when Counters count it.
	Anomaly(now vtime.Time, a Anomaly)
}

// Formation is what became of one attempt to form a batch.
type Formation struct {
	Step                            // Start and End are equal when nothing is scheduled
	New, Resumed, Preempted []int64 // admitted for the first time, after a preemption, and preempted requests
	Cached                  []Share // prompt tokens that each admitted request found in the cache
	Free                    int     // KV blocks

	batch  *batch
	cohort *cohort
	shares []Share
}

// Share is a number of tokens of one request.
type Share struct {
	Request int64
	Tokens  int32
}

// Empty reports whether nothing is scheduled.
func (f *Formation) Empty() bool { return f.batch.empty() }

// Scheduled lists the tokens of each request in the batch, members of the cohort
// too, in order of admission.
func (f *Formation) Scheduled() []Share {
	type admitted struct {
		order int64
		Share
	}
	var all []admitted
	for _, it := range f.batch.items {
		all = append(all, admitted{it.order, Share{it.id, it.scheduled}})
	}
	if f.batch.members > 0 {
		f.cohort.ends.each(func(i int32) {
			if s := f.cohort.requests.at(i); s.joined <= f.batch.number {
				all = append(all, admitted{s.order, Share{s.ID, 1}})
			}
		})
	}
	slices.SortFunc(all, func(x, y admitted) int { return cmp.Compare(x.order, y.order) })
	f.shares = f.shares[:0]
	for _, o := range all {
		f.shares = append(f.shares, o.Share)
	}
	return f.shares
}

// admit notes that s is admitted with cached tokens.
func (f *Formation) admit(s *slot, cached int32) {
	list := &f.New
	if s.Preempted {
		list = &f.Resumed
	}
	*list = append(*list, s.ID)
	f.Cached = append(f.Cached, Share{s.ID, cached})
}

// fill fills in the batch that was formed.
func (f *Formation) fill(b *batch, from *batcher) {
	r := from.requests
	f.Step = Step{r.running(), r.waiting(), b.sums.PrefillTokens, b.sums.DecodeTokens, from.used(), b.start, b.end}
	if b.empty() {
		f.Start, f.End = b.formedAt, b.formedAt
	}
	f.Free, f.batch, f.cohort = from.cache.Free(), b, &from.cohort
}

// clear forgets the formation before.
func (f *Formation) clear() {
	f.New, f.Resumed, f.Preempted, f.Cached = f.New[:0], f.Resumed[:0], f.Preempted[:0], f.Cached[:0]
}

// Step is a step as it was formed. It executes from Start to End. With async
// scheduling Start is the end of the step before.
type Step struct {
	Running, Waiting            int32 // requests in the running list and the wait queue
	PrefillTokens, DecodeTokens int64
	Used                        int // KV blocks that requests hold
	Start, End                  vtime.Time
}

// Preemption is a request that loses its blocks so that the request For gets some.
// The two are the same when a request gives way to those before it.
type Preemption struct {
	Request, For int64
	Computed     int32 // its tokens in the cache
	Free         int   // blocks that were free, and not enough
}

// Transfer moved KV blocks of a request between two tiers. One to a storage tier may be of
// several requests; it has the first of them.
type Transfer struct {
	Request                        int64
	Way                            TransferWay
	Storage                        int32 // the storage tier, where the way is from or to one
	Blocks                         int32 // of the GPU
	Submitted, Start, End, Noticed vtime.Time
	From                           int64 // of a pull: KVSource.From
}

// TransferWay is from where to where KV moves.
type TransferWay uint8

// Ways.
const (
	WayOffload TransferWay = iota // GPU to CPU tier
	WayReload                     // CPU tier to GPU
	WayPromote                    // storage tier to CPU tier
	WayWrite                      // CPU tier to storage tier
	WayPull                       // GPU of another instance to GPU
)

// Anomaly is something that a policy may have done wrong. The request that suffers
// comes first.
type Anomaly struct {
	Kind     AnomalyKind
	Requests []int64
	Severity float64 // finite; in the unit of the kind
}

// AnomalyKind is which of the anomalies of one instance it is; docs/metrics.md
// defines them.
type AnomalyKind uint8

// Kinds, with the requests and the unit of severity of each.
const (
	PriorityInversion  AnomalyKind = iota // the one that waits, the one scheduled; difference of their priorities
	HeadOfLineBlocking                    // the one that waits, the one that completes; µs for which the former has waited
	BlockedHead                           // the head; requests that wait
	PreemptionStorm                       // none; preemptions within the second, at most max_num_seqs + 1
	KVThrashing                           // the one that loads; its entries that were stored just before
)
