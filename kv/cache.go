package kv

// Cache is a pool of Total blocks with a prefix cache. Token counts are
// positions from the start of a sequence. Known tokens are those whose value is
// known already, prompt and delivered output: only blocks of known tokens are
// keyed.
type Cache interface {
	// Lookup finds the leading blocks of s that are cached, at most those that
	// leave one of the known tokens to compute, and remembers them in s for
	// Need and Extend, which must follow before the cache changes. s must hold
	// no blocks. The cache does not change.
	Lookup(s *Sequence, known int32) Hit
	// Journal makes the cache call f when named content comes to be cached of
	// which there was no copy, and when the last copy is evicted. Nil: no f. Own
	// content is left out, since no other request can ask for it.
	Journal(f func(key uint64, stored bool))
	// Extend makes s hold blocks for tokens [0, upto), and the blocks that the
	// last Lookup hit when s held none. It reports false, and changes nothing,
	// when the free list is too short. Blocks filled by known tokens are keyed.
	Extend(s *Sequence, upto, known int32) bool
	// Key keys the full blocks of s up to token upto.
	Key(s *Sequence, upto int32)
	// Release gives all blocks of s back, its last one first. No Lookup will ask
	// for its own content again.
	Release(s *Sequence)
	// Preempt is Release for a sequence that will be back: its own content can
	// be hit again until it is evicted.
	Preempt(s *Sequence)
	// Take removes n ≤ Free() blocks from the head of the free list for members
	// of a decode run, each of which books its share by Adopt.
	Take(n int)
	// Adopt books blocks that Take removed to s, so that it holds tokens
	// [0, upto), with keys for the full blocks up to token keyed. All of these
	// blocks are own content of s.
	Adopt(s *Sequence, upto, keyed int32)

	// Oldest appends to list what keyed blocks there are among the first n of the free list, in
	// its order. Own content counts if its sequence was given back by Preempt.
	Oldest(list []FreeBlocks, n int) []FreeBlocks
	// OpenTier prepares t for the content of b, so that entry i of t is block i of it.
	OpenTier(t *TierSequence, b FreeBlocks, priority float64)
	// Pin takes the blocks from … to−1 of b off the free list. A Lookup finds them, and nobody
	// else gets them. b is from the last Oldest, the cache has not changed since but by Pin, and
	// none of the blocks is pinned.
	Pin(b FreeBlocks, from, to int32) PinID
	// Unpin gives pinned blocks back as Release does, the last one first.
	Unpin(id PinID)
	// Unkey takes the keys of blocks from … To−1 of b, the last one first. They stay where they
	// are on the free list, and no Lookup finds them. b is from the last Oldest, and the cache has
	// not changed since but by Unkey of whole other items.
	Unkey(b FreeBlocks, from int32)

	// Free and Total count blocks.
	Free() int
	Total() int
	// Need is the number of blocks that Extend would take from the free list.
	Need(s *Sequence, upto int32) int
	// Check verifies that used + free = total and that each reference count is
	// the number of holders. holders are all sequences that hold blocks.
	Check(holders []*Sequence) error
	// Fold hashes the free list as (key, length) runs, with keys only where
	// content is named: equal for Pool and NaivePool.
	Fold() uint64
}

// FreeBlocks is consecutive blocks of one content on the free list, From … To−1, the last one
// nearest the head.
type FreeBlocks struct {
	From, To int32

	run    runID     // of a Pool
	blocks []BlockID // of a NaivePool, block To−1 first
}

// PinID is a number of what Pin took off the free list. Unpin makes it vacant.
type PinID int32

// Hit is the result of a Lookup.
type Hit struct {
	Blocks int // leading blocks found
	OnFree int // of them, those on the free list: taking one costs a free block
}

func ceilDiv(a, b int32) int32 { return (a + b - 1) / b }
