package survey

import "blis/workload"

// Reuse is how much of the prompts a prefix cache can find, in tokens.
//
// Named tokens are those that spans name: what other requests may share. Ideal
// ones are what a cache of infinite size finds when requests are served one
// after the other, in order of arrival: whole blocks that are the beginning of
// an earlier prompt, or of an earlier prompt with its output, where that is
// named too. The last token of a prompt is always computed, so a prompt of L
// tokens finds at most ⌊(L−1)/B⌋ blocks of B tokens. Runs find less where the
// cache is too small, where requests are apart on several instances, and where
// a prompt comes before an equal one has been computed.
type Reuse struct {
	BlockSize   int32    `json:"block_size_in_tokens"`
	Named       int64    `json:"named_tokens"`
	NamedShare  *float64 `json:"named_share"` // of the prompt tokens
	Ideal       int64    `json:"ideal_hit_tokens"`
	IdealShare  *float64 `json:"ideal_hit_share"` // of the prompt tokens
	HitRequests int64    `json:"hit_requests"`    // that find a block or more
}

// prefixes is all the beginnings of prompts so far, as a tree: the way from
// the root is a sequence of spans. What an earlier prompt and this one have in
// common is counted in tokens, so the tree serves any block size, and it needs
// an entry per span that was new, not per block. Nothing is hashed: contents
// are compared as they are.
type prefixes struct {
	ways    map[way]stretch
	shorter map[stop]node // ends of spans of ways that go further
	nodes   node          // numbers given; the root is 0
}

// node is a place where a span of some prompt ends.
type node uint32

// way is a content that begins behind a node.
type way struct {
	from    node
	content workload.ContentID
}

// stretch is how far a way was ever gone, and the node there.
type stretch struct {
	length int32
	end    node
}

// stop is a place on a way, not as far as it was ever gone.
type stop struct {
	way
	length int32
}

// take walks along a request, adds what is new of it, and returns how many of
// its leading prompt tokens an earlier request had too, in the prompt or in
// what it had computed of its output. Without spans nothing can be found, and
// nothing be found again.
func (p *prefixes) take(r *workload.Request) int32 {
	if len(r.Spans) == 0 {
		return 0
	}
	if p.ways == nil {
		p.ways, p.shorter = map[way]stretch{}, map[stop]node{}
	}
	at, common, named := node(0), int32(0), int32(0)
	for _, s := range r.Spans {
		var shared int32
		at, shared = p.step(at, s)
		common += shared // none any more behind a node that is new
		named += s.Length
	}
	// The last token of an output is never computed: the request ends with it.
	if named == r.Input && r.OutputContent != 0 && r.Output > 1 {
		p.step(at, workload.Span{Content: r.OutputContent, Length: r.Output - 1})
	}
	return common
}

// step goes from a node along a span to where it ends. shared is the
// number of its tokens that an earlier request has.
func (p *prefixes) step(from node, s workload.Span) (end node, shared int32) {
	w := way{from, s.Content}
	known, ok := p.ways[w]
	switch {
	case !ok:
		end = p.next()
		p.ways[w] = stretch{s.Length, end}
		return end, 0
	case s.Length == known.length:
		return known.end, s.Length
	case s.Length > known.length:
		end = p.next()
		p.shorter[stop{w, known.length}] = known.end
		p.ways[w] = stretch{s.Length, end}
		return end, known.length
	}
	end, ok = p.shorter[stop{w, s.Length}]
	if !ok {
		end = p.next()
		p.shorter[stop{w, s.Length}] = end
	}
	return end, s.Length
}

func (p *prefixes) next() node {
	p.nodes++
	if p.nodes == 0 {
		panic("survey: more than 2³² beginnings of prompts")
	}
	return p.nodes
}
