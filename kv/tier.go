package kv

import (
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// Tier is a store below the GPU in which copies of KV blocks are kept, as vLLM's CPU
// offload manager does for an instance. It holds entries: the KV of a number of
// consecutive tokens, a whole number of GPU blocks, under the key of all tokens up to
// their end. An entry is being written, or readable. Readable ones may be read, by loads
// into the GPU and by copies to another tier; only those that nobody reads are evicted, the
// one first that the Eviction names.
//
// Entries are numbered by their place in a sequence.
type Tier interface {
	// Touch makes entries 0 … n−1 of s, as far as they are there, the last used ones,
	// entry 0 the very last.
	Touch(s *TierSequence, n int32)
	// Lookup returns how many entries of s from number from on can be read, one after
	// the other, at most those before to. It counts the keys of all of from … to−1 for
	// the store threshold.
	Lookup(s *TierSequence, from, to int32) int32
	// Loading reports whether one of the entries from … to−1, all of which are there, is
	// being read by a load.
	Loading(s *TierSequence, from, to int32) bool
	// BeginLoad lets a load read the entries from … to−1, all of which are readable, and
	// returns how many of them were written less than Thrashing before now, the start of
	// the load. now does not go back from one call to the next.
	BeginLoad(s *TierSequence, from, to int32, now vtime.Time) int32
	// EndLoad ends what BeginLoad began.
	EndLoad(s *TierSequence, from, to int32)
	// Store makes room for those of the entries from … to−1 of s that are not there and
	// were looked up often enough, and begins to write them for s. It returns their
	// number. It reports false, and changes nothing, if not enough can be evicted; the
	// other entries from … to−1 are not. It touches nothing.
	Store(s *TierSequence, from, to int32) (entries int32, ok bool)
	// StoreTouched is Store, and then Touch(s, to) if there was something to store.
	StoreTouched(s *TierSequence, from, to int32) (entries int32, ok bool)
	// StoreDeepest begins to write, for s, entries hi−1 down to lo: the deepest of from … to−1
	// that are not there, as far as no entry that is there lies between, and as many as there
	// is room for. lo = hi: if both are from none is missing, else there is no room. It does not
	// ask for lookups and touches nothing; the deepest entry is the oldest. For one request it
	// goes with neither Store nor Promote.
	StoreDeepest(s *TierSequence, from, to int32) (lo, hi int32)
	// Advance says that no load will begin before now. It changes no result. Called at
	// every formation it lets an ExtentTier merge what was stored at different times.
	Advance(now vtime.Time)
	// Sent says when the transfer ends that writes the entries of s which Store
	// returned, for those of from … to−1 that have no such time yet.
	Sent(s *TierSequence, from, to int32, end vtime.Time)
	// Written makes all entries readable that are being written for s, and appends their
	// ranges to list, in the order in which they were stored, neighbours joined.
	Written(s *TierSequence, list []EntryRange) []EntryRange

	// Promote makes room for entries from … of s that are not there, one after the other, as
	// many before to as there is room for and as far as no entry that is there, in whatever
	// state, lies between, and begins to write them for s. It returns the entry behind the
	// last one; from if there are none. It does not ask for lookups, touches nothing, and
	// evicts none of the entries 0 … to−1 of s. Nobody calls Sent for what it writes, and no
	// load of it counts as thrashing.
	Promote(s *TierSequence, from, to int32) (end int32)
	// Promoting reports whether entry i of s is being written by a Promote, of whatever
	// sequence.
	Promoting(s *TierSequence, i int32) bool
	// Withdraw forgets those of the entries from … to−1 that are being written for s: they
	// never become readable. That is no eviction.
	Withdraw(s *TierSequence, from, to int32)
	// Remove forgets the entries from … to−1 of s, all of which are readable and nobody reads.
	// That is no eviction, though the journal hears of it as of one.
	Remove(s *TierSequence, from, to int32)
	// BeginCopy lets a copy to another tier read the entries from … to−1, all of which are
	// readable: they are not evicted meanwhile. Loading does not see it.
	BeginCopy(s *TierSequence, from, to int32)
	// EndCopy ends what BeginCopy began.
	EndCopy(s *TierSequence, from, to int32)

	// Used and Capacity count entries.
	Used() int
	Capacity() int
	// Evicted returns the number of entries evicted so far.
	Evicted() int64
	// Journal makes the tier call f when an entry of named content becomes readable for
	// the first time, and when it is evicted. Own content is left out, since no other
	// request can ask for it. Nil: no f.
	Journal(f func(key uint64, stored bool))
	// Check verifies the books. writers are all sequences for which entries may be
	// being written; loads and copies are the numbers of entries that each load and each copy
	// reads, in sum.
	Check(writers []*TierSequence, loads, copies int) error
	// Fold hashes the entries in the order of eviction, as if all could be evicted, with
	// keys only where content is named: equal for both tiers.
	Fold() uint64
}

// EntryRange is the entries From … To−1 of a sequence.
type EntryRange struct{ From, To int32 }

// entered appends the entries from … to−1 to a list, whose items from the first one on are of
// the same sequence. falling says that its entries were stored the deepest first.
func entered(list []EntryRange, first int, from, to int32, falling bool) []EntryRange {
	switch n := len(list); {
	case n > first && !falling && list[n-1].To == from:
		list[n-1].To = to
	case n > first && falling && list[n-1].From == to:
		list[n-1].From = from
	default:
		list = append(list, EntryRange{from, to})
	}
	return list
}

// Thrashing is the time after the end of its store in which the load of an entry
// counts as thrashing, in µs.
const Thrashing vtime.Duration = 1000

// TierConfig is what a Tier is made of.
type TierConfig struct {
	Capacity  int // entries, at least 1; math.MaxInt32 and more: as good as unlimited, at no cost
	Eviction  Eviction
	Threshold int // lookups before a key is stored; below 2: all are
	Tracked   int // keys whose lookups are remembered; 0: DefaultTracked
}

// DefaultTracked is the number of keys whose lookups vLLM remembers for its
// store_threshold.
const DefaultTracked = 64_000

// Eviction is the order in which entries are evicted.
type Eviction string

// Evictions.
const (
	LRU      Eviction = "lru"      // last used or written longest ago
	ARC      Eviction = "arc"      // adaptive replacement: entries used once and more often, with ghosts of both
	LFU      Eviction = "lfu"      // used least often; among equal ones lru
	Priority Eviction = "priority" // stored by the request of lowest priority; among equal ones lru
)

// Evictions lists all of them.
var Evictions = []Eviction{LRU, ARC, LFU, Priority}

// TierSequence is a tier's side of one request: what its entries are, and which are
// being written for it. The zero value is ready for Open; a TierSequence may be opened
// again for another request once nothing is written for it, which reuses its memory. It
// remembers what it did in one tier, so it must never be used with two: another tier takes
// a TierSequence of its own with the same Content.
type TierSequence struct {
	content  content // its block is an entry
	priority float64

	// Of an ExtentTier: the version at which a Touch and a Lookup last changed nothing.
	touchedAt, foundAt uint64
	touched            int32    // entries touched then
	lookup             [2]int32 // entries looked up then …
	found              int32    // … and found
	writer             writerID // 0: nothing is being written
	group              groupID  // in which the last Touch left entry 0

	naive *naiveTierSequence // of a NaiveTier
}

// Open prepares t for the request of s, with entryTokens tokens in an entry. Higher
// priorities are more urgent.
func (t *TierSequence) Open(s *Sequence, entryTokens int32, priority float64) {
	from := &s.content
	if entryTokens != from.block || from.chain == nil || len(from.extents) == 0 {
		spans, output := s.Content()
		t.OpenContent(from.id, from.input, spans, output, entryTokens, priority)
		return
	}
	t.OpenContent(from.id, from.input, nil, 0, entryTokens, priority)
	if t.content.named, t.content.output = from.named, from.output; t.content.chain == nil {
		t.content.chain = &chain{}
	}
	t.content.copyOf(from.chain)
}

// OpenContent prepares t as Open does, for the content that another sequence returned: the
// number of its own content, the tokens of its prompt, of which spans name the first ones,
// and the content of its generated tokens, which has a name only if all of the prompt has;
// 0: they are own content. Spans are copied.
func (t *TierSequence) OpenContent(id uint64, input int32, spans []workload.Span, output workload.ContentID, entryTokens int32, priority float64) {
	c := &t.content
	c.named, c.input, c.id, c.block, c.output = 0, input, id, entryTokens, output
	for _, s := range spans {
		c.named += s.Length
	}
	t.priority, t.writer, t.group, t.touchedAt, t.foundAt = priority, 0, 0, 0, 0
	if c.chain == nil && (len(spans) > 0 || output != 0) {
		c.chain = &chain{}
	}
	if c.chain != nil {
		c.chain.open(spans, input, output, entryTokens, true)
	}
	if t.naive != nil {
		t.naive.open()
	}
}

// Content returns what t was opened for; spans are valid until it is opened again.
func (t *TierSequence) Content() (id uint64, input int32, spans []workload.Span, output workload.ContentID) {
	if t.content.chain != nil {
		spans = t.content.spans
	}
	return t.content.id, t.content.input, spans, t.content.output
}

// checkTierConfig panics where a caller made a tier that cannot be.
func checkTierConfig(c TierConfig) TierConfig {
	if c.Capacity < 1 {
		panic(fmt.Sprintf("kv: a tier of %d entries", c.Capacity))
	}
	if c.Tracked == 0 {
		c.Tracked = DefaultTracked
	}
	return c
}
