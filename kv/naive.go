package kv

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"

	"blis/workload"
)

// NaivePool is the twin of Pool that keeps every block: an id, a reference count
// and a key each, the free list as a slice of ids, the holders of a key as a
// slice. It is slow, and as close to "KV cache" in docs/semantics.md as code
// can be. It has no decode runs: Take and Adopt panic.
type NaivePool struct {
	size    int32
	caching bool
	free    []BlockID
	blocks  []block
	holders map[uint64][]BlockID // copies of a key in the order in which they were keyed
	pinned  [][]BlockID          // by PinID; nil: the number is vacant
	journal func(key uint64, stored bool)
	watch   func(stored bool, blocks int)
}

// BlockID is the number of a block of a NaivePool.
type BlockID int32

type block struct {
	refs  int
	key   uint64
	keyed bool
	named bool

	origin *TierSequence // with the content of who keyed it
	index  int32         // its number there
}

// NewNaivePool returns a cache of total free blocks of blockSize tokens; the
// free list starts as 0, 1, …, total−1.
func NewNaivePool(total int, blockSize int32, caching bool) *NaivePool {
	c := &NaivePool{size: blockSize, caching: caching, blocks: make([]block, total), holders: map[uint64][]BlockID{}}
	for i := range total {
		c.free = append(c.free, BlockID(i))
	}
	return c
}

// Free implements Cache.
func (c *NaivePool) Free() int { return len(c.free) }

// Total implements Cache.
func (c *NaivePool) Total() int { return len(c.blocks) }

// Lookup implements Cache.
func (c *NaivePool) Lookup(s *Sequence, known int32) Hit {
	hit, n := Hit{}, naive(s)
	n.blocks = n.blocks[:0]
	for i := int32(0); c.caching && i < (known-1)/c.size; i++ {
		copies := c.holders[n.key(&s.content, i)]
		if len(copies) == 0 {
			break
		}
		n.blocks = append(n.blocks, copies[0])
		hit.Blocks++
		if c.blocks[copies[0]].refs == 0 {
			hit.OnFree++
		}
	}
	s.hits = int32(hit.Blocks)
	return hit
}

// Journal implements Cache.
func (c *NaivePool) Journal(f func(key uint64, stored bool)) { c.journal = f }

// Need implements Cache.
func (c *NaivePool) Need(s *Sequence, upto int32) int {
	n := max(0, int(ceilDiv(upto, c.size)-s.Held()-s.hits))
	for _, b := range naive(s).blocks[:s.hits] {
		if c.blocks[b].refs == 0 {
			n++
		}
	}
	return n
}

// Extend implements Cache.
func (c *NaivePool) Extend(s *Sequence, upto, known int32) bool {
	if c.Need(s, upto) > len(c.free) {
		return false
	}
	n := naive(s)
	if s.Held() == 0 {
		n.blocks = n.blocks[:s.hits]
		for _, b := range n.blocks {
			if c.blocks[b].refs == 0 {
				i := slices.Index(c.free, b)
				c.free = slices.Delete(c.free, i, i+1)
			}
			c.blocks[b].refs++
		}
		s.rest, s.keyed, s.hits = s.hits, s.hits, 0
	}
	for s.Held() < ceilDiv(upto, c.size) {
		b := c.free[0]
		c.free = c.free[1:]
		c.evict(b)
		c.blocks[b].refs = 1
		n.blocks = append(n.blocks, b)
		s.rest++
	}
	c.Key(s, min(upto, known))
	return true
}

func (c *NaivePool) evict(b BlockID) {
	if x := &c.blocks[b]; x.keyed {
		if c.watch != nil {
			c.watch(false, 1)
		}
		copies := c.holders[x.key]
		i := slices.Index(copies, b)
		if copies = slices.Delete(copies, i, i+1); len(copies) == 0 {
			delete(c.holders, x.key)
			if x.named && c.journal != nil {
				c.journal(x.key, false)
			}
		} else {
			c.holders[x.key] = copies
		}
		x.keyed = false
	}
}

// Key implements Cache.
func (c *NaivePool) Key(s *Sequence, upto int32) {
	n := naive(s)
	if c.watch != nil && c.caching && upto/c.size > s.keyed {
		c.watch(true, int(upto/c.size-s.keyed))
	}
	for i := s.keyed; c.caching && i < upto/c.size; i++ {
		b := n.blocks[i]
		x := &c.blocks[b]
		x.key, x.keyed = n.key(&s.content, i), true
		x.origin, x.index = n.origin(s), i
		x.named = (i+1)*c.size <= s.content.named || s.content.output != 0
		c.holders[x.key] = append(c.holders[x.key], b)
		if x.named && len(c.holders[x.key]) == 1 && c.journal != nil {
			c.journal(x.key, true)
		}
		s.keyed = i + 1
	}
}

