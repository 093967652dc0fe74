package kv

import "slices"

// origin returns a sequence with the content of s that outlives it.
func (n *naiveSequence) origin(s *Sequence) *TierSequence {
	if n.opened == nil {
		n.opened = &TierSequence{}
		n.opened.Open(s, s.content.block, 0)
	}
	return n.opened
}

// Oldest implements Cache.
func (c *NaivePool) Oldest(list []FreeBlocks, n int) []FreeBlocks {
	before := len(list)
	var last *TierSequence // of the block before
	for _, b := range c.free[:min(n, len(c.free))] {
		x := &c.blocks[b]
		switch k := len(list) - 1; {
		case !x.keyed:
			last = nil
			continue
		case k >= before && last == x.origin && list[k].From == x.index+1:
			list[k].From--
			list[k].blocks = append(list[k].blocks, b)
		default:
			list = append(list, FreeBlocks{From: x.index, To: x.index + 1, blocks: []BlockID{b}})
		}
		last = x.origin
	}
	return list
}

// OpenTier implements Cache.
func (c *NaivePool) OpenTier(t *TierSequence, b FreeBlocks, priority float64) {
	id, input, spans, output := c.blocks[b.blocks[0]].origin.Content()
	t.OpenContent(id, input, spans, output, c.size, priority)
}

// Pin implements Cache.
func (c *NaivePool) Pin(b FreeBlocks, from, to int32) PinID {
	pinned := b.blocks[b.To-to : b.To-from]
	for _, x := range pinned {
		if c.blocks[x].refs != 0 {
			panic("kv: a block is pinned that is not free")
		}
		i := slices.Index(c.free, x)
		c.free = slices.Delete(c.free, i, i+1)
		c.blocks[x].refs = 1
	}
	id := slices.IndexFunc(c.pinned, func(x []BlockID) bool { return x == nil })
	if id < 0 {
		id = len(c.pinned)
		c.pinned = append(c.pinned, nil)
	}
	c.pinned[id] = pinned
	return PinID(id)
}

// Unkey implements Cache.
func (c *NaivePool) Unkey(b FreeBlocks, from int32) {
	for _, x := range b.blocks[:b.To-from] {
		c.evict(x)
	}
}

// Unpin implements Cache.
func (c *NaivePool) Unpin(id PinID) {
	c.unref(slices.All(c.pinned[id]))
	c.pinned[id] = nil
}
