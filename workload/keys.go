package workload

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Block keys. A prompt is a sequence of tokens, each the pair (content,
// offset). The key of block i of a sequence names its tokens 0 … (i+1)·B − 1,
// all of them: two sequences have equal keys at i exactly when they are equal
// up to there (but for collisions of 64 bits). Keys are compared within one
// block size only.
//
// A block is the shortest list of pieces, runs of one content with rising
// offsets, and
//
//	key := key of the block before, RootKey for the first
//	for each piece: key = xxhash(key, content, offset, length and tag)
//
// with fixed-width little-endian integers. A hash of one piece at a time needs no
// buffer. Two lists of blocks with different boundaries do not collide, since lengths
// are part of the hash.

// RootKey is the key before the first block.
const RootKey uint64 = 0

// Piece is a run of tokens (Content, Offset) … (Content, Offset+Length−1).
// Offset is at least 0, Offset + Length at most 2³¹−1.
type Piece struct {
	Content ContentID
	Offset  int32
	Length  int32
	// Private marks content that belongs to one request: Content is then the
	// request's number, from 0, and never equals named content.
	Private bool
}

// continues reports whether q begins with the token after the last of p.
func (p *Piece) continues(q *Piece) bool {
	return p.Content == q.Content && p.Private == q.Private && p.Offset+p.Length == q.Offset
}

// fold extends key by one piece.
func fold(key uint64, content ContentID, offset, length int32, private bool) uint64 {
	run := uint64(uint32(length))<<32 | uint64(uint32(offset))
	if private {
		run |= 1 << 63 // the sign bit of the length, which is free
	}
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], key)
	binary.LittleEndian.PutUint64(b[8:], uint64(content))
	binary.LittleEndian.PutUint64(b[16:], run)
	return xxhash.Sum64(b[:])
}

// BlockKey returns the key of one whole block after the block with key previous. The
// lengths of its pieces add up to the block size. The key depends on the tokens only,
// not on how they are divided into pieces. It allocates nothing.
func BlockKey(previous uint64, pieces ...Piece) uint64 {
	key, open := previous, Piece{}
	for i := range pieces {
		p := &pieces[i]
		if open.Length > 0 && open.continues(p) {
			open.Length += p.Length
			continue
		}
		if open.Length > 0 {
			key = fold(key, open.Content, open.Offset, open.Length, open.Private)
		}
		open = *p
	}
	return fold(key, open.Content, open.Offset, open.Length, open.Private)
}

// Chain yields the block keys of a sequence of tokens that grows: named prompt,
// private prompt, output. It is a small value; a copy is a fork of the sequence.
type Chain struct {
	key  uint64 // over all pieces before open
	open Piece  // the last piece of the block being filled; Length 0: none
	fill int32  // tokens of that block so far
	size int32
}

// NewChain returns the chain that continues after the whole block with key previous
// (RootKey: from the start). blockSize is in tokens, at least 1.
func NewChain(blockSize int32, previous uint64) Chain {
	if blockSize < 1 {
		panic("workload: block size below 1")
	}
	return Chain{key: previous, size: blockSize}
}

// Append adds the tokens of p to the sequence and the keys of the blocks that
// they fill to dst. A block only partly filled has no key yet.
func (c *Chain) Append(dst []uint64, p Piece) []uint64 {
	if c.fill == 0 { // whole blocks of one content: most of all blocks
		key := c.key
		for ; p.Length >= c.size; p.Length -= c.size {
			key = fold(key, p.Content, p.Offset, c.size, p.Private)
			dst = append(dst, key)
			p.Offset += c.size
		}
		c.key = key
	}
	for p.Length > 0 {
		n := min(p.Length, c.size-c.fill)
		c.add(p, n)
		if c.fill == c.size {
			c.close()
			c.fill = 0
			dst = append(dst, c.key)
		}
		p.Offset += n
		p.Length -= n
	}
	return dst
}

// add puts the first n tokens of p into the block being filled.
func (c *Chain) add(p Piece, n int32) {
	c.fill += n
	if c.open.Length > 0 && c.open.continues(&p) {
		c.open.Length += n
		return
	}
	c.close()
	c.open = p
	c.open.Length = n
}

// close folds the open piece into the key.
func (c *Chain) close() {
	if c.open.Length > 0 {
		c.key = fold(c.key, c.open.Content, c.open.Offset, c.open.Length, c.open.Private)
		c.open.Length = 0
	}
}

// AppendKeys appends to dst the keys of the blocks that spans, the beginning of a
// prompt, cover wholly, at most blocks of them. blockSize is in tokens, at least 1. It
// allocates only when dst is too small.
func AppendKeys(dst []uint64, spans []Span, blockSize int32, blocks int) []uint64 {
	chain := NewChain(blockSize, RootKey)
	left := int64(blocks) * int64(blockSize)
	for _, s := range spans {
		if left <= 0 {
			break
		}
		n := int32(min(int64(s.Length), left))
		dst = chain.Append(dst, Piece{Content: s.Content, Length: n})
		left -= int64(n)
	}
	return dst
}

// NamedContent returns the content with this name: equal names give equal content.
// Its top bit is set, so it never equals a small number or 0.
func NamedContent(name string) ContentID {
	return ContentID(xxhash.Sum64String(name) | 1<<63)
}
