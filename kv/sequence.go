package kv

import (
	"math"

	"blis/workload"
)

// BlockID is the entry of a named block in its cache. It reaches no output.
type BlockID int32

// Sequence is the cache's side of one request. The zero value is ready for
// Open; a Sequence may be opened again for another request, which reuses its
// memory.
type Sequence struct {
	content content

	blocks []BlockID // leading blocks with an entry each
	own    int32     // blocks after those, of own content, kept as a count
	keyed  int32     // leading blocks that have a key
	hits   int32     // leading blocks found by the last Lookup, held in blocks[:hits] until Extend

	// Blocks below limit have entries: those that named content fills and
	// those that a preemption of this very request turned into entries.
	limit int32

	lookupAt    uint64 // version of the pool at the last Lookup
	lookupKnown int32
	lookupHit   Hit
}

// content answers for the key of each block of one request. Most requests have
// no named content and are never asked for a key: what is needed for keys
// stands apart, so that sequences stay small.
type content struct {
	*chain // nil until somebody may ask for a key

	named int32 // tokens that spans cover
	input int32
	// output names the generated tokens, when all of the prompt is named too;
	// otherwise they are own content like the rest of the prompt.
	output workload.ContentID
	id     uint64 // own content: unique per request
	block  int32  // tokens per block
}

// chain is the keys of a content, as far as they were asked for, and the place
// where the next one begins.
type chain struct {
	spans []workload.Span
	keys  []uint64 // of the leading blocks
	state workload.Chain
	span  int   // next token without a key: span index …
	used  int32 // … and tokens used of that span
}

// start begins a chain of keys anew.
func (c *content) start(spans []workload.Span) {
	if c.chain == nil {
		c.chain = &chain{}
	}
	c.spans, c.keys = append(c.spans[:0], spans...), c.keys[:0]
	c.state, c.span, c.used = workload.NewChain(c.block, workload.RootKey), 0, 0
}

// Open prepares s for a request with the given content. id is unique among
// the requests of the run. Spans are copied. blockSize is the number of
// tokens of a block; caching false means that nothing is ever keyed.
func (s *Sequence) Open(id uint64, input int32, spans []workload.Span, output workload.ContentID, blockSize int32, caching bool) {
	c := &s.content
	c.named = 0
	for _, sp := range spans {
		c.named += sp.Length
	}
	c.input, c.id, c.block = input, id, blockSize
	c.output = 0
	if c.named == input {
		c.output = output
	}
	if len(spans) > 0 || c.chain != nil {
		c.start(spans)
	}
	s.blocks, s.own, s.keyed, s.hits = s.blocks[:0], 0, 0, 0
	s.lookupAt = 0
	switch {
	case !caching:
		s.limit = 0
	case c.output != 0:
		s.limit = math.MaxInt32
	default:
		s.limit = c.named / blockSize
	}
}

// Content is what Open was given of named content; valid until the next Open.
func (s *Sequence) Content() (spans []workload.Span, output workload.ContentID) {
	if s.content.chain != nil {
		spans = s.content.spans
	}
	return spans, s.content.output
}

// Held is the number of blocks that s holds.
func (s *Sequence) Held() int32 { return int32(len(s.blocks)) + s.own }

// OwnOnly reports whether every block that s takes from token on is own
// content, so that it can be a member of a decode run.
func (s *Sequence) OwnOnly(token int32) bool {
	return s.limit <= token/s.content.block
}

// key returns the key of block i, computing those before it if needed.
func (c *content) key(i int32) uint64 {
	if c.chain == nil {
		c.start(nil)
	}
	for int32(len(c.keys)) <= i {
		at := int32(len(c.keys)) * c.block
		for left := c.block; left > 0; {
			p := c.piece(at, left)
			c.keys = c.state.Append(c.keys, p)
			at += p.Length
			left -= p.Length
		}
	}
	return c.keys[i]
}

// piece is the run of at most n tokens of one content at token at, which is
// where the cursor stands.
func (c *content) piece(at, n int32) workload.Piece {
	switch {
	case at < c.named:
		s := c.spans[c.span]
		p := workload.Piece{Content: s.Content, Offset: c.used, Length: min(n, s.Length-c.used)}
		if c.used += p.Length; c.used == s.Length {
			c.span, c.used = c.span+1, 0
		}
		return p
	case c.output != 0:
		return workload.Piece{Content: c.output, Offset: at - c.input, Length: n}
	}
	return workload.Piece{Content: workload.ContentID(c.id), Offset: at, Length: n, Private: true}
}
