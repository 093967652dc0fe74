package kv

import (
	"fmt"

	"blis/workload"
)

// Pool is the cache that keeps runs of blocks; the package comment has a picture.
// NaivePool is its twin.
type Pool struct {
	total   int
	size    int32 // tokens per block
	caching bool

	tree
	free freeList
	pins slab[PinID, pin]

	// version counts the changes that can alter what a Lookup finds, so that a
	// request which waits at the head of the queue is not looked up again while
	// nothing changed.
	version uint64

	journal func(key uint64, stored bool)
	keys    blockKeys       // with a journal
	spans   []workload.Span // of the OpenTier at hand
}

// NewPool returns a cache of total free blocks of blockSize tokens. caching
// says whether there is a prefix cache.
func NewPool(total int, blockSize int32, caching bool) *Pool {
	p := &Pool{total: total, size: blockSize, caching: caching, version: 1}
	p.free = newFreeList(&p.runs, total)
	return p
}

// Free implements Cache.
func (p *Pool) Free() int { return p.free.blocks }

// Total implements Cache.
func (p *Pool) Total() int { return p.total }

// Lookup implements Cache.
func (p *Pool) Lookup(s *Sequence, known int32) Hit {
	if s.lookupAt != p.version || s.lookupKnown != known {
		s.runs, s.hits, s.onFree = s.runs[:0], 0, 0
		p.find(s, min((known-1)/p.size, s.limit))
		s.lookupAt, s.lookupKnown = p.version, known
	}
	return Hit{Blocks: int(s.hits), OnFree: int(s.onFree)}
}

// find makes the leading blocks of s that are cached its hits, at most most of
// them.
func (p *Pool) find(s *Sequence, most int32) {
	c := &s.content
	if nameable := c.nameable(); nameable > 0 {
		for j := 0; s.hits < min(most, nameable); j++ {
			if x := &c.extents[j]; x.First < x.End && !p.findIn(s, p.findSegment(c.chain, j), min(x.End, most)) {
				return
			}
		}
	}
	if s.hits < most {
		p.findIn(s, p.own.get(c.id), most)
	}
}

// findIn adds to the hits of s the blocks of segment g that follow them, up to
// block end. It reports whether all of them are cached.
func (p *Pool) findIn(s *Sequence, g segmentID, end int32) bool {
	if g == none {
		return false
	}
	for id := p.segments.at(g).first; id != none && s.hits < end; {
		v := p.intervals.at(id)
		if v.from > s.hits {
			return false
		}
		to := min(v.to, end)
		if s.runs = append(s.runs, v.oldest); p.runs.at(v.oldest).refs == 0 {
			s.onFree += to - s.hits
		}
		s.hits, id = to, v.next
	}
	return s.hits == end
}

// Need implements Cache.
func (p *Pool) Need(s *Sequence, upto int32) int {
	need := max(0, ceilDiv(upto, p.size)-s.Held()-s.hits)
	if s.hits > 0 {
		need += s.onFree
	}
	return int(need)
}

// Extend implements Cache.
func (p *Pool) Extend(s *Sequence, upto, known int32) bool {
	if p.Need(s, upto) > p.free.blocks {
		return false
	}
	if s.hits > 0 {
		p.holdHits(s)
	}
	if n := ceilDiv(upto, p.size) - s.Held(); n > 0 {
		p.Take(int(n))
		s.rest += n
	}
	p.Key(s, min(upto, known))
	return true
}

// holdHits makes s hold the blocks that its last Lookup found.
func (p *Pool) holdHits(s *Sequence) {
	for i, id := range s.runs {
		end := s.hits
		if i+1 < len(s.runs) { // where the interval of the next hit begins
			end = p.intervals.at(p.runs.at(s.runs[i+1]).interval).from
		}
		if v := p.runs.at(id).interval; p.intervals.at(v).to > end {
			p.split(v, end)
			id = p.runs.at(id).shallower
			s.runs[i] = id
		}
		r := p.runs.at(id)
		if r.refs == 0 {
			p.free.leave(id, p.length(r))
			p.version++
		}
		r.refs++
	}
	s.filed, s.keyed, s.hits = s.hits, s.hits, 0
}

// Take implements Cache.
func (p *Pool) Take(n int) {
	if n > p.free.blocks {
		panic(fmt.Sprintf("kv: %d blocks taken, %d are free", n, p.free.blocks))
	}
	for n > 0 {
		id := p.free.head
		r := p.runs.at(id)
		switch {
		case r.interval != none:
			n -= p.evict(id, n)
		case int(r.anonymous) > n:
			r.anonymous -= int32(n)
			p.free.blocks -= n
			return
		default:
			n -= int(r.anonymous)
			p.free.leave(id, r.anonymous)
			p.runs.drop(id)
		}
	}
}

// evict takes at most n blocks of run id, which lies at the head of the free
// list, the deepest first. It returns how many it took.
func (p *Pool) evict(id runID, n int) int {
	p.version++
	r := p.runs.at(id)
	v := p.intervals.at(r.interval)
	length := v.to - v.from
	only := v.oldest == v.newest
	if int32(n) < length && only {
		v.to -= int32(n)
		p.free.blocks -= n
		p.tell(v.segment, v.to, v.to+int32(n), false)
		return n
	}
	if int32(n) < length {
		p.split(r.interval, v.to-int32(n))
		length = int32(n)
	}
	p.free.leave(id, length)
	if only {
		p.tell(v.segment, v.from, v.to, false)
	}
	p.dropRun(id)
	return int(length)
}

