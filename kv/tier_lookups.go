package kv

// lookupCounter counts the lookups of the entries looked up last, as vLLM's store_threshold
// does.
type lookupCounter struct {
	threshold      int // lookups before an entry is stored; below 2: nothing is counted
	most           int // entries
	numbers        map[entryName]lookupID
	counted        slab[lookupID, countedLookups]
	oldest, newest lookupID
}

type lookupID int32

// entryName is what an entry is, whether the tier has it or not.
type entryName struct {
	key   uint64 // of the extent; the number of the request if own
	own   bool
	entry int32
}

// countedLookups is the lookups of one entry.
type countedLookups struct {
	name         entryName
	lookups      int
	older, newer lookupID // by the last lookup
}

func newLookupCounter(c TierConfig) lookupCounter {
	return lookupCounter{threshold: c.Threshold, most: c.Tracked, numbers: map[entryName]lookupID{}, oldest: none, newest: none}
}

// of returns the number of lookups of an entry that are remembered.
func (c *lookupCounter) of(name entryName) int {
	if id, ok := c.numbers[name]; ok {
		return c.counted.at(id).lookups
	}
	return 0
}

// count counts a lookup of an entry.
func (c *lookupCounter) count(name entryName) {
	id, ok := c.numbers[name]
	switch {
	case ok:
		c.unlink(id)
	case len(c.numbers) < c.most:
		id = c.counted.add(countedLookups{name: name})
	default:
		id = c.oldest
		c.unlink(id)
		delete(c.numbers, c.counted.at(id).name)
		*c.counted.at(id) = countedLookups{name: name}
	}
	c.numbers[name] = id
	n := c.counted.at(id)
	n.lookups++
	if n.older, n.newer = c.newest, none; n.older == none {
		c.oldest = id
	} else {
		c.counted.at(n.older).newer = id
	}
	c.newest = id
}

func (c *lookupCounter) unlink(id lookupID) {
	n := c.counted.at(id)
	if n.older == none {
		c.oldest = n.newer
	} else {
		c.counted.at(n.older).newer = n.newer
	}
	if n.newer == none {
		c.newest = n.older
	} else {
		c.counted.at(n.newer).older = n.older
	}
}

// name returns the name of entry i of t.
func (t *TierSequence) name(i int32) entryName {
	if part, _ := t.part(i); part != ownPart {
		return entryName{key: t.content.extents[part].Key, entry: i}
	}
	return entryName{key: t.content.id, own: true, entry: i}
}

// countAll counts a lookup of each of the entries from … to−1 of s.
func (c *lookupCounter) countAll(s *TierSequence, from, to int32) {
	for i := from; i < to && c.threshold >= 2; i++ {
		c.count(s.name(i))
	}
}

// wanted returns the first of the entries from … to−1 of s that were looked up often enough
// to be stored, and those that follow it, as lo … hi−1; lo = hi: there are none.
func (c *lookupCounter) wanted(s *TierSequence, from, to int32) (lo, hi int32) {
	if c.threshold < 2 {
		return from, to
	}
	for lo = from; lo < to && c.of(s.name(lo)) < c.threshold; {
		lo++
	}
	for hi = lo; hi < to && c.of(s.name(hi)) >= c.threshold; {
		hi++
	}
	return lo, hi
}
