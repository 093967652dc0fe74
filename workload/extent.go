package workload

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Extent is a run of whole blocks of one prompt whose last tokens lie in one
// span. It lets caches and indexes keep a prompt by its spans, not by its
// blocks:
//
//	tokens  |aaaaaaaaaaaaaaaaaaaa|bbb|cccccccccccccccc|   spans a, b, c
//	blocks  |0      |1      |2      |3      |4      |
//	extent   a: 0–1          b: none; c: 2–4
//
// Block 2 straddles three spans and belongs to c, which holds its last token.
//
// Key names the spans before this one, with their lengths, and the content of
// this one; block numbers count from the start of the prompt. So block i of two
// prompts is equal, token for token up to its end, exactly when both have it
// in extents with equal keys (but for collisions of 64 bits): a span always
// begins with token 0 of its content, so no two lists of spans stand for the
// same tokens. Keys are compared within one block size only, and are not the
// keys of blocks; see [AppendKeys].
//
// An extent ends where its span does, or the prompt. Two prompts may have the
// same extent with different ends.
type Extent struct {
	Key        uint64
	First, End int32 // blocks First … End−1, at least one
}

// ExtentChain yields the extents of a prompt span by span. The zero value is at the
// first token.
type ExtentChain struct {
	key    uint64 // of the spans so far, with their lengths
	tokens int64
}

// Next returns the extent of the next span, of length tokens of content, and moves to
// the end of this span. An extent without a block has First = End; its span is in the
// keys of later extents all the same. blockSize is in tokens, at least 1. It
// allocates nothing.
func (c *ExtentChain) Next(content ContentID, length, blockSize int32) Extent {
	x := Extent{Key: foldExtent(c.key, content, 0), First: int32(c.tokens / int64(blockSize))}
	c.tokens += int64(length)
	x.End = int32(c.tokens / int64(blockSize))
	c.key = foldExtent(c.key, content, length)
	return x
}

// foldExtent extends the key of a list of spans by one: with its length, or
// with 0 for a span whose end is open.
func foldExtent(key uint64, content ContentID, length int32) uint64 {
	var b [20]byte
	binary.LittleEndian.PutUint64(b[0:], key)
	binary.LittleEndian.PutUint64(b[8:], uint64(content))
	binary.LittleEndian.PutUint32(b[16:], uint32(length))
	return xxhash.Sum64(b[:])
}

// AppendExtents appends to dst the extents of a prompt that begins with spans,
// of its first blocks at most, those without a block left out. They cover the
// blocks whose keys AppendKeys would give, one after the other. It allocates
// only when dst is too small.
func AppendExtents(dst []Extent, spans []Span, blockSize int32, blocks int) []Extent {
	chain := ExtentChain{}
	for _, s := range spans {
		x := chain.Next(s.Content, s.Length, blockSize)
		if x.End = int32(min(int(x.End), blocks)); x.First < x.End {
			dst = append(dst, x)
		}
		if int(x.End) >= blocks {
			break
		}
	}
	return dst
}