// Adopt implements Cache.
func (p *Pool) Adopt(s *Sequence, upto, keyed int32) {
	s.rest = ceilDiv(upto, p.size) - s.filed
	if p.caching {
		s.keyed = max(s.keyed, keyed/p.size)
	}
}

// Key implements Cache.
func (p *Pool) Key(s *Sequence, upto int32) {
	if !p.caching {
		return
	}
	full := upto / p.size
	for end := min(full, s.limit); s.filed < end; {
		if c := &s.content; s.filed < c.nameable() {
			j := c.extent(s.filed)
			p.file(s, p.segmentOf(c.chain, j), min(end, c.extents[j].End))
		} else {
			p.file(s, p.segmentOfOwnBehind(c), end)
		}
	}
	s.keyed = max(s.keyed, full)
}

// file puts the held blocks of s from the first one not filed up to block end
// into segment g, behind the copies that are there.
func (p *Pool) file(s *Sequence, g segmentID, end int32) {
	p.version++
	s.rest -= end - s.filed
	last := intervalID(none) // of g, the one before the blocks
	if n := len(s.runs); s.filed > 0 {
		if v := p.runs.at(s.runs[n-1]).interval; p.intervals.at(v).segment == g {
			last = v
		}
	}
	next := p.segments.at(g).first
	if last != none {
		next = p.intervals.at(last).next
	}
	for s.filed < end && next != none {
		v := p.intervals.at(next)
		if v.from > s.filed {
			last = p.append(s, g, last, min(end, v.from))
			continue
		}
		if v.to > end {
			p.split(next, end)
			next = v.prev
			v = p.intervals.at(next)
		}
		s.runs = append(s.runs, p.addRun(next))
		last, s.filed, next = next, v.to, v.next
	}
	if s.filed < end {
		p.append(s, g, last, end)
	}
}

// append files blocks up to end, which segment g lacks, behind its interval last, none if they
// are the first, and returns the interval with them. If s alone holds last, as its only copy, and
// has no gap behind it, last grows.
func (p *Pool) append(s *Sequence, g segmentID, last intervalID, end int32) intervalID {
	p.tell(g, s.filed, end, true)
	if last != none {
		v := p.intervals.at(last)
		if v.oldest == v.newest && p.runs.at(v.oldest).refs == 1 {
			s.filed, v.to = end, end
			return last
		}
	}
	last = p.addInterval(g, last, s.filed, end)
	s.runs = append(s.runs, p.addRun(last))
	s.filed = end
	return last
}

// Release implements Cache.
func (p *Pool) Release(s *Sequence) {
	p.free.pushAnonymous(s.rest)
	for i := len(s.runs) - 1; i >= 0 && s.filed > 0; i-- {
		end := int32(0) // of the run before
		if i > 0 {
			end = p.intervals.at(p.runs.at(s.runs[i-1]).interval).to
		}
		p.unrefFrom(end, s.runs[i])
	}
	s.runs, s.filed, s.rest, s.keyed, s.hits = s.runs[:0], 0, 0, 0, 0
	s.lookupAt = 0
}

// unrefFrom drops one holder of run id and of what was split off its shallow end since, down
// to block from.
func (p *Pool) unrefFrom(from int32, id runID) {
	for {
		r := p.runs.at(id)
		first, next := p.intervals.at(r.interval).from, r.shallower
		if p.unref(id); first == from {
			return
		}
		id = next
	}
}

// unref drops one holder of run id; the last one sends it to the free list.
func (p *Pool) unref(id runID) {
	r := p.runs.at(id)
	if r.refs--; r.refs > 0 {
		return
	}
	p.version++
	n := p.length(r)
	if p.join(id) {
		p.free.blocks += int(n)
		return
	}
	p.free.push(id, n)
}

// join makes one run of the last on the free list and of id, which is about to
// follow it there, if their blocks follow each other and have no other copy. It
// reports whether it did.
func (p *Pool) join(id runID) bool {
	if p.free.tail == none {
		return false
	}
	r, last := p.runs.at(id), p.runs.at(p.free.tail)
	if last.interval == none {
		return false
	}
	v, deep := p.intervals.at(r.interval), p.intervals.at(last.interval)
	if v.next != last.interval || v.to != deep.from || v.oldest != v.newest || deep.oldest != deep.newest {
		return false
	}
	from := v.from
	p.dropRun(id)
	deep.from = from
	return true
}

// split cuts interval id before the block at. On the free list the shallow part
// of a run follows the deep one.
func (p *Pool) split(id intervalID, at int32) {
	p.version++
	p.tree.split(id, at)
	for deep := p.intervals.at(id).oldest; deep != none; {
		r := p.runs.at(deep)
		if r.refs == 0 {
			p.free.insert(deep, r.shallower)
		}
		deep = r.newer
	}
}

// Preempt implements Cache. The keyed blocks of own content are filed, so that
// the request can hit what is left of them when it comes back.
func (p *Pool) Preempt(s *Sequence) {
	if s.keyed > s.filed { // so that all blocks up to the limit are filed
		p.file(s, p.segmentOfOwnBehind(&s.content), s.keyed)
		s.limit = s.keyed
	}
	p.Release(s)
}
