package traces

import "blis/workload"

// chains finds the contents of sequences of token ids, so that two prompts have
// equal spans exactly as far as their ids are equal.
//
// The prompts form a tree: from its root, each goes along the edges that are
// there as far as its ids are the same, and branches off with the rest of its
// ids. That rest becomes a chain, a content of its own; nothing of what is
// there has to be split, as a later prompt takes the beginning of a chain and
// goes on with another. So a prompt is a list of beginnings of chains, which is
// what spans are.
//
// The output of a request must be one content from its first token (see
// workload.Request). It becomes the chain that begins where the prompt ends, if
// no token goes on from there in the same way. Else it takes the chain that
// does, if that one begins with all of the output. What remains are outputs
// that begin like another continuation of the same prompt and differ later, or
// that go on as a longer prompt did that came before: no content can say that.
// The first stay the request's own, the chain of the second no prompt enters.
// Their equality is lost, never invented.
//
// It needs the memory of the ids, which it borrows, and some bytes per branch.
type chains struct {
	ids   [][]uint32       // of each chain; chain 0 is the root, without any
	child map[branch]int32 // chains by where they branch off

	owner   []int32 // of each chain, the request that brought it, and has all of it
	others  []int32 // tokens of it that another request has at most
	entered []bool  // some prompt has tokens of it
}

// branch is where a chain leaves another: behind offset tokens, with token id.
type branch struct {
	chain, offset int32
	id            uint32
}

// place is the place after offset tokens of a chain.
type place struct{ chain, offset int32 }

func newChains() *chains {
	c := &chains{child: map[branch]int32{}}
	c.grow(-1, nil)
	return c
}

// grow adds a chain that a request brings.
func (c *chains) grow(request int32, ids []uint32) int32 {
	c.ids = append(c.ids, ids)
	c.owner = append(c.owner, request)
	c.others = append(c.others, 0)
	c.entered = append(c.entered, false)
	return int32(len(c.ids) - 1)
}

// take notes that a request has the first tokens of a chain.
func (c *chains) take(chain, request, tokens int32) {
	if c.owner[chain] != request {
		c.others[chain] = max(c.others[chain], tokens)
	}
}

// prompt returns the spans of a prompt and where it ends.
func (c *chains) prompt(request int32, ids []uint32) (spans []workload.Span, at place) {
	for {
		n := common(c.ids[at.chain][at.offset:], ids)
		at.offset += n
		ids = ids[n:]
		if at.offset > 0 {
			spans = append(spans, workload.Span{Content: workload.ContentID(at.chain), Length: at.offset})
			c.take(at.chain, request, at.offset)
			c.entered[at.chain] = true
		}
		if len(ids) == 0 {
			return spans, at
		}
		b := branch{at.chain, at.offset, ids[0]}
		chain, ok := c.child[b]
		if !ok {
			chain = c.grow(request, ids)
			c.child[b] = chain
		}
		at = place{chain: chain}
	}
}

// output returns the content of the output of a request whose prompt ends at
// at; 0 if it cannot be named.
func (c *chains) output(request int32, at place, ids []uint32) workload.ContentID {
	b := branch{at.chain, at.offset, ids[0]}
	chain, ok := c.child[b]
	switch {
	case !ok:
		chain = c.grow(request, ids)
		c.child[b] = chain
	case int(common(c.ids[chain], ids)) < len(ids):
		return 0
	}
	c.take(chain, request, int32(len(ids)))
	return workload.ContentID(chain)
}

// continued reports whether a prompt has tokens of an output.
func (c *chains) continued(output workload.ContentID) bool { return c.entered[output] }

// trim cuts off the end of a prompt what no other request has, prompt or
// output: it is the request's own, and costs less so. A prompt whose output is
// continued has no such end.
func (c *chains) trim(request int32, t *table) {
	r := &t.spans[request]
	if r.count == 0 {
		return
	}
	last := &t.pages[r.page][r.begin+r.count-1]
	if c.owner[last.Content] != request {
		return
	}
	if last.Length = c.others[last.Content]; last.Length == 0 {
		r.count--
	}
}

// common is the number of leading ids that a and b share.
func common(a, b []uint32) int32 {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int32(i)
		}
	}
	return int32(n)
}
