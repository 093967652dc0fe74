package kv

import "fmt"

// Check implements Cache.
func (p *Pool) Check(holders []*Sequence) error {
	refs := make([]int32, p.runs.n)
	held := 0
	for _, s := range holders {
		held += int(s.rest)
		if err := p.checkSequence(s, refs); err != nil {
			return err
		}
	}
	free, anonymous, err := p.checkFreeList(refs)
	if err != nil {
		return err
	}
	named, err := p.checkSegments(refs)
	if err != nil {
		return err
	}
	if used := named - (free - anonymous); free != p.free.blocks || held+used+free != p.total {
		return fmt.Errorf("kv: %d blocks held as counts + %d as runs + %d free (%d counted) ≠ %d in all", held, used, free, p.free.blocks, p.total)
	}
	return nil
}

// checkSequence walks through the runs of s and counts it as their holder.
func (p *Pool) checkSequence(s *Sequence, refs []int32) error {
	end := int32(0)
	for i := 0; s.filed > 0 && i < len(s.runs); i++ {
		from := end
		end = p.intervals.at(p.runs.at(s.runs[i]).interval).to
		for id := s.runs[i]; ; id = p.runs.at(id).shallower {
			if id == none || p.runs.at(id).interval == none {
				return fmt.Errorf("kv: a sequence holds blocks from %d on, of which the shallowest are missing", from)
			}
			refs[id]++
			if start := p.intervals.at(p.runs.at(id).interval).from; start == from {
				break
			} else if start < from {
				return fmt.Errorf("kv: a sequence holds blocks from %d on by a run from %d on", from, start)
			}
		}
	}
	if end != s.filed && s.filed > 0 {
		return fmt.Errorf("kv: a sequence holds %d blocks as runs, and counts %d", end, s.filed)
	}
	return nil
}

// checkFreeList returns the number of blocks on the free list, and the number of
// anonymous ones among them.
func (p *Pool) checkFreeList(refs []int32) (blocks, anonymous int, err error) {
	prev := runID(none)
	for id := p.free.head; id != none; id = p.runs.at(id).next {
		r := p.runs.at(id)
		if r.prev != prev || r.refs != 0 || refs[id] != 0 {
			return 0, 0, fmt.Errorf("kv: run %d with %d holders lies on the free list behind run %d, filed behind %d", id, refs[id], prev, r.prev)
		}
		refs[id]--
		if prev = id; r.interval != none {
			blocks += int(p.length(r))
			continue
		}
		blocks += int(r.anonymous)
		anonymous += int(r.anonymous)
		if r.next != none && p.runs.at(r.next).interval == none {
			return 0, 0, fmt.Errorf("kv: two anonymous runs follow each other on the free list")
		}
	}
	if p.free.tail != prev {
		return 0, 0, fmt.Errorf("kv: the free list ends with run %d, filed %d", prev, p.free.tail)
	}
	return blocks, anonymous, nil
}

// checkSegments goes through all segments, their intervals and their copies, and
// returns the number of blocks of all runs. refs has the holders of each run, −1
// for those on the free list.
func (p *Pool) checkSegments(refs []int32) (blocks int, err error) {
	children := make([]int32, p.segments.n)
	intervals, runs := 0, 0
	segments := append(p.named.all(), p.own.all()...)
	for _, g := range segments {
		s := p.segments.at(g)
		if s.parent != none {
			children[s.parent]++
		}
		end := s.start / p.size
		if s.own && s.first != none {
			end = p.intervals.at(s.first).from
		}
		prev := intervalID(none)
		for id := s.first; id != none; id = p.intervals.at(id).next {
			v := p.intervals.at(id)
			if v.segment != g || v.prev != prev || v.from != end || v.to <= v.from {
				return 0, fmt.Errorf("kv: interval %d of segment %d (%d) is %d to %d behind interval %d (%d), which ends at %d", id, g, v.segment, v.from, v.to, prev, v.prev, end)
			}
			copies, err := p.checkCopies(id, refs)
			if err != nil {
				return 0, err
			}
			prev, end = id, v.to
			intervals++
			runs += copies
			blocks += copies * int(v.to-v.from)
		}
	}
	for _, g := range segments {
		if s := p.segments.at(g); s.children != children[g] || s.children == 0 && s.first == none {
			return 0, fmt.Errorf("kv: segment %d has %d children, counted %d, and starts with interval %d", g, children[g], s.children, s.first)
		}
	}
	for id := p.free.head; id != none; id = p.runs.at(id).next {
		if p.runs.at(id).interval == none {
			runs++
		}
	}
	if len(segments) != p.segments.inUse() || intervals != p.intervals.inUse() || runs != p.runs.inUse() {
		return 0, fmt.Errorf("kv: %d segments, %d intervals and %d runs, and %d, %d and %d in use", len(segments), intervals, runs, p.segments.inUse(), p.intervals.inUse(), p.runs.inUse())
	}
	return blocks, nil
}

// checkCopies goes through the copies of an interval and returns their number.
func (p *Pool) checkCopies(v intervalID, refs []int32) (n int, err error) {
	at := p.intervals.at(v)
	older := runID(none)
	for id := at.oldest; id != none; id = p.runs.at(id).newer {
		r := p.runs.at(id)
		if r.interval != v || r.older != older {
			return 0, fmt.Errorf("kv: run %d of interval %d (%d) comes after run %d (%d)", id, v, r.interval, older, r.older)
		}
		if refs[id] == 0 || max(refs[id], 0) != r.refs {
			return 0, fmt.Errorf("kv: run %d has %d references and %d holders", id, r.refs, refs[id])
		}
		older = id
		n++
	}
	if at.newest != older || n == 0 {
		return 0, fmt.Errorf("kv: interval %d has %d copies and ends with run %d, not %d", v, n, at.newest, older)
	}
	return n, nil
}
