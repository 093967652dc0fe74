package kv

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// Pool is the cache by extent. See the package comment; NaivePool is its twin.
type Pool struct {
	total   int
	size    int32 // tokens per block
	caching bool
	free    freeList
	keys    table
	entries entries

	// version counts the changes that can alter the result of a Lookup, so
	// that a request which waits at the head of the queue is not looked up
	// again while nothing changed.
	version uint64
	journal func(key uint64, stored bool)
}

// NewPool returns a cache of total free blocks of blockSize tokens. caching
// says whether there is a prefix cache.
func NewPool(total int, blockSize int32, caching bool) *Pool {
	return &Pool{total: total, size: blockSize, caching: caching, free: newFreeList(total), keys: newTable(), version: 1}
}

// Free implements Cache.
func (p *Pool) Free() int { return p.free.blocks }

// Total implements Cache.
func (p *Pool) Total() int { return p.total }

// Lookup implements Cache.
func (p *Pool) Lookup(s *Sequence, known int32) Hit {
	if s.lookupAt == p.version && s.lookupKnown == known {
		return s.lookupHit
	}
	s.blocks = s.blocks[:0]
	hit := Hit{}
	for i := int32(0); i < min((known-1)/p.size, s.limit); i++ {
		b := p.keys.get(s.content.key(i))
		if b == noBlock {
			break
		}
		s.blocks = append(s.blocks, b)
		if p.entries.at(b).refs == 0 {
			hit.OnFree++
		}
	}
	hit.Blocks = len(s.blocks)
	s.hits = int32(hit.Blocks)
	s.blocks = s.blocks[:0] // not held yet; Extend takes them up from blocks[:hits]
	s.lookupAt, s.lookupKnown, s.lookupHit = p.version, known, hit
	return hit
}

// Journal implements Cache.
func (p *Pool) Journal(f func(key uint64, stored bool)) { p.journal = f }

// Need implements Cache.
func (p *Pool) Need(s *Sequence, upto int32) int {
	need := ceilDiv(upto, p.size) - s.Held() - s.hits
	n := int(max(need, 0))
	if s.hits > 0 {
		n += s.lookupHit.OnFree
	}
	return n
}

// Extend implements Cache.
func (p *Pool) Extend(s *Sequence, upto, known int32) bool {
	if p.Need(s, upto) > p.free.blocks {
		return false
	}
	if s.hits > 0 {
		p.adoptHits(s)
	}
	if n := ceilDiv(upto, p.size) - s.Held(); n > 0 {
		p.Take(int(n))
		for ; n > 0 && s.Held() < s.limit; n-- {
			s.blocks = append(s.blocks, p.entries.take())
		}
		s.own += n
	}
	p.Key(s, min(upto, known))
	return true
}

// adoptHits makes s hold the blocks that its last Lookup found.
func (p *Pool) adoptHits(s *Sequence) {
	s.blocks = s.blocks[:s.hits]
	for _, b := range s.blocks {
		e := p.entries.at(b)
		if e.refs == 0 {
			p.free.leave(e.pos)
			p.version++
		}
		e.refs++
	}
	s.keyed, s.hits = s.hits, 0
}

// Take implements Cache.
func (p *Pool) Take(n int) {
	if n > p.free.blocks {
		panic(fmt.Sprintf("kv: %d blocks taken, %d are free", n, p.free.blocks))
	}
	f := &p.free
	f.blocks -= n
	for n > 0 {
		e := f.at(f.head)
		switch {
		case e.n == 0:
		case e.block != noBlock:
			n--
			p.forget(e.block)
		case int(e.n) > n:
			e.n -= int32(n)
			return
		default:
			n -= int(e.n)
		}
		f.head++
	}
}

// Adopt implements Cache.
func (p *Pool) Adopt(s *Sequence, upto, keyed int32) {
	s.own = ceilDiv(upto, p.size) - int32(len(s.blocks))
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
	for i := s.keyed; i < min(full, int32(len(s.blocks))); i++ {
		p.enter(s.blocks[i], s.content.key(i), (i+1)*p.size <= s.content.named || s.content.output != 0)
	}
	s.keyed = max(s.keyed, full)
}

// enter gives b its key, behind the copies that have it already.
func (p *Pool) enter(b BlockID, key uint64, named bool) {
	p.version++
	e := p.entries.at(b)
	e.key, e.isKeyed, e.named = key, true, named
	e.prev, e.next = b, noBlock
	if first := p.keys.get(key); first != noBlock {
		head := p.entries.at(first)
		last := head.prev
		p.entries.at(last).next = b
		e.prev, head.prev = last, b
		return
	}
	p.keys.set(key, b)
	if named && p.journal != nil {
		p.journal(key, true)
	}
}

