package kv

import (
	"math"

	"blis/workload"
)

// Sequence is the cache's side of one request. The zero value is ready for
// Open; a Sequence may be opened again for another request, which reuses its
// memory.
type Sequence struct {
	content content

	// Held blocks 0 … filed−1 are the blocks of runs, in order: of a run and of
	// what was split off its shallow end since, down to the end of the run before
	// it. While filed = 0 these are the oldest copies that the last Lookup found.
	runs   []runID
	filed  int32 // leading blocks that lie in segments, where a Lookup finds them; ≤ limit
	rest   int32 // blocks held after those, kept as a count
	keyed  int32 // leading blocks whose tokens are all known; filed = min(keyed, limit)
	limit  int32 // blocks that a Lookup may find: of named content, and those keyed at the last preemption
	hits   int32 // leading blocks that the last Lookup found, until Extend
	onFree int32 // of them, those on the free list

	lookupKnown int32
	lookupAt    uint64 // version of the pool at the last Lookup

	naive *naiveSequence // of a NaivePool
}

// content is what the blocks of one request are filled with. Most requests have
// no named content: what only named content needs stands apart, so that
// sequences stay small.
type content struct {
	*chain // nil until a request has named content

	named int32 // tokens that spans cover
	input int32
	// output names the generated tokens when all of the prompt is named too;
	// otherwise they are own content like the rest of the prompt.
	output workload.ContentID
	id     uint64 // own content: unique per request
	block  int32  // tokens per block
}

// chain is the named content of a request.
type chain struct {
	spans []workload.Span
	// extents has one extent per span, also for a span without a whole block,
	// and one for the output. Empty without prefix caching.
	extents []workload.Extent
	output  workload.ContentID
	last    int // the extent asked for last

	// found has, by extent, the segment that was found or made last, of the one cache or tier
	// in which c is looked up; none: none was. It may be of another extent by now.
	found []segmentID
}

// open makes c the content of spans and then output.
func (c *chain) open(spans []workload.Span, input int32, output workload.ContentID, block int32, caching bool) {
	c.spans, c.extents, c.output, c.last, c.found = append(c.spans[:0], spans...), c.extents[:0], output, 0, c.found[:0]
	if !caching {
		return
	}
	names := workload.ExtentChain{}
	for _, s := range spans {
		c.extents = append(c.extents, names.Next(s.Content, s.Length, block))
	}
	if output != 0 {
		c.extents = append(c.extents, names.Next(output, math.MaxInt32-input, block))
	}
	c.forget()
}

// copyOf makes c the content of from, with blocks of the same length.
func (c *chain) copyOf(from *chain) {
	c.spans, c.extents = append(c.spans[:0], from.spans...), append(c.extents[:0], from.extents...)
	c.output, c.last = from.output, 0
	c.forget()
}

// forget forgets which segments were found.
func (c *chain) forget() {
	c.found = c.found[:0]
	for range c.extents {
		c.found = append(c.found, none)
	}
}

// content returns the content of extent j.
func (c *chain) content(j int) workload.ContentID {
	if j == len(c.spans) {
		return c.output
	}
	return c.spans[j].Content
}

// extent returns the number of the extent with block i, which there must be.
func (c *chain) extent(i int32) int {
	if i < c.extents[c.last].First {
		c.last = 0
	}
	for c.extents[c.last].End <= i {
		c.last++
	}
	return c.last
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
	if c.chain == nil && (len(spans) > 0 || c.output != 0) {
		c.chain = &chain{}
	}
	if c.chain != nil {
		c.open(spans, input, c.output, blockSize, caching)
	}
	if s.naive != nil {
		s.naive.open()
	}
	s.runs, s.filed, s.rest, s.keyed, s.hits = s.runs[:0], 0, 0, 0, 0
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

// Content returns what Open was given of named content; valid until the next Open.
func (s *Sequence) Content() (spans []workload.Span, output workload.ContentID) {
	if s.content.chain != nil {
		spans = s.content.spans
	}
	return spans, s.content.output
}

// ID returns the number of own content that Open was given.
func (s *Sequence) ID() uint64 { return s.content.id }

// Held returns the number of blocks that s holds.
func (s *Sequence) Held() int32 { return s.filed + s.rest }

// OwnOnly reports whether every block that s takes from token on is own
// content, so that it can be a member of a decode run.
func (s *Sequence) OwnOnly(token int32) bool {
	return s.limit <= token/s.content.block
}

// nameable returns the number of leading blocks of named content.
func (c *content) nameable() int32 {
	if c.output != 0 {
		return math.MaxInt32
	}
	return c.named / c.block
}
