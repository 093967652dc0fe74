// Package kv is the KV cache of one instance: a pool of equal blocks on the GPU, a prefix
// cache over them and the free list that decides what is evicted first. Below it
// there may be a [Tier], which keeps copies in the CPU's memory.
//
// A full block has a key once all of its tokens are known; the key names its
// tokens and all before it. A request looks up the leading blocks of its prompt,
// takes those that are cached, and gets the rest from the head of the free list,
// which evicts what they held. It gives its blocks back with the last one
// first, so of a sequence the deepest blocks are evicted first. Two requests
// that compute the same block at a time leave two copies of it; a lookup finds
// the one that was keyed first.
//
// # Runs
//
// All this is defined block by block, and [NaivePool] does it block by block:
// every block has a number, a reference count and a key, and the free list is a
// slice. [Pool] gives the same results, but its cost follows the spans of the
// content, whatever the block size:
//
//	prompt A   |system ··················|question a ·········|
//	prompt B   |system ··················|question b ····|
//
//	tree        segment "system" ────────── segment "question a"
//	            interval 0–2 │ interval 3–7 segment "question b"
//	copies      run r        │ run s
//	                         │ run t
//
//	free list   head → 40 anonymous → s: 7 6 5 4 3 → 12 anonymous → tail
//
// A segment is what is cached of one extent (see [workload.Extent]): blocks
// without a gap from its first one on, as a rule, for a block is evicted before those in
// front of it. An interval is consecutive blocks of a segment with the same
// copies. A run is one such copy: blocks held by the same sequences, with one
// reference count, or else one entry of the free list. No result depends on where
// in the GPU's memory a block lies, so blocks have no numbers.
//
// In the picture both prompts hold blocks 0–2 as run r. They computed blocks 3–7
// at the same time, A as run s and B as run t. Then A ended: s lies on the free
// list, where block 7 will be evicted first. The next prompt that begins with
// "system" gets s all the same, for it was keyed before t.
//
// An interval is split where a hit or a prompt ends within it, or where one of
// several copies is evicted in part, and all its copies with it. The deep part
// keeps its number, the new shallow part is linked from it: so a sequence that
// holds the run still has all of it. Two runs that come to the free list one
// after the other, and follow each other in a segment, are one again.
//
// Anonymous blocks are those that no lookup can find: never used, partly filled, or
// full of content that only a request now gone had. A sequence counts such blocks;
// on the free list neighbours are one entry. So a request with a unique prompt
// costs the same, however long it is. When it is preempted, its full blocks
// become a run in a segment that only the request itself looks up.
//
// # Costs
//
// A lookup costs one step per span, and a table access where a prompt parts from another one:
// one child of each segment is found through its parent. Holding, keying and releasing cost
// as much, plus what there are of splits. A split costs one step per copy of the
// interval. Each such step makes a run, a run is one block at least, so however
// many equal prompts are computed at a time, all splits together cost no more
// steps than there are blocks keyed. A cached span takes about 150 bytes.
//
// Keys of single blocks cost a hash each. Only [Pool.Journal] and [Pool.Fold] need
// them: without a journal none is computed before the end of a simulation.
//
// A [Sequence] is what a cache keeps of one request: its content, the blocks it
// holds and how many of them are keyed.
//
// # Pins
//
// Who stores blocks just before they are evicted looks at the head of the free list by
// [Cache.Oldest] and takes what it stores off it by [Cache.Pin]. A pin is one more holder: a
// lookup finds the blocks, and they come back to the tail. Meanwhile blocks in front of them may
// be evicted, so a segment can have gaps. A lookup ends at a gap, and keying fills it. Own
// content of a request that ended is listed only if it was given back by Preempt: it is a run
// then, not anonymous.
//
// # The CPU tier
//
// A tier keeps entries, each the KV of one or more GPU blocks. Its rules are those of
// vLLM's offload manager, entry by entry in [NaiveTier]. [ExtentTier] gives the same results
// from intervals, which are consecutive entries of a segment in the same state that follow
// each other in their queue. A segment of a tier has gaps: an entry that is being written
// or read cannot be evicted, so deeper ones may stay when those before them go.
//
//	segment "system"       │0 1 2 3 4 5 6 7│
//	segment "question a"   │8 9│      │12 13│14│      10 and 11 were evicted, 14 is being written
//
//	queue of LRU           oldest → 13 12 │ … │ 14 → 9 8 → 7 6 5 4 3 2 1 0 ← newest
//
// Each eviction has its queues of intervals. LRU has one. ARC has one of entries used once, one of
// entries used more often, and two of ghosts, which are what was evicted from each. LFU and
// Priority have one per number of touches, or per priority, and evict from the lowest.
//
// A touch makes the deepest entry the oldest, so its intervals fall. Store leaves the shallowest
// one the oldest, so its interval rises until the first touch. Two intervals are merged when
// nothing tells them apart any more: the same queue, one behind the other in the same direction,
// equally many loads and copies that read them, or the same writer, and stores that ended at the
// same time or so long ago that no load can count as thrashing ([ExtentTier.Advance] says what
// time it is).
//
// A touch leaves the intervals of a chain next to each other in their queue. They are a group, as
// long as nothing moves one of them by itself. The next touch of the same request moves the group
// in one step. Requests that decode in turn share a few spans at most, as a rule; each takes
// these out of the group of the one before, and moves the rest of its chain as a group.
//
// A request that decodes stores entry after entry behind its own last one, and touches all of
// them each time. The interval stored last grows in place then: what it got is its tail until
// the next one comes.
//
// So a chain that is used as a whole costs an interval per span, and a lookup, a store or a first
// touch one step for each of them, whatever the number of entries. A touch that moves nothing is
// remembered. An eviction does not look again at old entries that cannot be evicted. LFU costs
// more: entries touched a different number of times share no interval. The threshold of
// lookups is counted per entry.
//
// # Tiers below the CPU tier
//
// A tier on storage is a [Tier] too, often without a limit. What becomes readable in the CPU
// tier is copied to it; [Tier.BeginCopy] keeps it from being evicted meanwhile. What a request
// lacks in the CPU tier comes back by [Tier.Promote]. Each tier has a [TierSequence] of its own
// for a request, opened from the content of the first.
package kv