// forget evicts b: its key is gone, its entry can be used again.
func (p *Pool) forget(b BlockID) {
	p.version++
	e := p.entries.at(b)
	first := p.keys.get(e.key)
	switch {
	case first != b: // in the middle or at the end of the copies
		p.entries.at(e.prev).next = e.next
		if e.next != noBlock {
			p.entries.at(e.next).prev = e.prev
		} else {
			p.entries.at(first).prev = e.prev
		}
	case e.next != noBlock: // the first of several
		p.entries.at(e.next).prev = e.prev
		p.keys.set(e.key, e.next)
	default:
		p.keys.remove(e.key)
		if e.named && p.journal != nil {
			p.journal(e.key, false)
		}
	}
	p.entries.drop(b)
}

// Release implements Cache.
func (p *Pool) Release(s *Sequence) {
	p.releaseOwn(s.own)
	s.own = 0
	for i := len(s.blocks) - 1; i >= 0; i-- {
		p.unref(s.blocks[i])
	}
	s.blocks, s.keyed, s.hits = s.blocks[:0], 0, 0
	s.lookupAt = 0
}

func (p *Pool) releaseOwn(n int32) {
	p.free.reserve(&p.entries)
	p.free.pushAnonymous(n)
}

// unref drops one holder of b; the last one sends it to the free list.
func (p *Pool) unref(b BlockID) {
	e := p.entries.at(b)
	if e.refs--; e.refs > 0 {
		return
	}
	if !e.isKeyed {
		p.releaseOwn(1)
		p.entries.drop(b)
		return
	}
	p.free.reserve(&p.entries)
	p.version++
	e.pos = p.free.pushNamed(b)
}

// Preempt implements Cache. The keyed blocks of own content become entries,
// so that the request can hit what is left of them when it comes back. Own
// content is held only past the limit, so the limit rises.
func (p *Pool) Preempt(s *Sequence) {
	if entries := int32(len(s.blocks)); s.keyed > entries {
		for i := entries; i < s.keyed; i++ {
			b := p.entries.take()
			s.blocks = append(s.blocks, b)
			p.enter(b, s.content.key(i), false)
			s.own--
		}
		s.limit = s.keyed
	}
	p.Release(s)
}

// Check implements Cache.
func (p *Pool) Check(holders []*Sequence) error {
	refs := make([]int32, p.entries.n)
	own, named, free := 0, 0, 0
	for _, s := range holders {
		own += int(s.own)
		for _, b := range s.blocks {
			refs[b]++
		}
	}
	for b, n := range refs {
		if p.entries.at(BlockID(b)).refs != n {
			return fmt.Errorf("kv: block entry %d has %d references and %d holders", b, p.entries.at(BlockID(b)).refs, n)
		}
		if n > 0 {
			named++
		}
	}
	for pos := p.free.head; pos < p.free.tail; pos++ {
		e := *p.free.at(pos)
		free += int(e.n)
		if e.n > 0 && e.block != noBlock && (refs[e.block] > 0 || p.entries.at(e.block).pos != pos) {
			return fmt.Errorf("kv: block entry %d has %d holders and lies at %d of the free list, filed at %d", e.block, refs[e.block], pos, p.entries.at(e.block).pos)
		}
	}
	if free != p.free.blocks || own+named+free != p.total {
		return fmt.Errorf("kv: %d own + %d named blocks held + %d free (%d counted) ≠ %d in all", own, named, p.free.blocks, free, p.total)
	}
	return nil
}

// Fold implements Cache.
func (p *Pool) Fold() uint64 {
	d := newRuns()
	for pos := p.free.head; pos < p.free.tail; pos++ {
		e := *p.free.at(pos)
		switch {
		case e.n == 0:
		case e.block != noBlock && p.entries.at(e.block).named:
			d.add(p.entries.at(e.block).key, 1)
		default:
			d.add(0, uint64(e.n))
		}
	}
	return d.sum()
}

// runs folds a free list as (key, length), neighbours without a key as one.
type runs struct {
	digest *xxhash.Digest
	blank  uint64
}

func newRuns() *runs { return &runs{digest: xxhash.New()} }

func (r *runs) add(key, n uint64) {
	if key == 0 {
		r.blank += n
		return
	}
	r.flush()
	r.write(key, n)
}

func (r *runs) flush() {
	if r.blank > 0 {
		r.write(0, r.blank)
		r.blank = 0
	}
}

func (r *runs) write(key, n uint64) {
	var buf [16]byte
	binary.LittleEndian.PutUint64(buf[:], key)
	binary.LittleEndian.PutUint64(buf[8:], n)
	r.digest.Write(buf[:])
}

func (r *runs) sum() uint64 {
	r.flush()
	return r.digest.Sum64()
}