// Release implements Cache.
func (c *NaivePool) Release(s *Sequence) {
	c.unref(slices.Backward(naive(s).blocks[:s.rest]))
	s.rest, s.keyed, s.hits = 0, 0, 0
}

// unref drops one holder of each block; the last one sends it to the free list.
func (c *NaivePool) unref(blocks iter.Seq2[int, BlockID]) {
	for _, b := range blocks {
		x := &c.blocks[b]
		if x.refs--; x.refs == 0 {
			c.free = append(c.free, b)
		}
	}
}

// Preempt implements Cache. What has a key can be hit again.
func (c *NaivePool) Preempt(s *Sequence) {
	s.limit = max(s.limit, s.keyed)
	c.Release(s)
}

// Take implements Cache; it panics.
func (c *NaivePool) Take(int) { panic("kv: the block twin has no decode runs") }

// Adopt implements Cache; it panics.
func (c *NaivePool) Adopt(*Sequence, int32, int32) { panic("kv: the block twin has no decode runs") }

// Watch makes the pool call f as often as vLLM publishes a KV event: for each lot of
// blocks that are keyed together, and for each keyed block that is evicted, whether or
// not there are other copies.
func (c *NaivePool) Watch(f func(stored bool, blocks int)) { c.watch = f }

// Blocks returns the numbers of the blocks that s holds; valid until s changes.
func (c *NaivePool) Blocks(s *Sequence) []BlockID { return naive(s).blocks[:s.rest] }

// Checksum returns the CRC-32 of the free list, head to tail, as little-endian
// int32 block numbers: what the ledgers of vLLM's scheduler record.
func (c *NaivePool) Checksum() uint32 {
	buf := make([]byte, 0, 4*len(c.free))
	for _, b := range c.free {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(b))
	}
	return crc32.ChecksumIEEE(buf)
}

// Check implements Cache.
func (c *NaivePool) Check(holders []*Sequence) error {
	refs := make([]int, len(c.blocks))
	for _, s := range holders {
		for _, b := range naive(s).blocks[:s.rest] {
			refs[b]++
		}
	}
	for _, b := range slices.Concat(c.pinned...) {
		refs[b]++
	}
	for _, b := range c.free {
		if refs[b]--; refs[b] != -1 {
			return fmt.Errorf("kv: block %d is free and held, or twice on the free list", b)
		}
	}
	for b, n := range refs {
		if n == 0 || max(n, 0) != c.blocks[b].refs {
			return fmt.Errorf("kv: block %d has %d references and %d holders", b, c.blocks[b].refs, n)
		}
	}
	return nil
}

// Fold implements Cache.
func (c *NaivePool) Fold() uint64 {
	d := newFold()
	for _, b := range c.free {
		if x := &c.blocks[b]; x.keyed && x.named {
			d.add(x.key, 1)
		} else {
			d.add(0, 1)
		}
	}
	return d.sum()
}

// naiveSequence is what a NaivePool keeps of a sequence, all of whose blocks
// count as its rest.
type naiveSequence struct {
	blocks []BlockID     // held, or found by the last Lookup while none is held
	keys   []uint64      // of the leading blocks
	opened *TierSequence // with the same content; nil: nothing is keyed

	state workload.Chain
	span  int   // next token without a key: span index …
	used  int32 // … and tokens used of that span
}

// naive returns the part of s that is a NaivePool's.
func naive(s *Sequence) *naiveSequence {
	if s.naive == nil {
		s.naive = &naiveSequence{}
	}
	return s.naive
}

// open forgets the request before.
func (n *naiveSequence) open() { *n = naiveSequence{blocks: n.blocks[:0], keys: n.keys[:0]} }

// key returns the key of block i of c, computing those before it if needed.
func (n *naiveSequence) key(c *content, i int32) uint64 {
	if len(n.keys) == 0 {
		n.state = workload.NewChain(c.block, workload.RootKey)
	}
	for int32(len(n.keys)) <= i {
		at := int32(len(n.keys)) * c.block
		for left := c.block; left > 0; {
			p := n.piece(c, at, left)
			n.keys = n.state.Append(n.keys, p)
			at += p.Length
			left -= p.Length
		}
	}
	return n.keys[i]
}

// piece returns the run of at most length tokens of one content at token at, which is
// where the keys end.
func (n *naiveSequence) piece(c *content, at, length int32) workload.Piece {
	switch {
	case at < c.named:
		s := c.spans[n.span]
		p := workload.Piece{Content: s.Content, Offset: n.used, Length: min(length, s.Length-n.used)}
		if n.used += p.Length; n.used == s.Length {
			n.span, n.used = n.span+1, 0
		}
		return p
	case c.output != 0:
		return workload.Piece{Content: c.output, Offset: at - c.input, Length: length}
	}
	return workload.Piece{Content: workload.ContentID(c.id), Offset: at, Length: length, Private: true}
}
