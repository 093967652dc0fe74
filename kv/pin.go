package kv

import (
	"math"
	"slices"

	"blis/workload"
)

// pin is blocks that are pinned: of run, and of what was split off its shallow end since,
// down to block from.
type pin struct {
	run  runID // none: the number is vacant
	from int32
}

// Oldest implements Cache.
func (p *Pool) Oldest(list []FreeBlocks, n int) []FreeBlocks {
	for id := p.free.head; id != none && n > 0; {
		r := p.runs.at(id)
		length := r.anonymous
		if r.interval != none {
			v := p.intervals.at(r.interval)
			length = v.to - v.from
			list = append(list, FreeBlocks{From: v.to - int32(min(int(length), n)), To: v.to, run: id})
		}
		n -= int(length)
		id = r.next
	}
	return list
}

// OpenTier implements Cache. The content is that of the segment and of its parents. The span
// of a named segment may go on for ever: its length is not in the key of its extent.
func (p *Pool) OpenTier(t *TierSequence, b FreeBlocks, priority float64) {
	s := p.segments.at(p.intervals.at(p.runs.at(b.run).interval).segment)
	id, end := s.key, s.start
	p.spans = p.spans[:0]
	if !s.own {
		p.spans = append(p.spans, workload.Span{Content: s.content, Length: math.MaxInt32 - s.start})
		id = 0
	}
	for g := s.parent; g != none; {
		s = p.segments.at(g)
		p.spans = append(p.spans, workload.Span{Content: s.content, Length: end - s.start})
		g, end = s.parent, s.start
	}
	slices.Reverse(p.spans)
	t.OpenContent(id, math.MaxInt32, p.spans, 0, p.size, priority)
}

// Pin implements Cache.
func (p *Pool) Pin(b FreeBlocks, from, to int32) PinID {
	id := b.run
	for p.intervals.at(p.runs.at(id).interval).from >= to {
		id = p.runs.at(id).shallower
	}
	if v := p.runs.at(id).interval; p.intervals.at(v).to > to {
		p.split(v, to)
		id = p.runs.at(id).shallower
	}
	for part := id; ; {
		r := p.runs.at(part)
		if r.refs != 0 {
			panic("kv: a block is pinned that is not free")
		}
		if p.intervals.at(r.interval).from < from {
			p.split(r.interval, from)
		}
		p.version++
		p.free.leave(part, p.length(r))
		r.refs = 1
		if p.intervals.at(r.interval).from == from {
			return p.pins.add(pin{id, from})
		}
		part = r.shallower
	}
}

// Unkey implements Cache.
func (p *Pool) Unkey(b FreeBlocks, from int32) {
	r := p.runs.at(b.run)
	if p.intervals.at(r.interval).from < from {
		p.split(r.interval, from)
	}
	p.version++
	v, before := p.intervals.at(r.interval), r.prev
	n := v.to - v.from
	if v.oldest == v.newest {
		p.tell(v.segment, v.from, v.to, false)
	}
	p.free.leave(b.run, n)
	p.dropRun(b.run)
	p.free.insertAnonymous(before, n)
}

// Unpin implements Cache.
func (p *Pool) Unpin(id PinID) {
	x := p.pins.at(id)
	p.unrefFrom(x.from, x.run)
	x.run = none
	p.pins.drop(id)
}
